//===- AttentionWide.cu - Attention of f32 heads --------------------------===//
//
// The running softmax and the backward pass of FlashAttention (Dao et al. 2022)
// with products of f32. A block owns a tile of rows of one head and walks the
// other side tile by tile, so nothing but its own rows is written and no sum
// depends on when a block runs:
//   forward       owns queries, walks keys
//   backward, dq  owns queries, walks keys
//   backward, dk  owns keys, walks the queries of all heads that share them
//
//===----------------------------------------------------------------------===//

#include "WideTiles.h"

namespace weft::cuda {

template <int D, int kRows>
WEFT_DEVICE void loadHead(float *to, const HeadsArgument &tensor, int batch,
                          int head, int begin, int end,
                          const AttentionArguments &a) {
  loadRows<D, kRows>(
      to, rowsOf<F32>(tensor, batch, head) + begin * tensor.strides.row,
      tensor.strides.row, end - begin, a);
}

template <int D, int kOwn>
WEFT_DEVICE void storeHead(const HeadsArgument &tensor, int batch, int head,
                           int begin, int end, const AttentionArguments &a,
                           const float (&sums)[kOwn][D / 16], float factor) {
  float factors[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i)
    factors[i] = factor;
  storeRows<D, kOwn>(rowsOf<F32>(tensor, batch, head) +
                         begin * tensor.strides.row,
                     tensor.strides.row, end - begin, a, sums, factors);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The softmax state of a thread's rows: the largest score so far, its part of
/// the sum of e^(score - largest), and of the output.
template <int D> struct WideSoftmax {
  static constexpr int kOwn = WideForward<D>::kRows / 8;
  static constexpr int kColumns = WideForward<D>::kColumns;
  using Kept = KeptScores<kOwn, kColumns / 16, /*kRowsAreKeys=*/false>;
  float most[kOwn], sum[kOwn], out[kOwn][D / 16];

  WEFT_MEMBER WideSoftmax() {
    clearSums(out);
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
      most[i] = -infinity(), sum[i] = 0.0f;
  }

  /// Turns products into the factors of the values. `query` and `key` are the
  /// coordinates of the thread's first score.
  template <typename Rules>
  WEFT_MEMBER void add(float (&scores)[kOwn][kColumns / 16], const Kept &kept,
                       float scale, const Rules &rules, int query, int key) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      float best = most[i];
#pragma unroll
      for (int j = 0; j < kColumns / 16; ++j) {
        bool sees = rules.sees(query + i, key + 16 * j);
        float score = rules.cap(scores[i][j] * scale, 1.0f).score;
        scores[i][j] = sees ? score : -infinity();
        best = maximum(best, scores[i][j]);
      }
      best = maximumOfLanes<16>(best);
      // A query that has seen no key yet has -inf.
      float base = best == -infinity() ? 0.0f : best;
      float shrink = powerOfTwo((most[i] - base) * kLog2E);
      most[i] = best;
      sum[i] = sum[i] * shrink;
#pragma unroll
      for (int n = 0; n < D / 16; ++n)
        out[i][n] = out[i][n] * shrink;
#pragma unroll
      for (int j = 0; j < kColumns / 16; ++j) {
        float p = powerOfTwo((scores[i][j] - base) * kLog2E);
        sum[i] = sum[i] + p;
        scores[i][j] = p;
      }
    }
    if constexpr (Rules::drops) {
#pragma unroll
      for (int i = 0; i < kOwn; ++i)
#pragma unroll
        for (int j = 0; j < kColumns / 16; ++j)
          if (!kept.keeps(i, j))
            scores[i][j] = 0.0f;
    }
  }

  /// Adds up the sums of each row. `lse` points to the log-sum-exp of the
  /// thread's first row.
  WEFT_MEMBER void finish(float *lse, int rows, float keepScale,
                          float (&factors)[kOwn]) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      sum[i] = sumOfLanes<16>(sum[i]);
      factors[i] = sum[i] == 0.0f ? 0.0f : keepScale / sum[i];
      if (tileX() == 0 && tileY() * kOwn + i < rows)
        lse[i] = sum[i] == 0.0f ? -infinity() : most[i] + log2f(sum[i]) * kLn2;
    }
  }
};

