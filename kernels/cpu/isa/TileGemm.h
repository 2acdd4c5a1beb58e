//===- TileGemm.h - Small products of tiles in cache ------------*- C++ -*-===//
//
// C[r][lanes] (+)= sum over k of A(r, k) * B[k][lanes]: A is read one element
// at a time with any strides, B and C are rows of whole vectors. The sum runs
// over k in order with one fused multiply-add each, whatever the blocking.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_TILEGEMM_H
#define WEFT_KERNELS_CPU_ISA_TILEGEMM_H

#include "Simd.h"

namespace weft {
namespace WEFT_ISA {

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

template <int Rows, int Vecs>
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
        sums[r][v] = fma(left, right[v], sums[r][v]);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vecs; ++v)
      store(c + r * p.cRow + v * kLanes, sums[r][v]);
}

template <int Vecs>
static void multiplyColumns(const TileProduct &p, int64_t vec) {
  int64_t row = 0;
  for (; row + kBlockRows <= p.rows; row += kBlockRows)
    multiplyBlock<kBlockRows, Vecs>(p, row, vec);
  if (row + 4 <= p.rows) {
    multiplyBlock<4, Vecs>(p, row, vec);
    row += 4;
  }
  if (row + 2 <= p.rows) {
    multiplyBlock<2, Vecs>(p, row, vec);
    row += 2;
  }
  if (row < p.rows)
    multiplyBlock<1, Vecs>(p, row, vec);
}

WEFT_INLINE void multiplyTile(const TileProduct &p) {
  int64_t vec = 0;
  for (; vec + kBlockVecs <= p.vecs; vec += kBlockVecs)
    multiplyColumns<kBlockVecs>(p, vec);
  for (; vec < p.vecs; ++vec)
    multiplyColumns<1>(p, vec);
}

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_TILEGEMM_H
