//===- PaddedRows.h - Operands of products, copied apart --------*- C++ -*-===//
//
// A product runs across the rows of an operand (A if it is transposed, B if it
// is not): it reads columns. Where rows lie a multiple of 512 bytes apart, a
// column falls into an eighth of the sets of a level 1 cache at most (ways of
// 4 KiB), and kernels that read the operand in place wait for memory. Such an
// operand is copied, a range of K at a time, with rows at other distances.
// Plain arithmetic, the same on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_PADDEDROWS_H
#define WEFT_ABI_PADDEDROWS_H

#include "weft/Abi/CpuProducts.h"
#include "weft/Abi/OneDnnBlocks.h"

#include <algorithm>

namespace weft {

/// Whether oneDNN's kernels for AVX and AVX2 read the operands of a product of
/// one thread in place. They pack those of larger ones.
inline bool isReadInPlace(int64_t m, int64_t n) {
  return 1.0 / double(m) + 1.0 / double(n) >= 0.0038; // as in oneDNN 2.6
}

/// Which operands of a product (mergeBatch()) are copied in a program of so
/// many threads. Blocks that several share are read in place, whatever the size
/// of the product.
struct PaddedRows {
  bool copiesA, copiesB;
  int64_t lda, ldb;  // of what the product reads, copied or not, in floats
  int64_t depth = 0; // rows of K that are copied together; 0: nothing is

  PaddedRows(const WeftGemmRecord &s, int64_t threads)
      : copiesA(s.transA && isWorthACopy(s, s.lda, s.n)),
        copiesB(!s.transB && isWorthACopy(s, s.ldb, s.m)),
        lda(copiesA ? padded(s.m) : s.lda), ldb(copiesB ? padded(s.n) : s.ldb) {
    const int64_t row = (copiesA ? lda : 0) + (copiesB ? ldb : 0);
    if (row == 0 || (threads == 1 && !isReadInPlace(s.m, s.n)))
      return;
    depth = std::min(kMostFloats / row / kLeastDepth * kLeastDepth, s.k);
    depth = std::min(depth, kMostDepth);
    floats = depth * row;
  }

  /// Copies of A, and behind them those of B.
  int64_t floatsOfA() const { return copiesA ? depth * lda : 0; }
  int64_t bytes() const { return floats * 4; }

private:
  static constexpr int64_t kAliasing = 128; // floats
  static constexpr int64_t kMostFloats = 1 << 20;
  /// The result is read again for each range of K.
  static constexpr int64_t kLeastDepth = 256, kMostDepth = 512;
  /// A copy takes time for each element, what it saves grows with its uses.
  static constexpr int64_t kLeastUses = 256;
  /// A shorter column stays in the cache.
  static constexpr int64_t kLeastK = 64;

  static bool isWorthACopy(const WeftGemmRecord &s, int64_t ld, int64_t uses) {
    return s.batch == 1 && s.dtype == WEFT_F32 && s.k >= kLeastK &&
           ld % kAliasing == 0 && uses >= kLeastUses;
  }
  /// Whole cache lines, and not aliasing.
  static int64_t padded(int64_t row) {
    const int64_t lines = roundUp(row, 16);
    return lines % kAliasing == 0 ? lines + 16 : lines;
  }

  int64_t floats = 0;
};

} // namespace weft

#endif // WEFT_ABI_PADDEDROWS_H
