//===- AttentionBackward.cpp - Gradients of one attention head ------------===//
//
// With P = e^(S - lse), delta_i = sum_d dout_id out_id and Z the keep factors
// of dropout (1 without), FlashAttention's backward pass (Dao et al. 2022):
//   dV = (P Z)^T dout     dP = (dout V^T) Z     dS = P (dP - delta)
//   dQ = scale dS K       dK = scale dS^T Q
// With a softcap c the scores are S = c tanh(Q / c) of scaled products Q, and
// dS gets the factor 1 - tanh(Q / c)^2. One tile of queries at a time; the sums
// of dK and dV over queries stay in the worker's scratch and run in the order
// of queries and heads.
//
//===----------------------------------------------------------------------===//

#include "AttentionVisible.h"

namespace weft {
namespace WEFT_ISA {
namespace {

/// Everything about a tile of queries that all tiles of keys use.
void prepareQueries(const AttentionHead &h, const AttentionGradients &g,
                    int64_t begin, int64_t rows, const BackwardScratch &s) {
  const void *q = elementAt(h.dtype, h.q, begin * h.qRow);
  const void *dout = elementAt(h.dtype, g.dout, begin * g.doutRow);
  const void *out = elementAt(h.dtype, g.out, begin * g.outRow);
  packQueries(h.dtype, q, h.qRow, rows, h.width, h.scale, s.kTile, s.qT);
  packRows(h.dtype, q, h.qRow, rows, h.width, h.scale, s.q, padded(h.width));
  packQueries(h.dtype, dout, g.doutRow, rows, h.width, 1.0f, s.kTile, s.doT);
  packRows(h.dtype, dout, g.doutRow, rows, h.width, 1.0f, s.dout,
           padded(h.width));
  // dqT holds out for delta first.
  packQueries(h.dtype, out, g.outRow, rows, h.width, 1.0f, s.kTile, s.dqT);
  for (int vec = 0; vec < kQueryVecs; ++vec) {
    Vec delta = sumInFour(h.width, [&](Vec &sum, int64_t d) {
      int64_t at = d * kQueryTile + vec * kLanes;
      sum = fma(load(s.doT + at), load(s.dqT + at), sum);
    });
    store(s.delta + vec * kLanes, delta);
  }
  for (int64_t i = 0; i < h.width * kQueryTile; ++i)
    s.dqT[i] = 0.0f;
  // A lane without query, or a query without key, gets probabilities of 0.
  for (int64_t i = 0; i < kQueryTile; ++i) {
    float lse = i < rows ? g.lse[begin + i] : __builtin_inff();
    s.lse[i] = lse == -__builtin_inff() ? __builtin_inff() : lse;
  }
}

/// From scores and dout V^T to P Z (in pT) and dS (in dsT) for one vector of
/// queries.
WEFT_INLINE void softmaxGradient(const AttentionHead &h,
                                 const VisibleTile &tile,
                                 const BackwardScratch &s, int vec) {
  VisibleKeys keys = visibleKeys(h, tile, vec);
  Vec cap = splat(h.softcap), inverse = splat(1.0f) / cap;
  Vec lse = load(s.lse + vec * kLanes), delta = load(s.delta + vec * kLanes);
  for (int64_t j = 0; j < tile.keyCount; ++j) {
    int64_t at = j * kQueryTile + vec * kLanes;
    Vec score = load(s.pT + at), slope = splat(1.0f);
    if (h.softcap != 0.0f) {
      Vec t = tanhVec(score * inverse);
      score = cap * t;
      slope = splat(1.0f) - t * t;
    }
    Vec p = expVec(score - lse);
    if (tile.isMasked)
      p = hiddenFrom(keys, j) ? splat(0.0f) : p;
    Vec dp = load(s.dsT + at);
    Vec kept = p;
    if (h.dropout) {
      Vec keep = load(s.keep + at);
      dp = dp * keep;
      kept = p * keep;
    }
    store(s.pT + at, kept);
    Vec ds = p * (dp - delta);
    store(s.dsT + at, h.softcap != 0.0f ? ds * slope : ds);
  }
}

void addTile(const AttentionHead &h, const VisibleTile &tile,
             const BackwardScratch &s) {
  int64_t queryVecs = padded(tile.rows) / kLanes, row = padded(h.width);
  packRows(h.dtype, elementAt(h.dtype, h.k, tile.keyBegin * h.kRow), h.kRow,
           tile.keyCount, h.width, 1.0f, s.kTile, h.width);
  packRows(h.dtype, elementAt(h.dtype, h.v, tile.keyBegin * h.vRow), h.vRow,
           tile.keyCount, h.width, 1.0f, s.vTile, h.width);
  multiplyTile({s.kTile, h.width, 1, s.qT, kQueryTile, s.pT, kQueryTile,
                tile.keyCount, h.width, queryVecs, /*accumulate=*/false});
  multiplyTile({s.vTile, h.width, 1, s.doT, kQueryTile, s.dsT, kQueryTile,
                tile.keyCount, h.width, queryVecs, /*accumulate=*/false});
  if (h.dropout)
    fillKeepFactors(h, tile.queryBegin, tile.rows, tile.keyBegin, tile.keyCount,
                    s.numbers, s.keep);
  for (int vec = 0; vec < queryVecs; ++vec)
    softmaxGradient(h, tile, s, vec);
  multiplyTile({s.pT, kQueryTile, 1, s.dout, row, s.dv + tile.keyBegin * row,
                row, tile.keyCount, tile.rows, row / kLanes,
                /*accumulate=*/true});
  multiplyTile({s.dsT, kQueryTile, 1, s.q, row, s.dk + tile.keyBegin * row, row,
                tile.keyCount, tile.rows, row / kLanes, /*accumulate=*/true});
  multiplyTile({s.kTile, 1, h.width, s.dsT, kQueryTile, s.dqT, kQueryTile,
                h.width, tile.keyCount, queryVecs, /*accumulate=*/true});
}

} // namespace

void attentionBackward(const AttentionHead &h, const AttentionGradients &g,
                       bool firstOfGroup, float *scratch) {
  BackwardScratch s = layBackward(scratch, h.keys, h.width, padded(h.width));
  if (firstOfGroup)
    for (int64_t i = 0; i < h.keys * padded(h.width); ++i)
      s.dk[i] = s.dv[i] = 0.0f;
  for (int64_t begin = 0; begin < h.queries; begin += kQueryTile) {
    int64_t rows = smaller(kQueryTile, h.queries - begin);
    prepareQueries(h, g, begin, rows, s);
    forVisibleTiles(h, begin, rows,
                    [&](const VisibleTile &tile) { addTile(h, tile, s); });
    unpackQueries(h.dtype, s.dqT, rows, h.width, h.scale, s.kTile,
                  elementAt(h.dtype, g.dq, begin * g.dqRow), g.dqRow);
  }
}

void attentionWriteKeys(int dtype, int64_t keys, int64_t width, void *dk,
                        int64_t dkRow, void *dv, int64_t dvRow,
                        const float *scratch) {
  int64_t row = padded(width);
  BackwardScratch s =
      layBackward(const_cast<float *>(scratch), keys, width, row);
  unpackRows(dtype, s.dk, row, keys, width, dk, dkRow);
  unpackRows(dtype, s.dv, row, keys, width, dv, dvRow);
}

} // namespace WEFT_ISA
} // namespace weft
