//===- AttentionLow.h - Attention of f16 and bf16 heads ---------*- C++ -*-===//
//
// As AttentionWide.cu, on tensor cores: scores and probabilities stay in the
// registers of a warp, which has rows of its own of every tile, and go from one
// product into the next without shared memory. Sums are f32.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_ATTENTIONLOW_H
#define WEFT_KERNELS_CUDA_ATTENTIONLOW_H

#include "AttentionLowGradient.h"
#include "LowTiles.h"

namespace weft::cuda {

/// The softmax state of a lane's rows; scores are in units of log2(e).
template <typename Type, int D, bool kVaries> struct LowSoftmax {
  using Tiles = LowForward<D, kVaries>;
  static constexpr int kRowTiles = Tiles::kRowTiles;
  static constexpr int kFragments = Tiles::kColumns / 8;
  using Scores = float[kRowTiles][kFragments][4];
  using Kept = uint32_t[kRowTiles]; // four bits for each fragment
  float most[kRowTiles][2], sum[kRowTiles][2], out[kRowTiles][D / 8][4];

  WEFT_MEMBER LowSoftmax() {
    clearFragments(out);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        most[m][half] = -infinity(), sum[m][half] = 0.0f;
  }

  /// Which scores are kept; `query` is the warp's first. It needs no tile: the
  /// numbers are drawn while one arrives. Their bits are stored if they have a
  /// place.
  template <typename Rules>
  WEFT_MEMBER static void drawKept(const Rules &rules, int query, int key,
                                   Kept &kept) {
    if constexpr (Rules::drops)
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        kept[m] = keptOfRow<kFragments, false>(rules, query + 16 * m, key);
        storeBits<kFragments>(rules.bits, query + 16 * m, key, kept[m]);
      }
  }

  /// From products to what values are multiplied with.
  template <typename Rules>
  WEFT_MEMBER void add(Scores &scores, const Kept &kept, float scale,
                       const Rules &rules, int query, int key) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int n = 0; n < kFragments; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          scores[m][n][e] = rules.cap(scores[m][n][e] * scale, kLog2E).score;
    // Behind the scale, which may be 0.
    if (rules.needsMask(query, key + 8 * kFragments))
      mask(scores, rules, query, key);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        addRow(scores[m], m, half);
    if constexpr (Rules::drops)
      drop(scores, kept);
  }

  template <typename Rules>
  WEFT_MEMBER static void mask(Scores &scores, const Rules &rules, int query,
                               int key) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int n = 0; n < kFragments; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          int row = query + 16 * m + fragmentRow() + e / 2 * 8;
          if (!rules.sees(row, key + 8 * n + fragmentColumn() + e % 2))
            scores[m][n][e] = -infinity();
        }
  }

  WEFT_MEMBER void addRow(float (&scores)[kFragments][4], int m, int half) {
    float best = most[m][half];
#pragma unroll
    for (int n = 0; n < kFragments; ++n)
#pragma unroll
      for (int e = 2 * half; e < 2 * half + 2; ++e)
        best = maximum(best, scores[n][e]);
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

  WEFT_MEMBER static void drop(Scores &scores, const Kept &kept) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m)
