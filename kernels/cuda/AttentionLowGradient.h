//===- AttentionLowGradient.h - Gradients of low heads ----------*- C++ -*-===//
//
// The backward half of AttentionLow.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_ATTENTIONLOWGRADIENT_H
#define WEFT_KERNELS_CUDA_ATTENTIONLOWGRADIENT_H

#include "LowTiles.h"

namespace weft::cuda {

/// The counterpart of WideGradient in AttentionWide.cu. A warp owns rows of a
/// left factor, either queries or keys; tiles of the other side are
/// double-buffered. The results are 8 * kSums columns of the head from column
/// `begin` on. With `kLean` the own rows are not kept in registers.
template <typename Type, int D, bool kByKeys, bool kLean = false>
struct LowGradient {
  using Tiles = LowBackward<D>;
  static constexpr int kRows = Tiles::kRows, kColumns = Tiles::kColumns;
  static constexpr int kFragments = kColumns / 8;
  static constexpr int kSums = (kByKeys ? Tiles::kKeyColumns : D) / 8;
  using Left =
      std::conditional_t<D == 64 && !kLean, LeftFactors<D, 1>, LeftRows<D, 1>>;
  Low *ownTile, *walkTiles;
  float *statistics;
  Left own, ownOther;
  float first[1][kSums][4], second[1][kByKeys ? kSums : 1][4];
  float lse[2], delta[2]; // of the lane's rows, unless rows are keys
  int begin;

  WEFT_MEMBER explicit LowGradient(int begin) : begin(begin) {
    ownTile = reinterpret_cast<Low *>(sharedMemory());
    walkTiles = ownTile + 2 * kRows * (D + 8);
    statistics = reinterpret_cast<float *>(walkTiles + 4 * kColumns * (D + 8));
    clearFragments(first);
    clearFragments(second);
  }

  WEFT_MEMBER Low *walk(int stage) {
    return walkTiles + stage * 2 * kColumns * (D + 8);
  }

  WEFT_MEMBER void beginOwn(const HeadsArgument &one,
                            const HeadsArgument &other, int batch, int head,
                            int row, int end, const AttentionArguments &a) {
    beginHead<Type, D, kRows>(ownTile, one, batch, head, row, end, a);
    beginHead<Type, D, kRows>(ownTile + kRows * (D + 8), other, batch, head,
                              row, end, a);
  }
  WEFT_MEMBER void beginWalk(int stage, const HeadsArgument &one,
                             const HeadsArgument &other, int batch, int head,
                             int row, int end, const AttentionArguments &a) {
    beginHead<Type, D, kColumns>(walk(stage), one, batch, head, row, end, a);
    beginHead<Type, D, kColumns>(walk(stage) + kColumns * (D + 8), other, batch,
                                 head, row, end, a);
  }

  /// When the tiles of the block have arrived.
  WEFT_MEMBER void takeOwn() {
    const Low *rows = ownTile + warpIndex() * 16 * (D + 8);
    own.load(rows);
    ownOther.load(rows + kRows * (D + 8));
  }