template <int D, Dropout kDropout, bool kVaries>
WEFT_DEVICE void wideForward(const ArgumentsOf<kVaries> &a) {
  using Tiles = WideForward<D>;
  constexpr int kRows = Tiles::kRows, kColumns = Tiles::kColumns;
  constexpr int kOwn = kRows / 8;
  BlockPlace place(a, blockIndex(), a.heads, /*lastTileFirst=*/a.causal);
  HeadRules<kDropout, kVaries> rules(a, place.batch, place.head);
  int begin = place.tile * kRows, rows = smaller(kRows, a.queries - begin);
  int group = place.head / a.group;
  float *qTile = reinterpret_cast<float *>(sharedMemory());
  float *tile = qTile + kRows * (D + 4), *p = tile + kColumns * (D + 4);
  loadHead<D, kRows>(qTile, a.q, place.batch, place.head, begin, a.queries, a);
  WideSoftmax<D> state;
  rules.takeOwn(begin, rows);
  int keyEnd = rules.keyEnd(begin + rows);
  for (int key = rules.keyBegin(begin, kColumns); key < keyEnd;
       key += kColumns) {
    if (rules.skips(key, kColumns))
      continue;
    loadHead<D, kColumns>(tile, a.k, place.batch, group, key, a.keys, a);
    barrier();
    int query = begin + tileY() * kOwn;
    typename WideSoftmax<D>::Kept kept;
    kept.find(rules, query, key + tileX());
    if constexpr (kDropout == Dropout::Drawn)
      kept.store(rules.bits, begin + 16 * warpIndex(), key);
    float scores[kOwn][kColumns / 16];
    multiplyRows<D, kOwn, kColumns>(qTile, tile, scores);
    state.add(scores, kept, a.scale, rules, query, key + tileX());
    storeScores<kOwn, kColumns>(p, scores);
    barrier();
    loadHead<D, kColumns>(tile, a.v, place.batch, group, key, a.keys, a);
    barrier();
    addProducts<D, kOwn, kColumns>(p, tile, state.out);
    barrier();
  }
  float factors[kOwn];
  int64_t row = firstRow(a, place.batch, place.head) + begin + tileY() * kOwn;
  state.finish(a.lse + row, rows, a.keepScale, factors);
  storeRows<D, kOwn>(rowsOf<F32>(a.out, place.batch, place.head) +
                         begin * a.out.strides.row,
                     a.out.strides.row, rows, a, state.out, factors);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Gradients of the rows that a block owns: of queries (first: dq), or of keys
/// (first: dk, second: dv). "own" is q and dout, or k and v; "walk" the others.
/// With P = e^(S - lse) and Z the keep factors,
///   dV = (P Z)^T dout    dS = P ((dout V^T) Z - delta)
///   dQ = scale dS K      dK = scale dS^T Q
template <int D, bool kByKeys> struct WideGradient {
  using Tiles = WideBackward<D>;
  static constexpr int kRows = Tiles::kRows, kColumns = Tiles::kColumns;
  static constexpr int kOwn = kRows / 8, kWalk = kColumns / 16;
  using Kept = KeptScores<kOwn, kWalk, kByKeys>;
  float *own, *ownOther, *walk, *walkOther, *p, *lse, *delta;
  float first[kOwn][D / 16], second[kByKeys ? kOwn : 1][D / 16];

  WEFT_MEMBER WideGradient() {
    own = reinterpret_cast<float *>(sharedMemory());
    ownOther = own + kRows * (D + 4);
    walk = ownOther + kRows * (D + 4);
    walkOther = walk + kColumns * (D + 4);
    p = walkOther + kColumns * (D + 4);
    lse = p + kRows * (kColumns + 4);
    delta = lse + Tiles::kStatistics;
    clearSums(first);
    clearSums(second);
  }

  /// Of the queries from `query` on, which belong to row `row` of all.
  WEFT_MEMBER void loadStatistics(const AttentionArguments &a, int64_t row,
                                  int query) {
    int i = static_cast<int>(threadIndex());
    if (i >= (kByKeys ? kColumns : kRows))
      return;
    lse[i] = lseOrInfinity(a.lse + row, query + i, a.queries);
    delta[i] = query + i < a.queries ? a.delta[row + query + i] : 0.0f;
  }

  /// One tile of the other side; rows and columns are counted from these.
  template <typename Rules>
  WEFT_MEMBER void addTile(const Rules &rules, float scale, int row,
                           int column) {
    row += tileY() * kOwn, column += tileX();
    Kept kept;
    kept.find(rules, row, column);
    float scores[kOwn][kWalk], products[kOwn][kWalk];
    multiplyRows<D, kOwn, kColumns>(own, walk, scores);
    multiplyRows<D, kOwn, kColumns>(ownOther, walkOther, products);
    findGradients(rules, kept, scale, row, column, scores, products);
    if constexpr (kByKeys) {
      storeScores<kOwn, kColumns>(p, scores);
      barrier();
      addProducts<D, kOwn, kColumns>(p, walkOther, second);
      barrier();
    }
    storeScores<kOwn, kColumns>(p, products);
    barrier();
    addProducts<D, kOwn, kColumns>(p, walk, first);
    barrier();
  }

  /// From S to P without its dropped elements, from dout V^T to dS.
  template <typename Rules>
  WEFT_MEMBER void findGradients(const Rules &rules, const Kept &kept,
                                 float scale, int row, int column,
                                 float (&scores)[kOwn][kWalk],
                                 float (&products)[kOwn][kWalk]) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
      for (int j = 0; j < kWalk; ++j) {
        int at = kByKeys ? tileX() + 16 * j : tileY() * kOwn + i;
        int query = kByKeys ? column + 16 * j : row + i;
        int key = kByKeys ? row + i : column + 16 * j;
        bool sees = rules.sees(query, key);
        bool keeps = kept.keeps(i, j);
        CappedScore capped = rules.cap(scores[i][j] * scale, 1.0f);
        float x = powerOfTwo((capped.score - lse[at]) * kLog2E);
        float dp = keeps ? products[i][j] * rules.keepScale : 0.0f;
        scores[i][j] = sees && keeps ? x : 0.0f;
        products[i][j] =
            sees ? rules.timesSlope(x * (dp - delta[at]), capped) : 0.0f;
      }
  }
};

