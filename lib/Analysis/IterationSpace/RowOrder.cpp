//===- RowOrder.cpp - The order in which a row is added up ----------------===//

#include "weft/Analysis/RowOrder.h"

using namespace llvm;

using namespace weft;

/// Chunks of a block: eight additions in a row to each of four partial sums.
static constexpr int64_t kBlockChunks = 32;

/// Chunks of the blocks that a long row is cut into: equal ones if some size
/// does that, since a loop of constant length is faster.
static int64_t chooseBlock(int64_t count) {
  for (int64_t size = kBlockChunks; size >= kBlockChunks / 2; --size)
    if (count % size == 0)
      return size;
  return kBlockChunks;
}

int64_t RowOrder::getBlockChunks() const {
  int64_t chunks = divideCeil(elements, kSumChunk);
  if (rows * chunks <= kBlockChunks)
    return 0;
  if (chunks <= kBlockChunks)
    return kBlockChunks / chunks * chunks;
  return chooseBlock(elements / kSumChunk);
}

bool RowOrder::allows(int64_t lanes) const {
  if (lanes == elements)
    return true;
  if (lanes % kSumChunk != 0)
    return false;
  const int64_t block = getBlockChunks(), chunks = elements / kSumChunk;
  if (block == 0)
    return true;
  // The blocks of a long row end with it.
  if (rows > 1 && chunks > kBlockChunks && chunks % block != 0)
    return false;
  const int64_t step = lanes / kSumChunk;
  return block % step == 0 || step % block == 0;
}

RowOrder RowOrder::get(const KernelShape &shape) {
  const int64_t lanes = shape.getLaneSize();
  const int64_t total = shape.getCount(DimRole::Inner) * lanes;
  int64_t elements = lanes;
  for (int64_t dim = int64_t(shape.getRank()) - 2;
       dim >= 0 && shape.getRole(dim) == DimRole::Inner; --dim)
    elements *= shape.getSizes()[dim];
  const RowOrder order = {total / elements, elements};
  return order.allows(lanes) ? order : RowOrder{total / lanes, lanes};
}
