//===- WideTiles.h - Products of tiles of f32 in a block --------*- C++ -*-===//
//
// 128 threads in 8 by 16: a thread has rows y kOwn + [0, kOwn) of a tile's
// result, kOwn = rows / 8. Of a tile of scores it has the columns x + 16 j, so
// that 16 threads read 16 rows of the other factor without bank conflicts; of a
// tile as wide as a head the columns 4 x + 64 c + [0, 4).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_WIDETILES_H
#define WEFT_KERNELS_CUDA_WIDETILES_H

#include "AttentionParts.h"
#include "DeviceLanguage.h"
#include "KernelArguments.h"

namespace weft::cuda {

struct alignas(16) Float4 {
  float x[4];
};
WEFT_DEVICE Float4 loadFloat4(const float *from) {
  return *reinterpret_cast<const Float4 *>(from);
}
WEFT_DEVICE void storeFloat4(float *to, const Float4 &value) {
  *reinterpret_cast<Float4 *>(to) = value;
}

/// A thread's place in the block.
WEFT_DEVICE int tileX() { return static_cast<int>(threadIndex()) % 16; }
WEFT_DEVICE int tileY() { return static_cast<int>(threadIndex()) / 16; }

/// Loads rows of a head from global to shared memory. Elements outside of the
/// head become 0.
template <int D, int kRows>
WEFT_DEVICE void loadRows(float *to, const float *from, int64_t stride,
                          int rows, const AttentionArguments &a) {
  for (int i = static_cast<int>(threadIndex()); i < kRows * (D / 4);
       i += kAttentionThreads) {
    int row = i / (D / 4), column = i % (D / 4) * 4;
    Float4 value = {{0.0f, 0.0f, 0.0f, 0.0f}};
    const float *place = from + row * stride + column;
    if (row < rows && a.vectors) {
      if (column < a.headSize)
        value = loadFloat4(place);
    } else if (row < rows) {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (column + k < a.headSize)
          value.x[k] = place[k];
    }
    storeFloat4(to + row * (D + 4) + column, value);
  }
}

/// scores = a b^T for tiles of rows of D.
template <int D, int kOwn, int kColumns>
WEFT_DEVICE void multiplyRows(const float *a, const float *b,
                              float (&scores)[kOwn][kColumns / 16]) {
  a += tileY() * kOwn * (D + 4);
  b += tileX() * (D + 4);
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
#pragma unroll
    for (int j = 0; j < kColumns / 16; ++j)
      scores[i][j] = 0.0f;
#pragma unroll 2
  for (int d = 0; d < D; d += 4) {
    Float4 left[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
      left[i] = loadFloat4(a + i * (D + 4) + d);
#pragma unroll
    for (int j = 0; j < kColumns / 16; ++j) {
      Float4 right = loadFloat4(b + j * 16 * (D + 4) + d);
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int i = 0; i < kOwn; ++i)
          scores[i][j] =
              fusedMultiplyAdd(left[i].x[k], right.x[k], scores[i][j]);
    }
  }
}

/// Puts a thread's part of a tile of scores into shared memory.
template <int kOwn, int kColumns>
WEFT_DEVICE void storeScores(float *to,
                             const float (&scores)[kOwn][kColumns / 16]) {
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
#pragma unroll
    for (int j = 0; j < kColumns / 16; ++j)
      to[(tileY() * kOwn + i) * (kColumns + 4) + tileX() + 16 * j] =
          scores[i][j];
}

/// sums += p b for a tile of scores and one of rows of D.
template <int D, int kOwn, int kColumns>
WEFT_DEVICE void addProducts(const float *p, const float *b,
                             float (&sums)[kOwn][D / 16]) {
  p += tileY() * kOwn * (kColumns + 4);
  b += 4 * tileX();
#pragma unroll 1
  for (int j = 0; j < kColumns; j += 4) {
    Float4 left[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
      left[i] = loadFloat4(p + i * (kColumns + 4) + j);
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int c = 0; c < D / 64; ++c) {
        Float4 right = loadFloat4(b + (j + k) * (D + 4) + 64 * c);
#pragma unroll
        for (int i = 0; i < kOwn; ++i)
#pragma unroll
          for (int n = 0; n < 4; ++n)
            sums[i][4 * c + n] =
                fusedMultiplyAdd(left[i].x[k], right.x[n], sums[i][4 * c + n]);
      }
  }
}

template <int kOwn, int kSums>
WEFT_DEVICE void clearSums(float (&sums)[kOwn][kSums]) {
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
#pragma unroll
    for (int n = 0; n < kSums; ++n)
      sums[i][n] = 0.0f;
}

/// Writes the thread's rows, each times its factor; `rows` of the tile exist.
template <int D, int kOwn>
WEFT_DEVICE void
storeRows(float *to, int64_t stride, int rows, const AttentionArguments &a,
          const float (&sums)[kOwn][D / 16], const float (&factors)[kOwn]) {
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    int row = tileY() * kOwn + i;
    if (row >= rows)
      continue;
#pragma unroll
    for (int c = 0; c < D / 64; ++c) {
      int column = 64 * c + 4 * tileX();
      float *place = to + row * stride + column;
      Float4 value;
#pragma unroll
      for (int n = 0; n < 4; ++n)
        value.x[n] = sums[i][4 * c + n] * factors[i];
      if (a.vectors) {
        if (column < a.headSize)
          storeFloat4(place, value);
      } else {
#pragma unroll
        for (int n = 0; n < 4; ++n)
          if (column + n < a.headSize)
            place[n] = value.x[n];
      }
    }
  }
}