template <int D, Dropout kDropout, bool kVaries>
WEFT_DEVICE void wideQueryGradients(const ArgumentsOf<kVaries> &a) {
  using Gradient = WideGradient<D, /*kByKeys=*/false>;
  constexpr int kRows = Gradient::kRows, kColumns = Gradient::kColumns;
  BlockPlace place(a, blockIndex(), a.heads, /*lastTileFirst=*/a.causal);
  HeadRules<kDropout, kVaries> rules(a, place.batch, place.head);
  int begin = place.tile * kRows, group = place.head / a.group;
  Gradient gradient;
  loadHead<D, kRows>(gradient.own, a.q, place.batch, place.head, begin,
                     a.queries, a);
  loadHead<D, kRows>(gradient.ownOther, a.dout, place.batch, place.head, begin,
                     a.queries, a);
  gradient.loadStatistics(a, firstRow(a, place.batch, place.head), begin);
  rules.takeOwn(begin, kRows);
  int keyEnd = rules.keyEnd(smaller(begin + kRows, a.queries));
  for (int key = rules.keyBegin(begin, kColumns); key < keyEnd;
       key += kColumns) {
    if (rules.skips(key, kColumns))
      continue;
    loadHead<D, kColumns>(gradient.walk, a.k, place.batch, group, key, a.keys,
                          a);
    loadHead<D, kColumns>(gradient.walkOther, a.v, place.batch, group, key,
                          a.keys, a);
    barrier();
    gradient.addTile(rules, a.scale, begin, key);
  }
  storeHead<D, kRows / 8>(a.dq, place.batch, place.head, begin, a.queries, a,
                          gradient.first, a.scale);
}

