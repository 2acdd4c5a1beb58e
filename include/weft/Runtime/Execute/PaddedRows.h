//===- PaddedRows.h - Operands of products, copied apart --------*- C++ -*-===//
//
// A product runs across the rows of an operand (A if it is transposed, B if it
// is not): it reads columns. Where rows lie a multiple of 512 bytes apart, a
// column falls into an eighth of the sets of a level 1 cache at most (ways of
// 4 KiB), and kernels that read the operand in place lose up to half of their
// speed. Such an operand is copied, a range of K at a time, with rows at least
// 64 bytes further apart. Plain arithmetic, the same on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_PADDEDROWS_H
#define WEFT_RUNTIME_EXECUTE_PADDEDROWS_H

#include "weft/Runtime/Execute/Products.h"

#include <algorithm>

namespace weft {

/// Which operands of a product (mergeBatch()) are copied.
struct PaddedRows {
  bool copiesA, copiesB;
  int64_t lda, ldb;  // of what the product reads, copied or not, in floats
  int64_t depth = 0; // rows of K that are copied together; 0: nothing is

  explicit PaddedRows(const WeftGemmRecord &s)
      : copiesA(s.transA && isWorthACopy(s, s.lda, s.n)),
        copiesB(!s.transB && isWorthACopy(s, s.ldb, s.m)),
        lda(copiesA ? padded(s.m) : s.lda), ldb(copiesB ? padded(s.n) : s.ldb) {
    if (floatsOfARow() > 0)
      depth = std::min(
          {kMostFloats / floatsOfARow() / kStep * kStep, kMostDepth, s.k});
  }

  /// Copies of A, and behind them those of B.
  int64_t floatsOfA() const { return copiesA ? depth * lda : 0; }
  int64_t bytes() const { return depth * floatsOfARow() * 4; }

private:
  static constexpr int64_t kAliasing = 128; // floats
  static constexpr int64_t kMostFloats = 1 << 20;
  static constexpr int64_t kMostDepth = 512, kStep = 64;
  /// Products of an element in which a copy pays (measured on AVX2: it takes as
  /// long as about 60, and a column that aliases costs a third or more).
  static constexpr int64_t kLeastUses = 256;

  static bool isWorthACopy(const WeftGemmRecord &s, int64_t ld, int64_t uses) {
    return s.batch == 1 && s.dtype == WEFT_F32 && s.dtypeC == WEFT_F32 &&
           s.k >= kStep && ld % kAliasing == 0 && uses >= kLeastUses;
  }
  static int64_t padded(int64_t row) { return (row + 15) / 16 * 16 + 16; }

  int64_t floatsOfARow() const {
    return (copiesA ? lda : 0) + (copiesB ? ldb : 0);
  }
};

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_PADDEDROWS_H