#pragma unroll
      for (int n = 0; n < kFragments; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          scores[m][n][e] = kept[m] >> (4 * n + e) & 1 ? scores[m][n][e] : 0.0f;
  }

  /// Adds up the sums of each row. `lse` points to the log-sum-exp of the
  /// warp's first row.
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
template <typename Type, int D, Dropout kDropout, bool kVaries>
WEFT_DEVICE void lowForward(const ArgumentsOf<kVaries> &a) {
  using Tiles = LowForward<D, kVaries>;
  using Softmax = LowSoftmax<Type, D, kVaries>;
  constexpr int kRows = Tiles::kRows, kColumns = Tiles::kColumns;
  constexpr int kRowTiles = Tiles::kRowTiles;
  BlockPlace place(a, blockIndex(), a.heads, /*lastTileFirst=*/a.causal);
  HeadRules<kDropout, kVaries> rules(a, place.batch, place.head);
  int begin = place.tile * kRows, group = place.head / a.group;
  int warpRow = warpIndex() * 16 * kRowTiles;
  Low *qTile = reinterpret_cast<Low *>(sharedMemory());
  Low *kTile = qTile + kRows * (D + 8), *vTile = kTile + kColumns * (D + 8);
  rules.takeOwn(begin, kRows);
  int keyEnd = rules.keyEnd(smaller(begin + kRows, a.queries));
  const int first =
      rules.nextTile(rules.keyBegin(begin, kColumns), keyEnd, kColumns);
  beginHead<Type, D, kRows>(qTile, a.q, place.batch, place.head, begin,
                            a.queries, a);
  beginHead<Type, D, kColumns>(kTile, a.k, place.batch, group, first, a.keys,
                               a);
  endGroup();
  // For heads of up to 64 elements the queries fit into registers, unless
  // dropout uses these for random numbers.
  std::conditional_t<D == 64 && kDropout == Dropout::None,
                     LeftFactors<D, kRowTiles>, LeftRows<D, kRowTiles>>
      queries;
  Softmax state;
  for (int key = first, next; key < keyEnd; key = next) {
    typename Softmax::Kept kept;
    state.drawKept(rules, begin + warpRow, key, kept);
    waitForGroups<0>();
    barrier();
    if (key == first)
      queries.load(qTile + warpRow * (D + 8));
    beginHead<Type, D, kColumns>(vTile, a.v, place.batch, group, key, a.keys,
                                 a);
    endGroup();
    typename Softmax::Scores scores;
    multiplyRows<Type, D>(queries, kTile, scores);
    waitForGroups<0>();
    barrier();
    next = rules.nextTile(key + kColumns, keyEnd, kColumns);
    if (next < keyEnd)
      beginHead<Type, D, kColumns>(kTile, a.k, place.batch, group, next, a.keys,
                                   a);
    endGroup();
    state.add(scores, kept, a.scale * kLog2E, rules, begin + warpRow, key);
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

} // namespace weft::cuda

/// The kernels of a type for heads of up to D elements.
#define WEFT_LOW_FORWARD(name, Type, D, kDropout, kVaries)                     \
  WEFT_KERNEL(weft_attention_##name, ArgumentsOf<kVaries>, kAttentionThreads,  \
              1) {                                                             \
    lowForward<Type, D, kDropout, kVaries>(a);                                 \
  }
#define WEFT_LOW_GRADIENTS(name, Type, D, kDropout, kVaries)                   \
  WEFT_KERNEL(weft_attention_dq_##name, ArgumentsOf<kVaries>,                  \
              kAttentionThreads, 1) {                                          \
    lowQueryGradients<Type, D, kDropout, kVaries>(a);                          \
  }                                                                            \
  WEFT_KERNEL(weft_attention_dk_##name, ArgumentsOf<kVaries>,                  \
              kAttentionThreads, 1) {                                          \
    lowKeyGradients<Type, D, kDropout, kVaries>(a);                            \
  }

/// All of them, without or with the rules of a variant.
#define WEFT_LOW_ATTENTION(name, Type, D, kVaries)                             \
  WEFT_LOW_FORWARD(name, Type, D, Dropout::None, kVaries)                      \
  WEFT_LOW_GRADIENTS(name, Type, D, Dropout::None, kVaries)                    \
  WEFT_LOW_FORWARD(name##_dropout, Type, D, Dropout::Drawn, kVaries)           \
  WEFT_LOW_GRADIENTS(name##_dropout, Type, D, Dropout::Drawn, kVaries)         \
  WEFT_LOW_GRADIENTS(name##_stored, Type, D, Dropout::Stored, kVaries)         \
  WEFT_ATTENTION_DELTA(name, Type, D)

#endif // WEFT_KERNELS_CUDA_ATTENTIONLOW_H