//===- Dropout of wide tiles ----------------------------------------------===//

// Which scores of a thread in AttentionWide.cu dropout keeps.

/// A bit for each score of a thread: of kOwn rows side by side, and of kWalk
/// columns, each 16 behind the last. Rows are queries and columns keys, or the
/// other way around.
template <int kOwn, int kWalk, bool kRowsAreKeys> struct KeptScores {
  static constexpr int kBlocks = kOwn * kWalk / 4;
  static_assert(kOwn % 4 == 0 && 4 % kWalk == 0 && kBlocks <= 8,
                "scores that are no whole blocks, or more than bits");
  uint32_t bits = ~0u;

  /// `row` and `column` are the position of the thread's first score.
  template <typename Rules>
  WEFT_MEMBER void find(const Rules &rules, int row, int column) {
    if constexpr (Rules::reads)
      bits = kRowsAreKeys ? readByKeys(rules, row, column)
                          : readByQueries(rules.bits, row, column);
    else if constexpr (Rules::drops)
      bits = !rules.hasWholeBlocks() ? drawOneByOne(rules, row, column)
             : kRowsAreKeys          ? drawByKeys(rules, row, column)
                                     : drawByQueries(rules, row, column);
  }
  WEFT_MEMBER bool keeps(int i, int j) const { return bits >> place(i, j) & 1; }

  /// Stores the bits of a warp, which has 16 queries from `query` on. Its lanes
  /// have two rows of 16 columns of threads; lane 4 g + t stores the word of
  /// rows g and g + 8, of which 8 threads have four bits or two each.
  WEFT_MEMBER void store(const StoredBits &stored, int query, int key) const {
    static_assert(kOwn == 8 && !kRowsAreKeys, "a warp has 16 queries");
    if (!stored.has(query))
      return;
    constexpr uint32_t kOfRow = (1u << kWalk) - 1;
    int g = laneIndex() / 4, t = laneIndex() % 4;
    uint32_t word = 0;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      int half = n / 4, fragment = n / 2 % 2, column = n % 2;
      int from = 16 * half + 8 * fragment + 2 * t + column;
      uint32_t row = shuffleFrom(bits, from) >> (g * kWalk) & kOfRow;
      // Column j to bit 8 j: no two terms meet.
      uint32_t spread = row * 0x00204081u & 0x01010101u;
      word |= spread << (4 * fragment + 2 * half + column);
    }
    uint32_t *place = stored.tile(query, key) + laneIndex();
    if constexpr (kWalk == 4)
      *place = word;
    else
      reinterpret_cast<uint16_t *>(place)[key / 32 % 2] =
          static_cast<uint16_t>(word);
  }

