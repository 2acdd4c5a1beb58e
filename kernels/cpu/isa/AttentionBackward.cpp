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

#include "AttentionPairs.h"
#include "AttentionVisible.h"

namespace weft {
namespace WEFT_ISA {
namespace {

/// Rows of a tile of queries.
struct TileOfGradients {
  const void *q, *dout, *out;
  int64_t doutRow, outRow, rows;
};

/// delta from the columns of dout and out, `depth` of them.
template <typename Step>
WEFT_INLINE void writeDelta(int64_t depth, const BackwardScratch &s) {
  for (int vec = 0; vec < kQueryVecs; ++vec) {
    Vec delta = sumInFour(depth, [&](Vec &sum, int64_t d) {
      int64_t at = d * kQueryTile + vec * kLanes;
      sum = Step::add(load(s.doT + at), load(s.dqT + at), sum);
    });
    store(s.delta + vec * kLanes, delta);
  }
}

/// Queries, dout and delta of a tile as floats, q with the scale.
void packFloats(const AttentionHead &h, const TileOfGradients &t,
                const BackwardScratch &s) {
  int64_t row = padded(h.width);
  packQueries(h.dtype, t.q, h.qRow, t.rows, h.width, h.scale, s.kTile, s.qT);
  packRows(h.dtype, t.q, h.qRow, t.rows, h.width, h.scale, s.q, row);
  packQueries(h.dtype, t.dout, t.doutRow, t.rows, h.width, 1.0f, s.kTile,
              s.doT);
  packRows(h.dtype, t.dout, t.doutRow, t.rows, h.width, 1.0f, s.dout, row);
  // dqT holds out for delta first.
  packQueries(h.dtype, t.out, t.outRow, t.rows, h.width, 1.0f, s.kTile, s.dqT);
  writeDelta<MultiplyAdd>(h.width, s);
}

/// The same as words, q without the scale: columns of words along the head for
/// scores and dP, pairs of rows for dK and dV.
void packWords(const AttentionHead &h, const TileOfGradients &t,
               const BackwardScratch &s) {
  int64_t row = padded(h.width);
  packQueryWords(t.q, h.qRow, t.rows, h.width, s.kTile, s.qT);
  packRowPairs(t.q, h.qRow, t.rows, h.width, s.q, row);
  packQueryWords(t.dout, t.doutRow, t.rows, h.width, s.kTile, s.doT);
  packRowPairs(t.dout, t.doutRow, t.rows, h.width, s.dout, row);
  packQueryWords(t.out, t.outRow, t.rows, h.width, s.kTile, s.dqT);
  writeDelta<MultiplyPairs>(h.width / 2, s);
}

/// Everything about a tile of queries that all tiles of keys use.
void prepareQueries(const AttentionHead &h, const AttentionGradients &g,
                    int64_t begin, int64_t rows, const BackwardScratch &s) {
  const TileOfGradients tile = {elementAt(h.dtype, h.q, begin * h.qRow),
                                elementAt(h.dtype, g.dout, begin * g.doutRow),
                                elementAt(h.dtype, g.out, begin * g.outRow),
                                g.doutRow,
                                g.outRow,
                                rows};
  (usesPairs(h) ? packWords : packFloats)(h, tile, s);
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

/// S^T and dP^T of a tile, and what its gradients need of the keys.
void scoreFloats(const AttentionHead &h, const VisibleTile &tile, int64_t vecs,
                 const BackwardScratch &s) {
  packRows(h.dtype, elementAt(h.dtype, h.k, tile.keyBegin * h.kRow), h.kRow,
           tile.keyCount, h.width, 1.0f, s.kTile, h.width);
  packRows(h.dtype, elementAt(h.dtype, h.v, tile.keyBegin * h.vRow), h.vRow,
           tile.keyCount, h.width, 1.0f, s.vTile, h.width);
  multiplyTile({s.kTile, h.width, 1, s.qT, kQueryTile, s.pT, kQueryTile,
                tile.keyCount, h.width, vecs, /*accumulate=*/false});
  multiplyTile({s.vTile, h.width, 1, s.doT, kQueryTile, s.dsT, kQueryTile,
                tile.keyCount, h.width, vecs, /*accumulate=*/false});
}

void addGradientFloats(const AttentionHead &h, const VisibleTile &tile,
                       int64_t vecs, const BackwardScratch &s) {
  int64_t row = padded(h.width);
  multiplyTile({s.pT, kQueryTile, 1, s.dout, row, s.dv + tile.keyBegin * row,
                row, tile.keyCount, tile.rows, row / kLanes,
                /*accumulate=*/true});
  multiplyTile({s.dsT, kQueryTile, 1, s.q, row, s.dk + tile.keyBegin * row, row,
                tile.keyCount, tile.rows, row / kLanes, /*accumulate=*/true});
  multiplyTile({s.kTile, 1, h.width, s.dsT, kQueryTile, s.dqT, kQueryTile,
                h.width, tile.keyCount, vecs, /*accumulate=*/true});
}

/// The pairs of keys, behind the words of the keys in their tile.
float *keyPairsOf(const AttentionHead &h, const BackwardScratch &s) {
  return s.kTile + kKeyTile * h.width / 2;
}

/// The same from words.
void scoreWords(const AttentionHead &h, const VisibleTile &tile, int64_t vecs,
                const BackwardScratch &s) {
  int64_t words = h.width / 2;
  const void *k = elementAt(h.dtype, h.k, tile.keyBegin * h.kRow);
  copyWords(k, h.kRow, tile.keyCount, words, s.kTile);
  packRowPairs(k, h.kRow, tile.keyCount, h.width, keyPairsOf(h, s), h.width);
  copyWords(elementAt(h.dtype, h.v, tile.keyBegin * h.vRow), h.vRow,
            tile.keyCount, words, s.vTile);
  multiplyTile<MultiplyPairs>({s.kTile, words, 1, s.qT, kQueryTile, s.pT,
                               kQueryTile, tile.keyCount, words, vecs,
                               /*accumulate=*/false});
  multiplyTile<MultiplyPairs>({s.vTile, words, 1, s.doT, kQueryTile, s.dsT,
                               kQueryTile, tile.keyCount, words, vecs,
                               /*accumulate=*/false});
  const Vec scale = splat(h.scale);
  for (int64_t j = 0; j < tile.keyCount; ++j)
    for (int64_t i = 0; i < vecs * kLanes; i += kLanes) {
      float *score = s.pT + j * kQueryTile + i;
      store(score, load(score) * scale);
    }
}

/// Rows j of P Z and dS become words along the queries, both in the row of pT:
/// P Z in its first half, scale dS in its second half.
constexpr int64_t kRowOfWords = kQueryTile / 2;

/// Rounds keys j and j + 1: to words along the queries, and for dQ to pairs of
/// keys, row j / 2 of dsT.
WEFT_INLINE void roundKeys(int64_t j, bool hasNext, Vec scale,
                           const BackwardScratch &s) {
  Vec ds[2][kQueryVecs];
  for (int64_t k = 0; k < 2; ++k) {
    float *p = s.pT + (j + k) * kQueryTile;
    Vec kept[kQueryVecs];
    for (int v = 0; v < kQueryVecs; ++v) {
      bool exists = k == 0 || hasNext;
      kept[v] = exists ? load(p + v * kLanes) : Vec{};
      ds[k][v] = exists
                     ? load(s.dsT + (j + k) * kQueryTile + v * kLanes) * scale
                     : Vec{};
    }
    if (k == 1 && !hasNext)
      break;
    for (int v = 0; v + 1 < kQueryVecs; v += 2) {
      float *to = p + v * kLanes / 2;
      store(to, roundNeighbours(kept[v], kept[v + 1]));
      store(to + kRowOfWords, roundNeighbours(ds[k][v], ds[k][v + 1]));
    }
  }
  for (int v = 0; v < kQueryVecs; ++v)
    store(s.dsT + j / 2 * kQueryTile + v * kLanes,
          roundToWords(ds[0][v], ds[1][v]));
}

void addGradientWords(const AttentionHead &h, const VisibleTile &tile,
                      int64_t vecs, const BackwardScratch &s) {
  int64_t row = padded(h.width), words = countWords(tile.rows);
  for (int64_t j = 0; j < tile.keyCount; j += 2)
    roundKeys(j, j + 1 < tile.keyCount, splat(h.scale), s);
  multiplyTile<MultiplyPairs>({s.pT, kQueryTile, 1, s.dout, row,
                               s.dv + tile.keyBegin * row, row, tile.keyCount,
                               words, row / kLanes, /*accumulate=*/true});
  multiplyTile<MultiplyPairs>({s.pT + kRowOfWords, kQueryTile, 1, s.q, row,
                               s.dk + tile.keyBegin * row, row, tile.keyCount,
                               words, row / kLanes, /*accumulate=*/true});
  multiplyTile<MultiplyPairs>({keyPairsOf(h, s), 1, h.width, s.dsT, kQueryTile,
                               s.dqT, kQueryTile, h.width,
                               countWords(tile.keyCount), vecs,
                               /*accumulate=*/true});
}

void addTile(const AttentionHead &h, const VisibleTile &tile,
             const BackwardScratch &s) {
  int64_t vecs = padded(tile.rows) / kLanes;
  const bool isPairs = usesPairs(h);
  (isPairs ? scoreWords : scoreFloats)(h, tile, vecs, s);
  if (h.dropout)
    fillKeepFactors(h, tile.queryBegin, tile.rows, tile.keyBegin, tile.keyCount,
                    s.numbers, s.keep);
  for (int vec = 0; vec < vecs; ++vec)
    softmaxGradient(h, tile, s, vec);
  (isPairs ? addGradientWords : addGradientFloats)(h, tile, vecs, s);
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
    // Pairs have the scale in dS.
    float factor = usesPairs(h) ? 1.0f : h.scale;
    unpackQueries(h.dtype, s.dqT, rows, h.width, factor, s.kTile,
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
