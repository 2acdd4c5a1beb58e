//===- AttentionTiles.h - Tiles of both directions --------------*- C++ -*-===//
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

#include "weft/Abi/Philox.h"

namespace weft {
namespace WEFT_ISA {

//===- Small products of tiles in cache -----------------------------------===//

// C[r][lanes] (+)= sum over k of A(r, k) * B[k][lanes]: A is read one element
// at a time with any strides, B and C are rows of whole vectors. The sum runs
// over k in order with one Step each, whatever the blocking.

// Accumulators of a block fill the registers: 24 of 32, or 12 of 16.
constexpr int kBlockRows = 6;
constexpr int kBlockVecs = kLanes == 16 ? 4 : 2;

struct TileProduct {
  const float *a;
  int64_t aRow, aK; // distance of neighbours along r and along k
  const float *b;
  int64_t bRow;
  float *c;
  int64_t cRow;
  int64_t rows, depth, vecs;
  bool accumulate;
};

/// A step of a product of floats.
struct MultiplyAdd {
  WEFT_INLINE Vec add(Vec left, Vec right, Vec sum) {
    return fma(left, right, sum);
  }
};

template <typename Step, int Rows, int Vecs>
WEFT_INLINE void multiplyBlock(const TileProduct &p, int64_t row, int64_t vec) {
  Vec sums[Rows][Vecs];
  float *c = p.c + row * p.cRow + vec * kLanes;
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vecs; ++v)
      sums[r][v] = p.accumulate ? load(c + r * p.cRow + v * kLanes) : Vec{};
  const float *a = p.a + row * p.aRow;
  const float *b = p.b + vec * kLanes;
  for (int64_t k = 0; k < p.depth; ++k, a += p.aK, b += p.bRow) {
    Vec right[Vecs];
    for (int v = 0; v < Vecs; ++v)
      right[v] = load(b + v * kLanes);
    for (int r = 0; r < Rows; ++r) {
      Vec left = splat(a[r * p.aRow]);
      for (int v = 0; v < Vecs; ++v)
        sums[r][v] = Step::add(left, right[v], sums[r][v]);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vecs; ++v)
      store(c + r * p.cRow + v * kLanes, sums[r][v]);
}

template <typename Step, int Vecs>
static void multiplyColumns(const TileProduct &p, int64_t vec) {
  int64_t row = 0;
  for (; row + kBlockRows <= p.rows; row += kBlockRows)
    multiplyBlock<Step, kBlockRows, Vecs>(p, row, vec);
  if (row + 4 <= p.rows) {
    multiplyBlock<Step, 4, Vecs>(p, row, vec);
    row += 4;
  }
  if (row + 2 <= p.rows) {
    multiplyBlock<Step, 2, Vecs>(p, row, vec);
    row += 2;
  }
  if (row < p.rows)
    multiplyBlock<Step, 1, Vecs>(p, row, vec);
}

template <typename Step = MultiplyAdd>
WEFT_INLINE void multiplyTile(const TileProduct &p) {
  int64_t vec = 0;
  for (; vec + kBlockVecs <= p.vecs; vec += kBlockVecs)
    multiplyColumns<Step, kBlockVecs>(p, vec);
  for (; vec < p.vecs; ++vec)
    multiplyColumns<Step, 1>(p, vec);
}

constexpr int kQueryVecs = kQueryTile / kLanes;

/// A tile of queries beside a tile of keys.
struct Tile {
  int64_t queryBegin, rows, keyBegin, keyCount;
};

WEFT_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/// Calls body(sum, i) for i in [0, count) with four sums in turns and returns
/// their sum.
template <typename Body> WEFT_INLINE Vec sumInFour(int64_t count, Body body) {
  Vec sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; ++k)
      body(sums[k], i + k);
  for (int k = 0; i + k < count; ++k)
    body(sums[k], i + k);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Width of a row of whole vectors.
WEFT_INLINE int64_t padded(int64_t width) {
  return (width + kLanes - 1) / kLanes * kLanes;
}

/// Address of an element of f32, f16 or bf16.
WEFT_INLINE const void *elementAt(int dtype, const void *base, int64_t index) {
  return static_cast<const char *>(base) + index * (dtype == WEFT_F32 ? 4 : 2);
}
WEFT_INLINE void *elementAt(int dtype, void *base, int64_t index) {
  return static_cast<char *>(base) + index * (dtype == WEFT_F32 ? 4 : 2);
}

/// Copies rows of `width` elements as f32; lanes up to `toRow` become 0.
WEFT_INLINE void packRows(int dtype, const void *from, int64_t fromRow,
                          int64_t rows, int64_t width, float factor, float *to,
                          int64_t toRow) {
  const Vec scale = splat(factor);
  withElements(dtype, [&](auto elements) {
    for (int64_t r = 0; r < rows; ++r) {
      float *row = to + r * toRow;
      int64_t d = 0;
      for (; d + kLanes <= width; d += kLanes)
        store(row + d, elements.get(from, r * fromRow + d) * scale);
      if (int64_t rest = width - d; rest > 0)
        storePart(row + d, rest,
                  elements.getPart(from, r * fromRow + d, rest, 0.0f) * scale);
      for (d = width; d < toRow; ++d)
        row[d] = 0.0f;
    }
  });
}

/// Rounds rows of `width` floats.
WEFT_INLINE void unpackRows(int dtype, const float *from, int64_t fromRow,
                            int64_t rows, int64_t width, void *to,
                            int64_t toRow) {
  withElements(dtype, [&](auto elements) {
    for (int64_t r = 0; r < rows; ++r) {
      const float *row = from + r * fromRow;
      int64_t d = 0;
      for (; d + kLanes <= width; d += kLanes)
        elements.put(to, r * toRow + d, load(row + d));
      if (int64_t rest = width - d; rest > 0)
        elements.putPart(to, r * toRow + d, rest,
                         loadPart(row + d, rest, 0.0f));
    }
  });
}

/// Elements that a transpose multiplies by its factor.
struct ScaledFloats {
  WEFT_INLINE __m128 four(__m128 x, __m128 factors) {
    return _mm_mul_ps(x, factors);
  }
  WEFT_INLINE Vec vector(Vec x, Vec factors) { return x * factors; }
  WEFT_INLINE void one(const float *from, float factor, float *to) {
    *to = *from * factor;
  }
};

/// Four bytes that are no float: they stay as they are.
struct Words {
  WEFT_INLINE __m128 four(__m128 x, __m128) { return x; }
  WEFT_INLINE Vec vector(Vec x, Vec) { return x; }
  WEFT_INLINE void one(const float *from, float, float *to) {
    __builtin_memcpy(to, from, sizeof *to);
  }
};

struct Transpose {
  const float *from;
  int64_t fromRow;
  float factor;
  float *to;
  int64_t toRow;

