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

#include "AttentionParts.h"
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

//===- Heads and dropout of low tiles -------------------------------------===//

// Helpers that both directions of AttentionLow.h share: copying a tile of a
// head to shared memory, and the dropout bits of the scores of a fragment.

/// Begins to copy rows [begin, begin + kRows) of a head, of which there are
/// `end`.
template <typename Type, int D, int kRows>
WEFT_DEVICE void beginHead(Low *to, const HeadsArgument &tensor, int batch,
                           int head, int begin, int end,
                           const AttentionArguments &a) {
  beginRows<D, kRows>(
      to, rowsOf<Type>(tensor, batch, head) + begin * tensor.strides.row,
      tensor.strides.row, end - begin, a);
}

/// The dropout bits of neighbouring fragments, four bits of a lane for each; a
/// set bit keeps the element. `row` and `column` are the position of the first
/// fragment: query and key, or the other way around.
template <int kFragments, bool kRowsAreKeys, typename Rules>
WEFT_DEVICE uint32_t keptOneByOne(const Rules &rules, int row, int column) {
  uint32_t bits = 0;
#pragma unroll 1
  for (int i = 0; i < 4 * kFragments; ++i) {
    int own = row + fragmentRow() + i % 4 / 2 * 8;
    int walk = column + i / 4 * 8 + fragmentColumn() + i % 2;
    bool keeps = kRowsAreKeys ? rules.keeps(walk, own) : rules.keeps(own, walk);
    bits |= keeps ? 1u << i : 0u;
  }
  return bits;
}

/// The same where four keys from a multiple of four on have the numbers of one
/// block: each is computed once in a warp. Rows are queries: a block's keys are
/// columns of two lanes, of which the even one has it for the upper rows.
template <int kFragments, typename Rules>
WEFT_DEVICE uint32_t keptByQueries(const Rules &rules, int query, int key) {
  constexpr uint32_t kPairs = 0x33333333u; // two bits of each fragment
  int odd = laneIndex() % 2;
  uint32_t own = rules.template keepBits<kFragments>(
      query + fragmentRow() + 8 * odd, key + laneIndex() % 4 / 2 * 4, 0, 8);
  uint32_t other = shuffleXor(own, 1);
  uint32_t upper = (odd ? other : own) >> (2 * odd) & kPairs;
  uint32_t lower = (odd ? own : other) >> (2 * odd) & kPairs;
  return upper | lower << 2;
}

/// Rows are keys: a block's keys are rows of four lanes. Lane 8 i + j has those
/// of row 4 i and column j.
template <int kFragments, typename Rules>
WEFT_DEVICE uint32_t keptByKeys(const Rules &rules, int key, int query) {
  constexpr uint32_t kBits = 0x11111111u; // a bit of each fragment
  int lane = laneIndex(), row = fragmentRow(), column = fragmentColumn();
  uint32_t own = rules.template keepBits<kFragments>(query + lane % 8,
                                                     key + lane / 8 * 4, 8, 0);
  uint32_t bits = 0;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    int from = (row / 4 + e / 2 * 2) * 8 + column + e % 2;
    bits |= (shuffleFrom(own, from) >> (row % 4) & kBits) << e;
  }
  return bits;
}

template <int kFragments, bool kRowsAreKeys, typename Rules>
WEFT_DEVICE uint32_t keptOfRow(const Rules &rules, int row, int column) {
  if (!rules.hasWholeBlocks())
    return keptOneByOne<kFragments, kRowsAreKeys>(rules, row, column);
  if constexpr (kRowsAreKeys)
    return keptByKeys<kFragments>(rules, row, column);
  else
    return keptByQueries<kFragments>(rules, row, column);
}

//===- Stored dropout bits of low tiles -----------------------------------===//

// Rows of queries: a lane's bits of 64 keys are its word of the stored tile, of
// 32 keys half of it.

template <int kFragments>
WEFT_DEVICE void storeBits(const StoredBits &bits, int query, int key,
                           uint32_t kept) {
  static_assert(kFragments == 8 || kFragments == 4, "tiles of 64 or 32 keys");
  if (!bits.has(query))
    return;
  uint32_t *word = bits.tile(query, key) + laneIndex();
  if constexpr (kFragments == 8)
    *word = kept;
  else
    reinterpret_cast<uint16_t *>(word)[key / 32 % 2] =
        static_cast<uint16_t>(kept);
}

template <int kFragments>
WEFT_DEVICE uint32_t loadBits(const StoredBits &bits, int query, int key) {
  const uint32_t *word = bits.tile(query, key) + laneIndex();
  if constexpr (kFragments == 8)
    return *word;
  else
    return reinterpret_cast<const uint16_t *>(word)[key / 32 % 2];
}

/// Rows of keys: the 16 keys of a warp are a byte of each word, of 16 queries.
/// The bytes are transposed where they are used, so that nothing waits for them
/// before.
template <int kFragments> struct KeyBits {
  uint32_t bytes[kFragments / 2];

  template <typename Rules>
  WEFT_MEMBER void load(const Rules &rules, int key, int query) {
    const auto *place = reinterpret_cast<const uint8_t *>(
                            rules.bits.tile(query, key) + laneIndex()) +
                        key / 16 % 4;
    const int step = rules.bits.rowWords() * 4;
#pragma unroll
    for (int m = 0; m < kFragments / 2; ++m)
      bytes[m] = rules.meets(query + 16 * m, key) ? place[m * step] : 0u;
  }

  /// Four bits for each fragment, in the order of keptOfRow. A byte belongs to
  /// two queries, eight apart, and four keys: bit 4 i + 2 j + k to the query
  /// 8 j behind the lane's row, and to the key 8 i + k behind its column. After
  /// the exchange lanes have other rows and columns: i counts rows of keys and
  /// j fragments of queries, and two lanes have the two queries of a fragment.
  WEFT_MEMBER uint32_t transpose() const {
    constexpr uint32_t kEven = 0x55555555u, kMiddle = 0x0c0c0c0cu;
    uint32_t own = 0;
#pragma unroll
    for (int m = 0; m < kFragments / 2; ++m)
      own |= bytes[m] << (8 * m);
    int odd = fragmentRow() % 2;
    int from = 4 * fragmentColumn() + fragmentRow() / 2;
    uint32_t left = shuffleFrom(own, from) >> odd & kEven;
    uint32_t right = shuffleFrom(own, from + 4) >> odd & kEven;
    uint32_t both = left | right << 1;
    return (both & ~(kMiddle | kMiddle << 2)) | (both & kMiddle) << 2 |
           (both >> 2 & kMiddle);
  }
};

WEFT_DEVICE uint32_t inOrder(uint32_t kept) { return kept; }
template <int kFragments>
WEFT_DEVICE uint32_t inOrder(const KeyBits<kFragments> &kept) {
  return kept.transpose();
}

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_LOWTILES_H