template <int D, Dropout kDropout, bool kVaries>
WEFT_DEVICE void wideKeyGradients(const ArgumentsOf<kVaries> &a) {
  using Gradient = WideGradient<D, /*kByKeys=*/true>;
  constexpr int kRows = Gradient::kRows, kColumns = Gradient::kColumns;
  int groups = a.heads / a.group;
  BlockPlace place(a, blockIndex(), groups, /*lastTileFirst=*/false);
  int begin = place.tile * kRows;
  Gradient gradient;
  loadHead<D, kRows>(gradient.own, a.k, place.batch, place.head, begin, a.keys,
                     a);
  loadHead<D, kRows>(gradient.ownOther, a.v, place.batch, place.head, begin,
                     a.keys, a);
  for (int head = place.head * a.group; head < (place.head + 1) * a.group;
       ++head) {
    HeadRules<kDropout, kVaries> rules(a, place.batch, head);
    rules.takeOwn(begin, kRows);
    int query = rules.firstQuery(begin) / kColumns * kColumns;
    int queryEnd = rules.queryEnd(a, smaller(begin + kRows, a.keys));
    for (; query < queryEnd; query += kColumns) {
      if (rules.skips(query, kColumns))
        continue;
      loadHead<D, kColumns>(gradient.walk, a.q, place.batch, head, query,
                            a.queries, a);
      loadHead<D, kColumns>(gradient.walkOther, a.dout, place.batch, head,
                            query, a.queries, a);
      gradient.loadStatistics(a, firstRow(a, place.batch, head), query);
      barrier();
      gradient.addTile(rules, a.scale, begin, query);
    }
  }
  storeHead<D, kRows / 8>(a.dk, place.batch, place.head, begin, a.keys, a,
                          gradient.first, a.scale);
  storeHead<D, kRows / 8>(a.dv, place.batch, place.head, begin, a.keys, a,
                          gradient.second, a.keepScale);
}

} // namespace weft::cuda

using namespace weft::cuda;

#define WEFT_WIDE_FORWARD(name, D, kDropout, kVaries)                          \
  WEFT_KERNEL(weft_attention_##name, ArgumentsOf<kVaries>, kAttentionThreads,  \
              1) {                                                             \
    wideForward<D, kDropout, kVaries>(a);                                      \
  }
#define WEFT_WIDE_GRADIENTS(name, D, kDropout, kVaries)                        \
  WEFT_KERNEL(weft_attention_dq_##name, ArgumentsOf<kVaries>,                  \
              kAttentionThreads, 1) {                                          \
    wideQueryGradients<D, kDropout, kVaries>(a);                               \
  }                                                                            \
  WEFT_KERNEL(weft_attention_dk_##name, ArgumentsOf<kVaries>,                  \
              kAttentionThreads, 1) {                                          \
    wideKeyGradients<D, kDropout, kVaries>(a);                                 \
  }
#define WEFT_WIDE_ATTENTION(name, D, kVaries)                                  \
  WEFT_WIDE_FORWARD(name, D, Dropout::None, kVaries)                           \
  WEFT_WIDE_GRADIENTS(name, D, Dropout::None, kVaries)                         \
  WEFT_WIDE_FORWARD(name##_dropout, D, Dropout::Drawn, kVaries)                \
  WEFT_WIDE_GRADIENTS(name##_dropout, D, Dropout::Drawn, kVaries)              \
  WEFT_WIDE_GRADIENTS(name##_stored, D, Dropout::Stored, kVaries)              \
  WEFT_ATTENTION_DELTA(name, F32, D)

#if WEFT_HAS_HEADS(64)
WEFT_WIDE_ATTENTION(f32_64, 64, false)
#endif
#if WEFT_HAS_VARIANT(64)
WEFT_WIDE_ATTENTION(f32_64_variant, 64, true)
#endif
#if WEFT_HAS_HEADS(128)
WEFT_WIDE_ATTENTION(f32_128, 128, false)
#endif
#if WEFT_HAS_VARIANT(128)
WEFT_WIDE_ATTENTION(f32_128_variant, 128, true)
#endif
#if WEFT_HAS_HEADS(256)
WEFT_WIDE_ATTENTION(f32_256, 256, false)
#endif
#if WEFT_HAS_VARIANT(256)
WEFT_WIDE_ATTENTION(f32_256_variant, 256, true)
#endif