  /// Of the lane's rows, queries from the warp's first on; row `row` of all is
  /// the head's first.
  WEFT_MEMBER void takeRowStatistics(const AttentionArguments &a, int64_t row,
                                     int query) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int i = query + 8 * half + fragmentRow();
      lse[half] = lseOrInfinity(a.lse + row, i, a.queries) * kLog2E;
      delta[half] = i < a.queries ? a.delta[row + i] : 0.0f;
    }
  }
  /// Of the columns of a stage's tile.
  WEFT_MEMBER void takeColumnStatistics(int stage, const AttentionArguments &a,
                                        int64_t row, int query) {
    int i = static_cast<int>(threadIndex());
    if (i >= kColumns)
      return;
    float *to = statistics + stage * 2 * kColumns;
    to[i] = lseOrInfinity(a.lse + row, query + i, a.queries) * kLog2E;
    to[kColumns + i] = query + i < a.queries ? a.delta[row + query + i] : 0.0f;
  }

  /// Which scores of a tile are kept. The numbers are drawn while the tile
  /// arrives, before there are products that take registers. Stored bits arrive
  /// during the products.
  template <typename Rules>
  WEFT_MEMBER static auto findKept(const Rules &rules, int row, int column) {
    if constexpr (Rules::reads && kByKeys) {
      KeyBits<kFragments> kept;
      kept.load(rules, row, column);
      return kept;
    } else if constexpr (Rules::reads) {
      return loadBits<kFragments>(rules.bits, row, column);
    } else if constexpr (Rules::drops) {
      return keptOfRow<kFragments, kByKeys>(rules, row, column);
    } else {
      return ~0u;
    }
  }

  /// One tile of the other side; `row` is the warp's first.
  template <typename Rules, typename Kept>
  WEFT_MEMBER void addTile(int stage, const Rules &rules, const Kept &found,
                           float scale, int row, int column) {
    const Low *tile = walk(stage), *other = tile + kColumns * (D + 8);
    float scores[1][kFragments][4], products[1][kFragments][4];
    multiplyRows<Type, D>(own, tile, scores);
    multiplyRows<Type, D>(ownOther, other, products);
    const float *numbers = statistics + stage * 2 * kColumns;
    const uint32_t kept = inOrder(found);
#pragma unroll
    for (int n = 0; n < kFragments; ++n)
      findGradients(numbers, rules, scale, n, kept >> (4 * n), scores[0][n],
                    products[0][n]);
    if (kByKeys ? rules.needsMask(column, row + 16)
                : rules.needsMask(row, column + kColumns))
      mask(rules, row, column, scores[0], products[0]);
    if constexpr (kByKeys)
      addProducts<Type, D>(scores, other + begin, second);
    addProducts<Type, D>(products, tile + begin, first);
  }

  /// From S to P without its dropped elements, from dout V^T to dS.
  template <typename Rules>
  WEFT_MEMBER void findGradients(const float *numbers, const Rules &rules,
                                 float scale, int n, uint32_t kept,
                                 float (&scores)[4], float (&products)[4]) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      int at = 8 * n + fragmentColumn() + e % 2;
      float shift = kByKeys ? numbers[at] : lse[e / 2];
      float minus = kByKeys ? numbers[kColumns + at] : delta[e / 2];
      // Rounded between, as forward: the largest score is in lse as it was, but
      // for lse's own roundings.
      CappedScore capped = rules.cap(scores[e] * scale, kLog2E);
      float x = powerOfTwo(capped.score - shift);
      if constexpr (Rules::drops) {
        bool keeps = kept >> e & 1;
        float dp = keeps ? products[e] : 0.0f;
        products[e] = rules.timesSlope(
            x * fusedMultiplyAdd(dp, rules.keepScale, -minus), capped);
        scores[e] = keeps ? x : 0.0f;
      } else {
        products[e] = rules.timesSlope(x * (products[e] - minus), capped);
        scores[e] = x;
      }
    }
  }

  /// Sets the factors of hidden (query, key) pairs to 0, even if they are not
  /// finite.
  template <typename Rules>
  WEFT_MEMBER static void mask(const Rules &rules, int row, int column,
                               float (&scores)[kFragments][4],
                               float (&products)[kFragments][4]) {
#pragma unroll
    for (int n = 0; n < kFragments; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        int own = row + fragmentRow() + e / 2 * 8;
        int walk = column + 8 * n + fragmentColumn() + e % 2;
        if (kByKeys ? rules.sees(walk, own) : rules.sees(own, walk))
          continue;
        scores[n][e] = 0.0f;
        products[n][e] = 0.0f;
      }
  }

  template <int kCount>
  WEFT_MEMBER void store(const HeadsArgument &tensor, int batch, int head,
                         int row, int end, const AttentionArguments &a,
                         const float (&sums)[1][kCount][4], float factor) {
    float factors[1][2] = {{factor, factor}};
    storeRows<Type>(rowsOf<Type>(tensor, batch, head) +
                        row * tensor.strides.row,
                    tensor.strides.row, end - row, begin, a, sums, factors);
  }
};

template <typename Type, int D, Dropout kDropout, bool kVaries>
WEFT_DEVICE void lowQueryGradients(const ArgumentsOf<kVaries> &a) {
  using Gradient = LowGradient<Type, D, /*kByKeys=*/false>;
  constexpr int kColumns = Gradient::kColumns;
  BlockPlace place(a, blockIndex(), a.heads, /*lastTileFirst=*/a.causal);
  HeadRules<kDropout, kVaries> rules(a, place.batch, place.head);
  int row = place.tile * Gradient::kRows, group = place.head / a.group;
  int warpRow = row + 16 * warpIndex();
  Gradient gradient(0);
  rules.takeOwn(row, Gradient::kRows);
  int keyEnd = rules.keyEnd(smaller(row + Gradient::kRows, a.queries));
  const int first =
      rules.nextTile(rules.keyBegin(row, kColumns), keyEnd, kColumns);
  gradient.beginOwn(a.q, a.dout, place.batch, place.head, row, a.queries, a);
  gradient.beginWalk(0, a.k, a.v, place.batch, group, first, a.keys, a);
  endGroup();
  gradient.takeRowStatistics(a, firstRow(a, place.batch, place.head), warpRow);
  for (int key = first, next, stage = 0; key < keyEnd; key = next, stage ^= 1) {
    next = rules.nextTile(key + kColumns, keyEnd, kColumns);
    if (next < keyEnd)
      gradient.beginWalk(stage ^ 1, a.k, a.v, place.batch, group, next, a.keys,
                         a);
    endGroup();
    const auto kept = gradient.findKept(rules, warpRow, key);
    waitForGroups<1>();
    barrier();
    if (key == first)
      gradient.takeOwn();
    gradient.addTile(stage, rules, kept, a.scale * kLog2E, warpRow, key);
    barrier();
  }
  waitForGroups<0>();
  gradient.store(a.dq, place.batch, place.head, warpRow, a.queries, a,
                 gradient.first, a.scale);
}

