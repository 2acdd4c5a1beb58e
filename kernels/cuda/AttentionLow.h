//===- AttentionLow.h - Attention of f16 and bf16 heads ---------*- C++ -*-===//
//
// As AttentionWide.cu, on tensor cores: scores and probabilities stay in the
// registers of a warp, which has rows of its own of every tile, and go from one
// product into the next without shared memory. Sums are f32.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_ATTENTIONLOW_H
#define WEFT_KERNELS_CUDA_ATTENTIONLOW_H

#include "AttentionParts.h"
#include "LowTiles.h"

namespace weft::cuda {

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

/// Which elements of a lane's fragment are kept: four bits. Rows are queries
/// from `query` on, columns keys. One lane computes the numbers of a whole
/// block, for itself and its neighbour.
template <typename Rules>
WEFT_DEVICE uint32_t keptByQueries(const Rules &rules, int query, int key) {
  int row = query + fragmentRow(), column = key + fragmentColumn();
  if (!rules.hasWholeBlocks()) {
    uint32_t bits = 0;
#pragma unroll 1
    for (int e = 0; e < 4; ++e)
      bits |= rules.keeps(row + e / 2 * 8, column + e % 2) ? 1u << e : 0u;
    return bits;
  }
  int odd = laneIndex() % 2;
  uint32_t own = rules.keepBits(row + 8 * odd, key + laneIndex() % 4 / 2 * 4);
  uint32_t other = shuffleXor(own, 1);
  uint32_t upper = (odd ? other : own) >> (2 * odd) & 3;
  uint32_t lower = (odd ? own : other) >> (2 * odd) & 3;
  return upper | lower << 2;
}

/// The same where rows are keys and columns queries.
template <typename Rules>
WEFT_DEVICE uint32_t keptByKeys(const Rules &rules, int key, int query) {
  int row = fragmentRow(), column = fragmentColumn();
  uint32_t bits = 0;
  if (!rules.hasWholeBlocks()) {
#pragma unroll 1
    for (int e = 0; e < 4; ++e)
      bits |= rules.keeps(query + column + e % 2, key + row + e / 2 * 8)
                  ? 1u << e
                  : 0u;
    return bits;
  }
  int lane = laneIndex();
  uint32_t own = rules.keepBits(query + lane % 8, key + lane / 8 * 4);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    int from = (row / 4 + e / 2 * 2) * 8 + column + e % 2;
    bits |= (shuffleFrom(own, from) >> (row % 4) & 1) << e;
  }
  return bits;
}

