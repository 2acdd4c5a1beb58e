//===- LowTiles.h - Products of tiles of f16 or bf16 in a warp --*- C++ -*-===//
//
// Tensor cores: a warp multiplies 16 x 16 by 16 x 8 (mma.sync). It has rows of
// its own of a tile's result, in fragments of 16 x 8: lane 4 g + t has the
// elements (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1). Two
// fragments side by side, rounded, are a left factor of the next product as
// they are. Rows of shared memory are D + 8 elements apart.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_LOWTILES_H
#define WEFT_KERNELS_CUDA_LOWTILES_H

#include "DeviceLanguage.h"
#include "KernelArguments.h"

namespace weft::cuda {

using Low = uint16_t;

/// A lane's place in a fragment.
WEFT_DEVICE int fragmentRow() { return laneIndex() / 4; }
WEFT_DEVICE int fragmentColumn() { return laneIndex() % 4 * 2; }

/// Begins to copy rows of a head to shared memory. Elements outside of the head
/// become 0.
template <int D, int kRows>
WEFT_DEVICE void beginRows(Low *to, const Low *from, int64_t stride, int rows,
                           const AttentionArguments &a) {
  for (int i = static_cast<int>(threadIndex()); i < kRows * (D / 8);
       i += kAttentionThreads) {
    int row = i / (D / 8), column = i % (D / 8) * 8;
    Low *place = to + row * (D + 8) + column;
    const Low *source = from + row * stride + column;
    bool exists = row < rows && column < a.headSize;
    if (a.vectors) {
      beginCopy(place, exists ? source : from, !exists);
      continue;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k)
      place[k] = exists && column + k < a.headSize ? source[k] : Low(0);
  }
}

/// Where a lane reads a left factor of 16 rows and 16 columns.
template <int D> WEFT_DEVICE SharedPlace leftPlace(const Low *tile) {
  int lane = laneIndex();
  return SharedPlace(tile + lane % 16 * (D + 8) + lane / 16 * 8);
}

/// Left factors of all of a warp's rows, for a tile that stays.
template <int D, int kRowTiles> struct LeftFactors {
  uint32_t words[D / 16][kRowTiles][4];
  WEFT_MEMBER void load(const Low *tile) {
    SharedPlace from = leftPlace<D>(tile);
#pragma unroll
    for (int k = 0; k < D / 16; ++k)
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m)
        loadMatrices(words[k][m], from + (m * 16 * (D + 8) + 16 * k));
  }
};

/// Left factors that are loaded again for each product, to save registers.
template <int D, int kRowTiles> struct LeftRows {
  SharedPlace from{nullptr};
  WEFT_MEMBER void load(const Low *tile) { from = leftPlace<D>(tile); }
};

template <int D, int kRowTiles>
WEFT_DEVICE void takeLeft(const LeftFactors<D, kRowTiles> &factors, int k,
                          uint32_t (&to)[kRowTiles][4]) {
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      to[m][i] = factors.words[k][m][i];
}
template <int D, int kRowTiles>
WEFT_DEVICE void takeLeft(const LeftRows<D, kRowTiles> &factors, int k,
                          uint32_t (&to)[kRowTiles][4]) {
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m)
    loadMatrices(to[m], factors.from + (m * 16 * (D + 8) + 16 * k));
}

template <int kRowTiles, int kFragments>
WEFT_DEVICE void clearFragments(float (&x)[kRowTiles][kFragments][4]) {
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
    for (int n = 0; n < kFragments; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        x[m][n][e] = 0.0f;
}

/// scores = a b^T, where b has a row for each column of the scores.
template <typename Type, int D, int kRowTiles, int kFragments, typename Left>
WEFT_DEVICE void multiplyRows(const Left &a, const Low *b,
                              float (&scores)[kRowTiles][kFragments][4]) {
  clearFragments(scores);
  // More of wide heads at a time would take more registers than there are.
  constexpr int kStep = D == 64 || kRowTiles == 2 ? D / 16 : 2;
  int lane = laneIndex();
  SharedPlace from(b + (lane / 16 * 8 + lane % 8) * (D + 8) + lane / 8 % 2 * 8);
#pragma unroll kStep
  for (int k = 0; k < D / 16; ++k) {
    uint32_t left[kRowTiles][4];
    takeLeft(a, k, left);
#pragma unroll
    for (int n = 0; n < kFragments; n += 2) {
      uint32_t right[4];
      loadMatrices(right, from + (8 * n * (D + 8) + 16 * k));
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        Type::multiply(scores[m][n], left[m], right[0], right[1]);
        Type::multiply(scores[m][n + 1], left[m], right[2], right[3]);
      }
    }
  }
}

/// sums += p b, p rounded to the type, for as many columns of b as sums has.
template <typename Type, int D, int kRowTiles, int kFragments, int kSums>
WEFT_DEVICE void addProducts(const float (&p)[kRowTiles][kFragments][4],
                             const Low *b, float (&sums)[kRowTiles][kSums][4]) {
  int lane = laneIndex();
  SharedPlace from(b + lane % 16 * (D + 8) + lane / 16 * 8);
#pragma unroll
  for (int j = 0; j < kFragments; j += 2) {
    uint32_t left[kRowTiles][4];
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
      left[m][0] = Type::pack(p[m][j][0], p[m][j][1]);
      left[m][1] = Type::pack(p[m][j][2], p[m][j][3]);
      left[m][2] = Type::pack(p[m][j + 1][0], p[m][j + 1][1]);
      left[m][3] = Type::pack(p[m][j + 1][2], p[m][j + 1][3]);
    }
#pragma unroll
    for (int n = 0; n < kSums; n += 2) {
      uint32_t right[4];
      loadTransposed(right, from + (8 * j * (D + 8) + 8 * n));
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        Type::multiply(sums[m][n], left[m], right[0], right[1]);
        Type::multiply(sums[m][n + 1], left[m], right[2], right[3]);
      }
    }
  }
}

/// Writes a warp's rows, each times its factor, from column `begin` of the head
/// on; `rows` of them exist.
template <typename Type, int kRowTiles, int kSums>
WEFT_DEVICE void storeRows(Low *to, int64_t stride, int rows, int begin,
                           const AttentionArguments &a,
                           const float (&sums)[kRowTiles][kSums][4],
                           const float (&factors)[kRowTiles][2]) {
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int row = 16 * m + 8 * half + fragmentRow();
      if (row >= rows)
        continue;
#pragma unroll
      for (int n = 0; n < kSums; ++n) {
        int column = begin + 8 * n + fragmentColumn();
        Low *place = to + row * stride + column;
        float first = sums[m][n][2 * half] * factors[m][half];
        float second = sums[m][n][2 * half + 1] * factors[m][half];
        if (a.vectors) {
          if (column < a.headSize)
            *reinterpret_cast<uint32_t *>(place) = Type::pack(first, second);
          continue;
        }
        if (column < a.headSize)
          place[0] = Type::narrow(first);
        if (column + 1 < a.headSize)
          place[1] = Type::narrow(second);
      }
    }
}

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_LOWTILES_H
