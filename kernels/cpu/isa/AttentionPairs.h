//===- AttentionPairs.h - Attention by dot products of bf16 -----*- C++ -*-===//
//
// VDPBF16PS adds the products of two neighbouring bf16 to an f32. Operands of a
// tile's products are packed as words: two bf16 that are neighbours along the
// sum. Words live in arrays of floats, which they fill by half; nothing
// computes with them as floats. Probabilities, and dS times the scale, are
// rounded to bf16 for the products that read them; all sums are f32.
//
// The instruction takes subnormals as zero.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_ATTENTIONPAIRS_H
#define WEFT_KERNELS_CPU_ISA_ATTENTIONPAIRS_H

#include "AttentionTiles.h"

namespace weft {
namespace WEFT_ISA {

#if defined(__AVX512BF16__)

/// Whether a head's tiles are multiplied as pairs.
WEFT_INLINE bool usesPairs(const AttentionHead &h) {
  return h.dtype == WEFT_BF16 && h.width % 2 == 0;
}

/// A step of a product of words.
struct MultiplyPairs {
  WEFT_INLINE Vec add(Vec left, Vec right, Vec sum) {
    return (Vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)left, (__m512bh)right);
  }
};

/// Words (from[i], to[i]) of two vectors, rounded.
WEFT_INLINE Vec roundToWords(Vec low, Vec high) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11,
                                         26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21,
                                         5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  __m512bh halves = _mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
  return (Vec)_mm512_permutexvar_epi16(order, (__m512i)halves);
}

/// Rounds neighbouring vectors of a row to one vector of words.
WEFT_INLINE Vec roundNeighbours(Vec first, Vec second) {
  return (Vec)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
}

#else

WEFT_INLINE bool usesPairs(const AttentionHead &) { return false; }
struct MultiplyPairs : MultiplyAdd {};
WEFT_INLINE Vec roundToWords(Vec, Vec) { return {}; }
WEFT_INLINE Vec roundNeighbours(Vec, Vec) { return {}; }

#endif

/// Copies rows of `words` words, which need not be aligned.
WEFT_INLINE void copyWords(const void *from, int64_t fromRow, int64_t rows,
                           int64_t words, float *to) {
  for (int64_t r = 0; r < rows; ++r)
    __builtin_memcpy(to + r * words, elementAt(WEFT_BF16, from, r * fromRow),
                     words * sizeof(float));
}

/// Packs queries as columns of words along the head: to[d / 2][i], with 0 in
/// the lanes behind the last query. `scratch` holds the rows.
WEFT_INLINE void packQueryWords(const void *from, int64_t fromRow, int64_t rows,
                                int64_t width, float *scratch, float *to) {
  if (rows < kQueryTile)
    for (int64_t i = 0; i < width / 2 * kQueryTile; ++i)
      to[i] = 0.0f;
  copyWords(from, fromRow, rows, width / 2, scratch);
  transpose<Words>(scratch, width / 2, rows, width / 2, 1.0f, to, kQueryTile);
}

/// Packs pairs of rows: to[r / 2][d] = (from[r][d], from[r + 1][d]). A missing
/// last row, and columns from `width` to `toRow`, are 0.
WEFT_INLINE void packRowPairs(const void *from, int64_t fromRow, int64_t rows,
                              int64_t width, float *to, int64_t toRow) {
  const auto *low = static_cast<const uint16_t *>(from);
  for (int64_t r = 0; r < rows; r += 2, low += 2 * fromRow) {
    const uint16_t *high = r + 1 < rows ? low + fromRow : nullptr;
    float *row = to + r / 2 * toRow;
    for (int64_t d = 0; d < toRow; d += kLanes) {
      int64_t count = smaller(kLanes, width - d);
      bool isWhole = count == kLanes;
      LowVec first = isWhole ? loadLow(low + d) : loadLowPart(low + d, count);
      LowVec second = {};
      if (high)
        second = isWhole ? loadLow(high + d) : loadLowPart(high + d, count);
      Vec words = (Vec)(__builtin_convertvector(first, BitsVec) |
                        __builtin_convertvector(second, BitsVec) << 16);
      if (d + kLanes <= toRow)
        store(row + d, words);
      else
        storePart(row + d, toRow - d, words);
    }
  }
}

/// Number of words along a sum of `count`.
WEFT_INLINE int64_t countWords(int64_t count) { return (count + 1) / 2; }

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ATTENTIONPAIRS_H