/// Of fragments side by side, four bits each. One after the other: numbers
/// take many registers.
template <int kFragments, bool kRowsAreKeys, typename Rules>
WEFT_DEVICE uint32_t keptOfRow(const Rules &rules, int row, int column) {
  static_assert(kFragments <= 8, "more fragments than bits");
  uint32_t bits = 0;
#pragma unroll 1
  for (int n = 0; n < kFragments; ++n)
    bits |= (kRowsAreKeys ? keptByKeys(rules, row, column + 8 * n)
                          : keptByQueries(rules, row, column + 8 * n))
            << (4 * n);
  return bits;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// What a lane keeps of its rows; scores are in units of log2(e).
template <typename Type, int D> struct LowSoftmax {
  static constexpr int kRowTiles = LowForward<D>::kRowTiles;
  static constexpr int kFragments = LowForward<D>::kColumns / 8;
  using Scores = float[kRowTiles][kFragments][4];
  float most[kRowTiles][2], sum[kRowTiles][2], out[kRowTiles][D / 8][4];

  WEFT_MEMBER LowSoftmax() {
    clearFragments(out);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        most[m][half] = -infinity(), sum[m][half] = 0.0f;
  }

  /// From products to what values are multiplied with; `query` is the warp's
  /// first.
  template <typename Rules>
  WEFT_MEMBER void add(Scores &scores, float scale, const Rules &rules,
                       int query, int key) {
    if (rules.needsMask(query, key + 8 * kFragments))
      mask(scores, rules, query, key, scale);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        addRow(scores[m], m, half, scale);
    if constexpr (Rules::drops)
      drop(scores, rules, query, key);
  }

  /// What is masked has to be -inf after the scale.
  template <typename Rules>
  WEFT_MEMBER static void mask(Scores &scores, const Rules &rules, int query,
                               int key, float scale) {
    float hidden = scale < 0.0f ? infinity() : -infinity();
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int n = 0; n < kFragments; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          int row = query + 16 * m + fragmentRow() + e / 2 * 8;
          if (!rules.sees(row, key + 8 * n + fragmentColumn() + e % 2))
            scores[m][n][e] = hidden;
        }
  }

  WEFT_MEMBER void addRow(float (&scores)[kFragments][4], int m, int half,
                          float scale) {
    float best = most[m][half];
#pragma unroll
    for (int n = 0; n < kFragments; ++n)
#pragma unroll
      for (int e = 2 * half; e < 2 * half + 2; ++e) {
        scores[n][e] = scores[n][e] * scale;
        best = maximum(best, scores[n][e]);
      }
    best = maximumOfLanes<4>(best);
    float base = best == -infinity() ? 0.0f : best;
    float shrink = powerOfTwo(most[m][half] - base);
    most[m][half] = best;
    float total = sum[m][half] * shrink;
#pragma unroll
    for (int n = 0; n < kFragments; ++n)
#pragma unroll
      for (int e = 2 * half; e < 2 * half + 2; ++e) {
        scores[n][e] = powerOfTwo(scores[n][e] - base);
        total = total + scores[n][e];
      }
    sum[m][half] = total;
#pragma unroll
    for (int n = 0; n < D / 8; ++n)
#pragma unroll
      for (int e = 2 * half; e < 2 * half + 2; ++e)
        out[m][n][e] = out[m][n][e] * shrink;
  }

  template <typename Rules>
  WEFT_MEMBER static void drop(Scores &scores, const Rules &rules, int query,
                               int key) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
      uint32_t kept = keptOfRow<kFragments, false>(rules, query + 16 * m, key);
#pragma unroll
      for (int n = 0; n < kFragments; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          scores[m][n][e] = kept >> (4 * n + e) & 1 ? scores[m][n][e] : 0.0f;
    }
  }

  /// Adds up the sums; `lse` is that of the warp's first row.
  WEFT_MEMBER void finish(float *lse, int rows, float keepScale,
                          float (&factors)[kRowTiles][2]) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float total = sumOfLanes<4>(sum[m][half]);
        factors[m][half] = total == 0.0f ? 0.0f : keepScale / total;
        int row = 16 * m + 8 * half + fragmentRow();
        if (laneIndex() % 4 == 0 && row < rows)
          lse[row] = total == 0.0f ? -infinity()
                                   : (most[m][half] + log2f(total)) * kLn2;
      }
  }
};