  WEFT_INLINE const float *source(const Transpose &t, int64_t r, int64_t c) {
    return t.from + r * t.fromRow + c;
  }
  WEFT_INLINE float *target(const Transpose &t, int64_t r, int64_t c) {
    return t.to + c * t.toRow + r;
  }
};

/// Four rows, from column `c` on.
template <typename Elements>
WEFT_INLINE void transposeFour(const Transpose &t, int64_t r, int64_t c,
                               int64_t columns) {
  const __m128 factors = _mm_set1_ps(t.factor);
  for (; c + 4 <= columns; c += 4) {
    const float *f = Transpose::source(t, r, c);
    __m128 x0 = _mm_loadu_ps(f), x1 = _mm_loadu_ps(f + t.fromRow);
    __m128 x2 = _mm_loadu_ps(f + 2 * t.fromRow);
    __m128 x3 = _mm_loadu_ps(f + 3 * t.fromRow);
    _MM_TRANSPOSE4_PS(x0, x1, x2, x3);
    float *to = Transpose::target(t, r, c);
    _mm_storeu_ps(to, Elements::four(x0, factors));
    _mm_storeu_ps(to + t.toRow, Elements::four(x1, factors));
    _mm_storeu_ps(to + 2 * t.toRow, Elements::four(x2, factors));
    _mm_storeu_ps(to + 3 * t.toRow, Elements::four(x3, factors));
  }
  for (; c < columns; ++c)
    for (int64_t k = r; k < r + 4; ++k)
      Elements::one(Transpose::source(t, k, c), t.factor,
                    Transpose::target(t, k, c));
}

#if defined(__AVX512F__)
/// Sixteen rows and columns: neighbours are exchanged at distances of 1, 2, 4
/// and 8.
template <typename Elements>
WEFT_INLINE void transposeSixteen(const Transpose &t, int64_t r, int64_t c) {
  __m512 x[16], y[16];
  for (int i = 0; i < 16; ++i)
    x[i] = (__m512)load(Transpose::source(t, r + i, c));
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int k = 0; k < 2; ++k) {
      __m512d low = (__m512d)y[i + k], high = (__m512d)y[i + k + 2];
      x[i + 2 * k] = (__m512)_mm512_unpacklo_pd(low, high);
      x[i + 2 * k + 1] = (__m512)_mm512_unpackhi_pd(low, high);
    }
  for (int i = 0; i < 16; i += 8)
    for (int k = 0; k < 4; ++k) {
      y[i + k] = _mm512_shuffle_f32x4(x[i + k], x[i + k + 4], 0x88);
      y[i + k + 4] = _mm512_shuffle_f32x4(x[i + k], x[i + k + 4], 0xdd);
    }
  const Vec factors = splat(t.factor);
  for (int k = 0; k < 8; ++k) {
    Vec low = (Vec)_mm512_shuffle_f32x4(y[k], y[k + 8], 0x88);
    Vec high = (Vec)_mm512_shuffle_f32x4(y[k], y[k + 8], 0xdd);
    store(Transpose::target(t, r, c + k), Elements::vector(low, factors));
    store(Transpose::target(t, r, c + k + 8), Elements::vector(high, factors));
  }
}

/// Whole blocks of sixteen rows; returns the number of rows.
template <typename Elements>
WEFT_INLINE int64_t transposeSixteens(const Transpose &t, int64_t rows,
                                      int64_t columns) {
  int64_t r = 0;
  for (; r + 16 <= rows; r += 16) {
    int64_t c = 0;
    for (; c + 16 <= columns; c += 16)
      transposeSixteen<Elements>(t, r, c);
    for (int64_t k = r; c < columns && k < r + 16; k += 4)
      transposeFour<Elements>(t, k, c, columns);
  }
  return r;
}
#else
template <typename Elements>
WEFT_INLINE int64_t transposeSixteens(const Transpose &, int64_t, int64_t) {
  return 0;
}
#endif

/// to[c][r] = from[r][c] * factor.
template <typename Elements = ScaledFloats>
WEFT_INLINE void transpose(const float *from, int64_t fromRow, int64_t rows,
                           int64_t columns, float factor, float *to,
                           int64_t toRow) {
  const Transpose t = {from, fromRow, factor, to, toRow};
  int64_t r = transposeSixteens<Elements>(t, rows, columns);
  for (; r + 4 <= rows; r += 4)
    transposeFour<Elements>(t, r, 0, columns);
  for (; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      Elements::one(Transpose::source(t, r, c), factor,
                    Transpose::target(t, r, c));
}

/// Packs a tile of queries as columns; lanes past the last query are 0. The
/// scratch buffer before `to` has kQueryTile * width floats, for the widened
/// rows of 16-bit types.
WEFT_INLINE void packQueries(int dtype, const void *from, int64_t fromRow,
                             int64_t rows, int64_t width, float factor,
                             float *scratch, float *to) {
  if (rows < kQueryTile)
    for (int64_t i = 0; i < width * kQueryTile; ++i)
      to[i] = 0.0f;
  if (dtype == WEFT_F32) {
    transpose(static_cast<const float *>(from), fromRow, rows, width, factor,
              to, kQueryTile);
    return;
  }
  packRows(dtype, from, fromRow, rows, width, factor, scratch, width);
  transpose(scratch, width, rows, width, 1.0f, to, kQueryTile);
}

/// The reverse, for the rows that are queries.
WEFT_INLINE void unpackQueries(int dtype, const float *from, int64_t rows,
                               int64_t width, float factor, float *scratch,
                               void *to, int64_t toRow) {
  if (dtype == WEFT_F32) {
    transpose(from, kQueryTile, width, rows, factor, static_cast<float *>(to),
              toRow);
    return;
  }
  transpose(from, kQueryTile, width, rows, factor, scratch, width);
  unpackRows(dtype, scratch, width, rows, width, to, toRow);
}

/// keep[j][i]: the factor of probability (queryBegin + i, keyBegin + j), 0 or
/// keepScale. `rowsOfNumbers` is scratch of kQueryTile rows of kKeepRow.
void fillKeepFactors(const AttentionHead &h, int64_t queryBegin, int64_t rows,
                     int64_t keyBegin, int64_t keyCount, float *rowsOfNumbers,
                     float *keep);

void attentionForward(const AttentionHead &h, const AttentionOutput &o,
                      int64_t queryBegin, float *scratch);
void attentionBackward(const AttentionHead &h, const AttentionGradients &g,
                       bool firstOfGroup, float *scratch);
void attentionWriteKeys(int dtype, int64_t keys, int64_t width, void *dk,
                        int64_t dkRow, void *dv, int64_t dvRow,
                        const float *scratch);

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ATTENTIONTILES_H
