//===- AttentionWords.h - Attention by products of bf16 ---------*- C++ -*-===//
//
// VDPBF16PS and the tiles of AMX add the products of two neighbouring bf16 to
// an f32. Operands of a tile's products are packed as words: two bf16 that are
// neighbours along the sum. Words live in arrays of floats; nothing computes
// with them as floats. Probabilities, and dS times the scale, are rounded to
// bf16 for the products that read them; all sums are f32.
//
// The instructions take subnormals as zero.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_ATTENTIONWORDS_H
#define WEFT_KERNELS_CPU_ISA_ATTENTIONWORDS_H

#include "AttentionAmx.h"
#include "AttentionTiles.h"

namespace weft {
namespace WEFT_ISA {

//===- Arithmetic ---------------------------------------------------------===//

#if defined(__AVX512BF16__)

/// Whether a head's tiles are multiplied as words. AMX multiplies sixteen
/// queries at a time, so a step of decoding stays in f32.
WEFT_INLINE bool usesWords(const AttentionHead &h) {
  return h.dtype == WEFT_BF16 && h.width % 2 == 0 &&
         (!kHasAmx || h.queries >= kLanes);
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

WEFT_INLINE bool isOne(Vec x) {
  return _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(1.0f), _CMP_NEQ_UQ) == 0;
}

/// 2^x by a polynomial of degree 5 on [-0.5, 0.5] (least largest relative
/// error, 1.1e-7). 2^0 is exactly 1; NaN stays NaN; 0 below -125, because
/// subnormals are slow.
WEFT_INLINE Vec powerOfTwo(Vec x) {
  const __m512 least = _mm512_set1_ps(-125.0f);
  __mmask16 isLarge = _mm512_cmp_ps_mask((__m512)x, least, _CMP_NLT_UQ);
  __m512 clamped = _mm512_max_ps(least, (__m512)x); // x if it is NaN
  __m512 n = _mm512_roundscale_ps(clamped, _MM_FROUND_TO_NEAREST_INT);
  Vec r = (Vec)_mm512_sub_ps(clamped, n), p = splat(1.326470869e-3f);
  p = fma(p, r, splat(9.671511129e-3f));
  p = fma(p, r, splat(5.550733954e-2f));
  p = fma(p, r, splat(2.402224243e-1f));
  p = fma(p, r, splat(6.931470037e-1f));
  p = fma(p, r, splat(1.0f));
  return (Vec)_mm512_maskz_scalef_ps(isLarge, (__m512)p, n);
}

#else

WEFT_INLINE bool usesWords(const AttentionHead &) { return false; }
struct MultiplyPairs : MultiplyAdd {};
WEFT_INLINE Vec roundToWords(Vec, Vec) { return {}; }
WEFT_INLINE Vec roundNeighbours(Vec, Vec) { return {}; }
WEFT_INLINE bool isOne(Vec) { return false; }
WEFT_INLINE Vec powerOfTwo(Vec) { return {}; }

#endif

constexpr float kLog2E = 1.44269504088896341f;
constexpr float kLn2 = 0.693147180559945309f;

/// A product of words; `depth` counts words.
WEFT_INLINE void multiplyWords(const TileProduct &p) {
  if (kHasAmx)
    multiplyAmx(p);
  else
    multiplyTile<MultiplyPairs>(p);
}

//===- Packing ------------------------------------------------------------===//

/// Number of words along a sum of `count`, zeros included.
WEFT_INLINE int64_t countWords(int64_t count) {
  constexpr int64_t step = 2 * kDepthStep;
  return (count + step - 1) / step * kDepthStep;
}

WEFT_INLINE void clearWords(float *words, int64_t count) {
  __builtin_memset(words, 0, static_cast<size_t>(count) * sizeof *words);
}

/// Rows as the left operand of a product along the head.
struct RowWords {
  const float *words;
  int64_t row; // in words
};

/// The rows where they are, if a product can read them there; else a copy in
/// `to`, of kKeyTile rows of countWords(width).
WEFT_INLINE RowWords takeRows(const void *from, int64_t fromRow, int64_t rows,
                              int64_t width, float *to) {
  const int64_t words = width / 2, toRow = countWords(width);
  if (fromRow % 2 == 0 && rows % kRowStep == 0 && words == toRow)
    return {static_cast<const float *>(from), fromRow / 2};
  for (int64_t r = 0; r < rows; ++r) {
    __builtin_memcpy(to + r * toRow, elementAt(WEFT_BF16, from, r * fromRow),
                     static_cast<size_t>(words) * sizeof *to);
    clearWords(to + r * toRow + words, toRow - words);
  }
  return {to, toRow};
}

/// Packs queries as columns of words along the head: to[d / 2][i], with 0 in
/// the lanes behind the last query. `scratch` holds the rows.
WEFT_INLINE void packQueryWords(const void *from, int64_t fromRow, int64_t rows,
                                int64_t width, float *scratch, float *to) {
  const int64_t words = countWords(width);
  if (rows < kQueryTile)
    clearWords(to, words * kQueryTile);
  RowWords source = takeRows(from, fromRow, rows, width, scratch);
  transpose<Words>(source.words, source.row, rows, words, 1.0f, to, kQueryTile);
}

/// Words (low[i], high[i]).
WEFT_INLINE Vec pairUp(LowVec low, LowVec high) {
  return (Vec)(__builtin_convertvector(low, BitsVec) |
               __builtin_convertvector(high, BitsVec) << 16);
}

/// The columns of a pair of rows behind the whole vectors, and 0 up to `toRow`.
WEFT_INLINE void packRestOfPair(const uint16_t *low, const uint16_t *high,
                                int64_t width, float *to, int64_t toRow) {
  for (int64_t d = width / kLanes * kLanes; d < toRow; d += kLanes) {
    int64_t count = width > d ? smaller(kLanes, width - d) : 0;
    Vec words = pairUp(loadLowPart(low + d, count),
                       high ? loadLowPart(high + d, count) : LowVec{});
    storePart(to + d, smaller(kLanes, toRow - d), words);
  }
}

/// Packs pairs of rows: to[r / 2][d] = (from[r][d], from[r + 1][d]). Missing
/// rows up to countWords(rows) pairs, and columns from `width` to `toRow`, are
/// 0.
WEFT_INLINE void packRowPairs(const void *from, int64_t fromRow, int64_t rows,
                              int64_t width, float *to, int64_t toRow) {
  const auto *low = static_cast<const uint16_t *>(from);
  const int64_t whole = width / kLanes * kLanes;
  int64_t r = 0;
  for (; r + 2 <= rows; r += 2, low += 2 * fromRow, to += toRow) {
    const uint16_t *high = low + fromRow;
    for (int64_t d = 0; d < whole; d += kLanes)
      store(to + d, pairUp(loadLow(low + d), loadLow(high + d)));
    packRestOfPair(low, high, width, to, toRow);
  }
  if (r < rows) {
    for (int64_t d = 0; d < whole; d += kLanes)
      store(to + d, pairUp(loadLow(low + d), LowVec{}));
    packRestOfPair(low, nullptr, width, to, toRow);
    to += toRow;
  }
  clearWords(to, (countWords(rows) - (rows + 1) / 2) * toRow);
}

/// Rows of keys or values as the left operand of a product along the keys: for
/// AMX columns of the head with the words of the keys, else pairs of rows.
struct KeyWords {
  const float *words;
  int64_t row, step; // from one column of the head, and pair, to the next
};

/// Words of a tile of keys.
WEFT_INLINE int64_t wordsOfTile(int64_t width) {
  return padded(width) * kKeyTile / 2;
}

/// Words that packKeyWords left in `words`.
WEFT_INLINE KeyWords keyWordsAt(const float *words, int64_t width) {
  if (kHasAmx)
    return {words, kKeyTile / 2, 1};
  return {words, 1, width};
}

/// `scratch` holds wordsOfTile(width).
WEFT_INLINE KeyWords packKeyWords(const void *from, int64_t fromRow,
                                  int64_t rows, int64_t width, float *scratch,
                                  float *to) {
  packRowPairs(from, fromRow, rows, width, kHasAmx ? scratch : to, width);
  if (kHasAmx)
    transpose<Words>(scratch, width, countWords(rows), width, 1.0f, to,
                     kKeyTile / 2);
  return keyWordsAt(to, width);
}

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ATTENTIONWORDS_H