/// The tiles of queries that a tile of keys walks, one after the other.
struct QueryWalk {
  int firstHead, firstTile, tilesOfHead, count;

  template <typename Rules>
  WEFT_MEMBER QueryWalk(const AttentionArguments &a, const Rules &rules,
                        int group, int key, int rows, int columns)
      : firstHead(group * a.group), firstTile(rules.firstQuery(key) / columns),
        tilesOfHead((rules.queryEnd(a, smaller(key + rows, a.keys)) - 1) /
                        columns +
                    1 - firstTile),
        count(0) {
    if (tilesOfHead > 0)
      count = tilesOfHead * a.group;
  }
  WEFT_MEMBER int head(int i) const { return firstHead + i / tilesOfHead; }
  WEFT_MEMBER int tile(int i) const { return firstTile + i % tilesOfHead; }
  /// The first one from number i on that the keys do not skip.
  template <typename Rules>
  WEFT_MEMBER int next(const Rules &rules, int i, int columns) const {
    if constexpr (Rules::varies)
      while (i < count && rules.skips(tile(i) * columns, columns))
        ++i;
    return i;
  }
};

template <typename Type, int D, Dropout kDropout, bool kVaries>
WEFT_DEVICE void lowKeyGradients(const ArgumentsOf<kVaries> &a) {
  using Gradient = LowGradient<Type, D, /*kByKeys=*/true,
                               /*kLean=*/kDropout != Dropout::None && kVaries>;
  constexpr int kColumns = Gradient::kColumns,
                kParts = D / (8 * Gradient::kSums);
  BlockPlace place(a, blockIndex() / kParts, a.heads / a.group,
                   /*lastTileFirst=*/false);
  int row = place.tile * Gradient::kRows, warpRow = row + 16 * warpIndex();
  HeadRules<kDropout, kVaries> rules(a, place.batch, place.head * a.group);
  rules.takeOwn(row, Gradient::kRows);
  QueryWalk walk(a, rules, place.head, row, Gradient::kRows, kColumns);
  Gradient gradient(static_cast<int>(blockIndex() % kParts) * 8 *
                    Gradient::kSums);
  // Stage of the tile in use, where some tiles are skipped.
  [[maybe_unused]] int inUse = 1;
  auto begin = [&](int i) {
    int stage = i % 2, head = walk.head(i), query = walk.tile(i) * kColumns;
    if constexpr (kVaries)
      stage = inUse ^ 1;
    gradient.beginWalk(stage, a.q, a.dout, place.batch, head, query, a.queries,
                       a);
    gradient.takeColumnStatistics(stage, a, firstRow(a, place.batch, head),
                                  query);
  };
  gradient.beginOwn(a.k, a.v, place.batch, place.head, row, a.keys, a);
  const int first = walk.next(rules, 0, kColumns);
  if (first < walk.count)
    begin(first);
  inUse = 0;
  endGroup();
  for (int i = first, next; i < walk.count; i = next) {
    next = walk.next(rules, i + 1, kColumns);
    if (next < walk.count)
      begin(next);
    endGroup();
    rules.moveTo(walk.head(i));
    int query = walk.tile(i) * kColumns;
    const auto kept = gradient.findKept(rules, warpRow, query);
    waitForGroups<1>();
    barrier();
    if (i == first)
      gradient.takeOwn();
    int stage = i % 2;
    if constexpr (kVaries)
      stage = inUse;
    gradient.addTile(stage, rules, kept, a.scale * kLog2E, warpRow, query);
    inUse ^= 1;
    barrier();
  }
  waitForGroups<0>();
  gradient.store(a.dk, place.batch, place.head, warpRow, a.keys, a,
                 gradient.first, a.scale);
  gradient.store(a.dv, place.batch, place.head, warpRow, a.keys, a,
                 gradient.second, a.keepScale);
}

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_ATTENTIONLOWGRADIENT_H
