//===- GemmRow.cpp - Products whose left operand has one row --------------===//
//
// A token that is sampled with a cache multiplies single rows: the time is that
// of reading B. oneDNN packs a low B as f32, and its calls for narrow blocks
// take as long as the blocks.
//
//===----------------------------------------------------------------------===//

#include "GemmPlan.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// Columns of the result that one thread computes at once: their sums stay in
/// the first-level cache.
constexpr int64_t kMostColumns = 1024;

/// The row of A of one batch as f32, kRunLength elements at a time.
class LeftRow {
public:
  LeftRow(const Loops &loops, const WeftGemmRecord &s, const char *from)
      : loops(loops), s(s), from(from) {}

  const float *read(int64_t k, int64_t count) {
    const int64_t bytes = floatBytes(s.dtype);
    const char *first = from + k * (s.transA ? s.lda : 1) * bytes;
    if (s.transA && s.lda > 1) {
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(gathered + i * bytes, first + i * s.lda * bytes, bytes);
      first = gathered;
    }
    loops.widen(static_cast<int>(s.dtype), count, first, wide);
    return wide;
  }

private:
  const Loops &loops;
  const WeftGemmRecord &s;
  const char *from;
  alignas(float) char gathered[kRunLength * sizeof(float)];
  float wide[kRunLength];
};

void finishRow(const Loops &loops, const WeftGemmRecord &s, GemmBlock block,
               const GemmOperands &operands, float *sums) {
  for (int64_t end = block.column + block.columns; block.column < end;
       block.column += kMostBlockColumns, sums += kMostBlockColumns) {
    block.columns = std::min(kMostBlockColumns, end - block.column);
    finishBlock(loops, s, block, operands, sums, block.columns);
  }
}

void computeRow(const Loops &loops, const WeftGemmRecord &s,
                const GemmBlock &block, const GemmOperands &operands) {
  const int64_t bytes = floatBytes(s.dtype);
  LeftRow left(loops, s, operands.a + block.batch * s.batchStrideA * bytes);
  const char *b = operands.b + block.batch * s.batchStrideB * bytes;
  float sums[kMostColumns] = {};
  forEachRun(0, s.k, [&](int64_t k, int64_t depth) {
    const RowProduct product = {static_cast<int>(s.dtype), left.read(k, depth),
                                b + k * (s.transB ? 1 : s.ldb) * bytes, s.ldb,
                                depth};
    (s.transB ? loops.addRowProducts : loops.addColumnProducts)(
        product, block.column, block.columns, sums);
  });
  finishRow(loops, s, block, operands, sums);
}

} // namespace

void runRow(WeftContext &context, const WeftGemmRecord &s,
            const GemmOperands &operands) {
  const Loops &loops = loopsOf(context);
  // As many pieces for each thread; their width changes no bits.
  const int64_t pieces =
      roundUp(countPieces(s.n, kMostColumns), context.threads());
  const int64_t width = roundUp(countPieces(s.n, pieces), kMostLanes);
  const int64_t across = countPieces(s.n, width);
  context.parallelFor(s.batch * across, 1, [&](RangePart part) {
    for (int64_t unit = part.begin; unit < part.end; ++unit) {
      const int64_t column = unit % across * width;
      computeRow(loops, s,
                 {unit / across, 0, column, 1, std::min(width, s.n - column)},
                 operands);
    }
  });
}

} // namespace weft