private:
  /// Of keys side by side, the four of a block follow each other.
  WEFT_MEMBER static int place(int i, int j) {
    return kRowsAreKeys ? (i / 4 * kWalk + j) * 4 + i % 4 : i * kWalk + j;
  }

  /// The thread's columns of a query are in one word, two in half of it.
  WEFT_MEMBER static uint32_t readByQueries(const StoredBits &stored, int row,
                                            int column) {
    uint32_t kept = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      int query = row + i;
      const uint32_t *word =
          stored.tile(query, column) + 4 * (query % 8) + column % 8 / 2;
      uint32_t bits =
          kWalk == 4
              ? *word
              : reinterpret_cast<const uint16_t *>(word)[column / 32 % 2];
      bits >>=
          4 * (column % (16 * kWalk) / 8) + 2 * (query % 16 / 8) + column % 2;
#pragma unroll
      for (int j = 0; j < kWalk; ++j)
        kept |= (bits >> (8 * j) & 1) << place(i, j);
    }
    return kept;
  }

  /// The thread's rows are in one byte of words, of which each has two.
  template <typename Rules>
  WEFT_MEMBER static uint32_t readByKeys(const Rules &rules, int row,
                                         int column) {
    uint32_t kept = 0;
#pragma unroll
    for (int j = 0; j < kWalk; ++j) {
      int query = column + 16 * j;
      if (!rules.meets(query / 16 * 16, row / 16 * 16))
        continue;
      const auto *bytes = reinterpret_cast<const uint8_t *>(
                              rules.bits.tile(query, row) + 4 * (query % 8)) +
                          row / 16 % 4;
#pragma unroll
      for (int i = 0; i < kOwn; i += 2) {
        uint32_t byte = bytes[4 * ((row + i) % 8 / 2)];
        kept |= (byte >> (4 * (row % 16 / 8) + 2 * (query % 16 / 8)) & 3)
                << place(i, j);
      }
    }
    return kept;
  }

  template <typename Rules>
  WEFT_MEMBER static uint32_t drawOneByOne(const Rules &rules, int row,
                                           int column) {
    uint32_t kept = 0;
#pragma unroll 1
    for (int n = 0; n < kOwn * kWalk; ++n) {
      int i = n / kWalk, own = row + i, walk = column + 16 * (n % kWalk);
      bool keeps =
          kRowsAreKeys ? rules.keeps(walk, own) : rules.keeps(own, walk);
      kept |= keeps ? 1u << place(i, n % kWalk) : 0u;
    }
    return kept;
  }

  /// A thread has whole blocks.
  template <typename Rules>
  WEFT_MEMBER static uint32_t drawByKeys(const Rules &rules, int row,
                                         int column) {
    uint32_t kept = 0;
#pragma unroll
    for (int b = 0; b < kOwn / 4; ++b)
      kept |= rules.template keepBits<kWalk>(column, row + 4 * b, 16, 0)
              << (4 * kWalk * b);
    return kept;
  }

  /// Four lanes share the keys of a Philox block: each lane computes one of
  /// four blocks for all of them.
  template <typename Rules>
  WEFT_MEMBER static uint32_t drawByQueries(const Rules &rules, int row,
                                            int column) {
    constexpr uint32_t kBits = 0x11111111u; // a bit of each block
    int mine = laneIndex() % 4;
    uint32_t own = rules.template keepBits<kBlocks>(
        row + mine / kWalk, column - mine + 16 * (mine % kWalk), 4 / kWalk, 0);
    uint32_t kept = 0;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      kept |= (shuffleFrom(own, laneIndex() - mine + e) >> mine & kBits) << e;
    return kept;
  }
};

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_WIDETILES_H
