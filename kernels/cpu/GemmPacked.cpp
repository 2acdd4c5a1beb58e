//===- GemmPacked.cpp - Products of pieces that are packed as f32 ---------===//
//
// For f16, for bf16 without fast instructions, and for whatever would need more
// memory than its workspace has. The result is cut into fixed blocks. For each,
// pieces of A and B are written as f32 to the worker's piece of the workspace,
// multiplied and added up there by oneDNN on one thread, and the block is
// rounded once. Nothing depends on the threads.
//
//===----------------------------------------------------------------------===//

#include "GemmPlan.h"

#include <algorithm>

namespace weft {
namespace {

GemmBlock getBlock(const PackedPlan &plan, int64_t unit) {
  const WeftGemmRecord &s = plan.shape;
  const PackedBlocks &blocks = plan.blocks;
  int64_t across = countPieces(s.n, blocks.columns);
  int64_t down = countPieces(s.m, blocks.rows);
  GemmBlock block;
  block.column = unit % across * blocks.columns;
  block.row = unit / across % down * blocks.rows;
  block.batch = unit / across / down;
  block.rows = std::min(blocks.rows, s.m - block.row);
  block.columns = std::min(blocks.columns, s.n - block.column);
  return block;
}

/// Rows of a stored matrix as f32.
struct Piece {
  const char *from; // the matrix of this batch
  int64_t dtype, ld, row, column, rows, columns;
};

void widenPiece(const Loops &loops, const Piece &p, float *to, int64_t toLd) {
  int64_t bytes = floatBytes(p.dtype);
  for (int64_t r = 0; r < p.rows; ++r)
    loops.widen(static_cast<int>(p.dtype), p.columns,
                p.from + ((p.row + r) * p.ld + p.column) * bytes,
                to + r * toLd);
}

/// A worker's piece of the workspace.
struct Scratch {
  float *a, *b, *c;
  char *product;
  Scratch(const PackedBlocks &blocks, char *base)
      : a(reinterpret_cast<float *>(base)), b(a + blocks.floatsA),
        c(b + blocks.floatsB),
        product(reinterpret_cast<char *>(c + blocks.floatsC)) {}
};

/// Computes the sum over K of one block into the worker's f32 buffer `c`.
void multiplyBlock(const Loops &loops, const PackedPlan &plan,
                   const GemmBlock &block, const GemmOperands &operands,
                   GemmState &state, int worker, const Scratch &scratch) {
  const WeftGemmRecord &s = plan.shape;
  int64_t bytes = floatBytes(s.dtype);
  const char *a = operands.a + block.batch * s.batchStrideA * bytes;
  const char *b = operands.b + block.batch * s.batchStrideB * bytes;
  for (int64_t k = 0; k < s.k; k += plan.blocks.depth) {
    int64_t depth = std::min(plan.blocks.depth, s.k - k);
    Piece left = {a, s.dtype, s.lda, block.row, k, block.rows, depth};
    if (s.transA)
      left = {a, s.dtype, s.lda, k, block.row, depth, block.rows};
    Piece right = {b, s.dtype, s.ldb, k, block.column, depth, block.columns};
    if (s.transB)
      right = {b, s.dtype, s.ldb, block.column, k, block.columns, depth};
    widenPiece(loops, left, scratch.a, plan.blocks.lda);
    widenPiece(loops, right, scratch.b, plan.blocks.ldb);
    const Product &product =
        plan.products.at({block.rows, block.columns, depth, k > 0});
    execute(product,
            {reinterpret_cast<char *>(scratch.a),
             reinterpret_cast<char *>(scratch.b),
             reinterpret_cast<char *>(scratch.c), nullptr},
            state, worker, scratch.product);
  }
}

/// The block sizes along a dimension of `size` that is cut every `piece`
/// elements: `piece` and the remainder.
std::vector<int64_t> listSizes(int64_t size, int64_t piece) {
  std::vector<int64_t> sizes = {std::min(size, piece)};
  if (size > piece && size % piece != 0)
    sizes.push_back(size % piece);
  return sizes;
}

} // namespace

void finishBlock(const Loops &loops, const WeftGemmRecord &s,
                 const GemmBlock &block, const GemmOperands &operands,
                 float *sums, int64_t ld) {
  float bias[kMostBlockColumns] = {}, old[kMostBlockColumns];
  if (s.hasBias)
    loops.widen(static_cast<int>(s.dtype), block.columns,
                operands.bias + block.column * floatBytes(s.dtype), bias);
  for (int64_t r = 0; r < block.rows; ++r) {
    float *row = sums + r * ld;
    char *to = operands.c + (block.batch * s.batchStrideC +
                             (block.row + r) * s.ldc + block.column) *
                                floatBytes(s.dtypeC);
    if (s.hasBias)
      loops.addRows(block.columns, bias, row);
    if (s.accumulate) {
      loops.widen(static_cast<int>(s.dtypeC), block.columns, to, old);
      loops.addRows(block.columns, old, row);
    }
    loops.narrow(static_cast<int>(s.dtypeC), block.columns, row, to);
  }
}

void PackedPlan::addProduct(int64_t rows, int64_t columns, int64_t depth,
                            int64_t adds, const dnnl::engine &engine) {
  WeftGemmRecord piece = shape;
  piece.batch = 1, piece.m = rows, piece.n = columns, piece.k = depth;
  piece.lda = blocks.lda, piece.ldb = blocks.ldb, piece.ldc = blocks.ldc;
  piece.batchStrideA = piece.batchStrideB = piece.batchStrideC = 0;
  piece.accumulate = adds, piece.hasBias = 0;
  piece.dtype = piece.dtypeC = WEFT_F32;
  Product product = makeProduct(piece, engine);
  productBytes = std::max<int64_t>(productBytes, product.scratch.get_size());
  products.emplace(std::array<int64_t, 4>{rows, columns, depth, adds},
                   std::move(product));
}

PackedPlan::PackedPlan(const WeftGemmRecord &s, const dnnl::engine &engine,
                       const PackedBlocks &blocks)
    : shape(s), blocks(blocks) {
  LibraryThreads scope(1);
  for (int64_t rows : listSizes(s.m, blocks.rows))
    for (int64_t columns : listSizes(s.n, blocks.columns))
      for (int64_t depth : listSizes(s.k, blocks.depth))
        for (int64_t adds = 0; adds <= (s.k > blocks.depth); ++adds)
          addProduct(rows, columns, depth, adds, engine);
}

void runPacked(WeftContext &context, GemmState &state, const PackedPlan &plan,
               const GemmOperands &operands, char *workers,
               int64_t workerBytes) {
  const Loops &loops = loopsOf(context);
  context.parallelFor(
      plan.countUnits(), 1,
      [&](RangePart part) {
        LibraryThreads scope(1);
        Scratch scratch(plan.blocks, workers + part.worker * workerBytes);
        for (int64_t unit = part.begin; unit < part.end; ++unit) {
          GemmBlock block = getBlock(plan, unit);
          multiplyBlock(loops, plan, block, operands, state, part.worker,
                        scratch);
          finishBlock(loops, plan.shape, block, operands, scratch.c,
                      plan.blocks.ldc);
        }
      },
      Schedule::Dynamic);
}

} // namespace weft
