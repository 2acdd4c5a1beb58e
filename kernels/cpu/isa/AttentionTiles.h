//===- AttentionTiles.h - What both directions share ------------*- C++ -*-===//
//
// A tile's scores are kept transposed, one key per row and one query per lane
// (S^T = K Q^T), so that the softmax runs over rows without crossing lanes and
// neither keys nor values need a transpose.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_ATTENTIONTILES_H
#define WEFT_KERNELS_CPU_ISA_ATTENTIONTILES_H

#include "AttentionScratch.h"
#include "Loops.h"
#include "Simd.h"
#include "TileGemm.h"
#include "weft/Runtime/Philox.h"

namespace weft {
namespace WEFT_ISA {

constexpr int kQueryVecs = kQueryTile / kLanes;

WEFT_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/// Width of a row of whole vectors.
WEFT_INLINE int64_t padded(int64_t width) {
  return (width + kLanes - 1) / kLanes * kLanes;
}

/// Copies rows of `width` floats; lanes up to `toRow` become 0.
WEFT_INLINE void packRows(const float *from, int64_t fromRow, int64_t rows,
                          int64_t width, float factor, float *to,
                          int64_t toRow) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t d = 0; d < width; ++d)
      to[r * toRow + d] = from[r * fromRow + d] * factor;
    for (int64_t d = width; d < toRow; ++d)
      to[r * toRow + d] = 0.0f;
  }
}

/// to[c][r] = from[r][c] * factor.
WEFT_INLINE void transpose(const float *from, int64_t fromRow, int64_t rows,
                           int64_t columns, float factor, float *to,
                           int64_t toRow) {
  const __m128 scale = _mm_set1_ps(factor);
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      const float *f = from + r * fromRow + c;
      __m128 x0 = _mm_loadu_ps(f), x1 = _mm_loadu_ps(f + fromRow);
      __m128 x2 = _mm_loadu_ps(f + 2 * fromRow);
      __m128 x3 = _mm_loadu_ps(f + 3 * fromRow);
      _MM_TRANSPOSE4_PS(x0, x1, x2, x3);
      float *t = to + c * toRow + r;
      _mm_storeu_ps(t, _mm_mul_ps(x0, scale));
      _mm_storeu_ps(t + toRow, _mm_mul_ps(x1, scale));
      _mm_storeu_ps(t + 2 * toRow, _mm_mul_ps(x2, scale));
      _mm_storeu_ps(t + 3 * toRow, _mm_mul_ps(x3, scale));
    }
    for (; c < columns; ++c)
      for (int64_t k = r; k < r + 4; ++k)
        to[c * toRow + k] = from[k * fromRow + c] * factor;
  }
  for (; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      to[c * toRow + r] = from[r * fromRow + c] * factor;
}

/// A tile of queries as columns; lanes past the last query are 0.
WEFT_INLINE void packQueries(const float *from, int64_t fromRow, int64_t rows,
                             int64_t width, float factor, float *to) {
  if (rows < kQueryTile)
    for (int64_t i = 0; i < width * kQueryTile; ++i)
      to[i] = 0.0f;
  transpose(from, fromRow, rows, width, factor, to, kQueryTile);
}

/// Keys that any query of the tile may see.
WEFT_INLINE int64_t visibleKeys(const AttentionHead &h, int64_t queryBegin,
                                int64_t rows) {
  if (!h.causal)
    return h.keys;
  int64_t end = queryBegin + rows + h.keys - h.queries;
  return end < 0 ? 0 : smaller(end, h.keys);
}

/// Whether some query of the tile must not see some key of the tile.
WEFT_INLINE bool needsMask(const AttentionHead &h, int64_t queryBegin,
                           int64_t keyEnd) {
  return h.causal && keyEnd - 1 > queryBegin + h.keys - h.queries;
}

/// Last key that each query of a vector sees, as a distance from keyBegin.
WEFT_INLINE IntVec lastKeys(const AttentionHead &h, int64_t firstQuery,
                            int64_t keyBegin) {
  int32_t first =
      static_cast<int32_t>(firstQuery + h.keys - h.queries - keyBegin);
  IntVec last;
  for (int i = 0; i < kLanes; ++i)
    last[i] = first + i;
  return last;
}

/// keep[j][i]: the factor of probability (queryBegin + i, keyBegin + j), 0 or
/// keepScale. `rowsOfNumbers` is room for kQueryTile rows of kKeepRow.
void fillKeepFactors(const AttentionHead &h, int64_t queryBegin, int64_t rows,
                     int64_t keyBegin, int64_t keyCount, float *rowsOfNumbers,
                     float *keep);

void attentionForward(const AttentionHead &h, const AttentionOutput &o,
                      int64_t queryBegin, float *scratch);
void attentionBackward(const AttentionHead &h, const AttentionGradients &g,
                       bool firstOfGroup, float *scratch);
void attentionWriteKeys(int64_t keys, int64_t width, float *dk, int64_t dkRow,
                        float *dv, int64_t dvRow, const float *scratch);

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ATTENTIONTILES_H