/// K arrives during the softmax and product before, V during the scores.
template <typename Type, int D, bool kDrops>
WEFT_DEVICE void lowForward(const AttentionArguments &a) {
  using Tiles = LowForward<D>;
  using Softmax = LowSoftmax<Type, D>;
  constexpr int kRows = Tiles::kRows, kColumns = Tiles::kColumns;
  constexpr int kRowTiles = Tiles::kRowTiles;
  BlockPlace place(a, blockIndex(), a.heads, /*lastTileFirst=*/a.causal);
  HeadRules<kDrops> rules(a, place.batch, place.head);
  int begin = place.tile * kRows, group = place.head / a.group;
  int warpRow = warpIndex() * 16 * kRowTiles;
  Low *qTile = reinterpret_cast<Low *>(sharedMemory());
  Low *kTile = qTile + kRows * (D + 8), *vTile = kTile + kColumns * (D + 8);
  int keyEnd = rules.keyEnd(smaller(begin + kRows, a.queries));
  beginHead<Type, D, kRows>(qTile, a.q, place.batch, place.head, begin,
                            a.queries, a);
  beginHead<Type, D, kColumns>(kTile, a.k, place.batch, group, 0, a.keys, a);
  endGroup();
  // Of narrow heads there is room for the queries in registers.
  std::conditional_t<D == 64, LeftFactors<D, kRowTiles>, LeftRows<D, kRowTiles>>
      queries;
  Softmax state;
  for (int key = 0; key < keyEnd; key += kColumns) {
    waitForGroups<0>();
    barrier();
    if (key == 0)
      queries.load(qTile + warpRow * (D + 8));
    beginHead<Type, D, kColumns>(vTile, a.v, place.batch, group, key, a.keys,
                                 a);
    endGroup();
    typename Softmax::Scores scores;
    multiplyRows<Type, D>(queries, kTile, scores);
    waitForGroups<0>();
    barrier();
    if (key + kColumns < keyEnd)
      beginHead<Type, D, kColumns>(kTile, a.k, place.batch, group,
                                   key + kColumns, a.keys, a);
    endGroup();
    state.add(scores, a.scale * kLog2E, rules, begin + warpRow, key);
    addProducts<Type, D>(scores, vTile, state.out);
  }
  waitForGroups<0>();
  float factors[kRowTiles][2];
  int rows = a.queries - begin - warpRow;
  state.finish(a.lse + firstRow(a, place.batch, place.head) + begin + warpRow,
               rows, a.keepScale, factors);
  storeRows<Type>(rowsOf<Type>(a.out, place.batch, place.head) +
                      (begin + warpRow) * a.out.strides.row,
                  a.out.strides.row, rows, 0, a, state.out, factors);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// As WideGradient in AttentionWide.cu. Rows that a warp owns are those of a
/// left factor, be it queries or keys; tiles of the other side are there twice.
/// `kSums` columns of the results begin at column `begin` of the head.
template <typename Type, int D, bool kByKeys> struct LowGradient {
  using Tiles = LowBackward<D>;
  static constexpr int kRows = Tiles::kRows, kColumns = Tiles::kColumns;
  static constexpr int kFragments = kColumns / 8;
  static constexpr int kSums = (kByKeys ? Tiles::kKeyColumns : D) / 8;
  using Left = std::conditional_t<D == 64, LeftFactors<D, 1>, LeftRows<D, 1>>;
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

  /// One tile of the other side; `row` is the warp's first.
  template <typename Rules>
  WEFT_MEMBER void addTile(int stage, const Rules &rules, float scale, int row,
                           int column) {
    const Low *tile = walk(stage), *other = tile + kColumns * (D + 8);
    float scores[1][kFragments][4], products[1][kFragments][4];
    multiplyRows<Type, D>(own, tile, scores);
    multiplyRows<Type, D>(ownOther, other, products);
    const float *numbers = statistics + stage * 2 * kColumns;
    bool masks = kByKeys ? rules.needsMask(column, row + 16)
                         : rules.needsMask(row, column + kColumns);
    uint32_t kept = ~0u;
    if constexpr (Rules::drops)
      kept = keptOfRow<kFragments, kByKeys>(rules, row, column);
#pragma unroll
    for (int n = 0; n < kFragments; ++n)
      findGradients(numbers, rules, scale, masks, row, column, n,
                    kept >> (4 * n), scores[0][n], products[0][n]);
    if constexpr (kByKeys)
      addProducts<Type, D>(scores, other + begin, second);
    addProducts<Type, D>(products, tile + begin, first);
  }

  /// From S to P without its dropped elements, from dout V^T to dS.
  template <typename Rules>
  WEFT_MEMBER void findGradients(const float *numbers, const Rules &rules,
                                 float scale, bool masks, int row, int column,
                                 int n, uint32_t kept, float (&scores)[4],
                                 float (&products)[4]) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      int at = 8 * n + fragmentColumn() + e % 2;
      int own = row + fragmentRow() + e / 2 * 8, walk = column + at;
      bool sees =
          !masks || (kByKeys ? rules.sees(walk, own) : rules.sees(own, walk));
      bool keeps = kept >> e & 1;
      float shift = kByKeys ? numbers[at] : lse[e / 2];
      float minus = kByKeys ? numbers[kColumns + at] : delta[e / 2];
      float x = powerOfTwo(scores[e] * scale - shift);
      float dp = keeps ? products[e] * rules.keepScale : 0.0f;
      scores[e] = sees && keeps ? x : 0.0f;
      products[e] = sees ? x * (dp - minus) : 0.0f;
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

template <typename Type, int D, bool kDrops>
WEFT_DEVICE void lowQueryGradients(const AttentionArguments &a) {
  using Gradient = LowGradient<Type, D, /*kByKeys=*/false>;
  constexpr int kColumns = Gradient::kColumns;
  BlockPlace place(a, blockIndex(), a.heads, /*lastTileFirst=*/a.causal);
  HeadRules<kDrops> rules(a, place.batch, place.head);
  int row = place.tile * Gradient::kRows, group = place.head / a.group;
  int warpRow = row + 16 * warpIndex();
  Gradient gradient(0);
  int keyEnd = rules.keyEnd(smaller(row + Gradient::kRows, a.queries));
  gradient.beginOwn(a.q, a.dout, place.batch, place.head, row, a.queries, a);
  gradient.beginWalk(0, a.k, a.v, place.batch, group, 0, a.keys, a);
  endGroup();
  gradient.takeRowStatistics(a, firstRow(a, place.batch, place.head), warpRow);
  for (int key = 0, stage = 0; key < keyEnd; key += kColumns, stage ^= 1) {
    if (key + kColumns < keyEnd)
      gradient.beginWalk(stage ^ 1, a.k, a.v, place.batch, group,
                         key + kColumns, a.keys, a);
    endGroup();
    waitForGroups<1>();
    barrier();
    if (key == 0)
      gradient.takeOwn();
    gradient.addTile(stage, rules, a.scale * kLog2E, warpRow, key);
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
                        int group, int key, int columns)
      : firstHead(group * a.group), firstTile(rules.firstQuery(key) / columns),
        tilesOfHead((a.queries - 1) / columns + 1 - firstTile), count(0) {
    if (tilesOfHead > 0)
      count = tilesOfHead * a.group;
  }
  WEFT_MEMBER int head(int i) const { return firstHead + i / tilesOfHead; }
  WEFT_MEMBER int tile(int i) const { return firstTile + i % tilesOfHead; }
};

template <typename Type, int D, bool kDrops>
WEFT_DEVICE void lowKeyGradients(const AttentionArguments &a) {
  using Gradient = LowGradient<Type, D, /*kByKeys=*/true>;
  constexpr int kColumns = Gradient::kColumns,
                kParts = D / (8 * Gradient::kSums);
  BlockPlace place(a, blockIndex() / kParts, a.heads / a.group,
                   /*lastTileFirst=*/false);
  int row = place.tile * Gradient::kRows, warpRow = row + 16 * warpIndex();
  HeadRules<kDrops> rules(a, place.batch, place.head * a.group);
  QueryWalk walk(a, rules, place.head, row, kColumns);
  Gradient gradient(static_cast<int>(blockIndex() % kParts) * 8 *
                    Gradient::kSums);
  auto begin = [&](int i) {
    int stage = i % 2, head = walk.head(i), query = walk.tile(i) * kColumns;
    gradient.beginWalk(stage, a.q, a.dout, place.batch, head, query, a.queries,
                       a);
    gradient.takeColumnStatistics(stage, a, firstRow(a, place.batch, head),
                                  query);
  };
  gradient.beginOwn(a.k, a.v, place.batch, place.head, row, a.keys, a);
  if (walk.count > 0)
    begin(0);
  endGroup();
  for (int i = 0; i < walk.count; ++i) {
    if (i + 1 < walk.count)
      begin(i + 1);
    endGroup();
    waitForGroups<1>();
    barrier();
    if (i == 0)
      gradient.takeOwn();
    rules.moveTo(walk.head(i));
    gradient.addTile(i % 2, rules, a.scale * kLog2E, warpRow,
                     walk.tile(i) * kColumns);
    barrier();
  }
  waitForGroups<0>();
  gradient.store(a.dk, place.batch, place.head, warpRow, a.keys, a,
                 gradient.first, a.scale);
  gradient.store(a.dv, place.batch, place.head, warpRow, a.keys, a,
                 gradient.second, a.keepScale);
}

} // namespace weft::cuda

/// All kernels of a type for heads of up to D elements.
#define WEFT_LOW_ATTENTION(name, Type, D, kDrops)                              \
  WEFT_KERNEL(weft_attention_##name, AttentionArguments, kAttentionThreads,    \
              1) {                                                             \
    lowForward<Type, D, kDrops>(a);                                            \
  }                                                                            \
  WEFT_KERNEL(weft_attention_dq_##name, AttentionArguments, kAttentionThreads, \
              1) {                                                             \
    lowQueryGradients<Type, D, kDrops>(a);                                     \
  }                                                                            \
  WEFT_KERNEL(weft_attention_dk_##name, AttentionArguments, kAttentionThreads, \
              1) {                                                             \
    lowKeyGradients<Type, D, kDrops>(a);                                       \
  }

#endif // WEFT_KERNELS_CUDA_ATTENTIONLOW_H
