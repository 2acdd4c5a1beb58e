//===- PaddedRows.h - Padded copies of operands -----------------*- C++ -*-===//
//
// A product reads columns of an operand: of A if it is transposed, of B if it
// is not. If the row stride is a multiple of 512 bytes, a column maps to at
// most an eighth of the sets of a level 1 cache (ways of 4 KiB), and kernels
// that read the operand in place wait for memory. Such an operand is copied
// with another row stride, one range of K at a time. Plain arithmetic, the same
// on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_PADDEDROWS_H
#define WEFT_ABI_PADDEDROWS_H

#include "weft/Abi/CpuProducts.h"

#include <algorithm>

namespace weft {

/// Whether oneDNN's kernels for AVX and AVX2 read the operands of a
/// single-threaded product in place. They pack the operands of larger products.
inline bool isReadInPlace(int64_t m, int64_t n) {
  return 1.0 / double(m) + 1.0 / double(n) >= 0.0038; // as in oneDNN 2.6
}

/// The operands of a product (after mergeBatch()) that are copied in a program
/// with that many threads. With several threads, oneDNN reads blocks in place
/// for any size of the product.
struct PaddedRows {
  bool copiesA, copiesB;
  int64_t lda, ldb;  // of the operands as read, copied or not, in floats
  int64_t depth = 0; // rows of K copied together; 0: no copies

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

  /// Floats of the copies of A; the copies of B follow them.
  int64_t floatsOfA() const { return copiesA ? depth * lda : 0; }
  int64_t bytes() const { return floats * 4; }

private:
  static constexpr int64_t kAliasing = 128; // floats
  static constexpr int64_t kMostFloats = 1 << 20;
  /// The result is read again for each range of K.
  static constexpr int64_t kLeastDepth = 256, kMostDepth = 512;
  /// A copy costs time per element and saves time per use.
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
