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
#include "AttentionWords.h"

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
  (usesWords(h) ? packWords : packFloats)(h, tile, s);
  for (int64_t i = 0; i < h.width * kQueryTile; ++i)
    s.dqT[i] = 0.0f;
  // A lane without query, or a query without key, gets probabilities of 0.
  for (int64_t i = 0; i < kQueryTile; ++i) {
    float lse = i < rows ? g.lse[begin + i] : __builtin_inff();
    s.lse[i] = lse == -__builtin_inff() ? __builtin_inff() : lse;
  }
}

/// The values that all keys of a tile share for one vector of queries.
struct QueryVector {
  VisibleKeys keys;
  Vec lse, delta;
};

WEFT_INLINE QueryVector takeQueries(const AttentionHead &h,
                                    const VisibleTile &tile,
                                    const BackwardScratch &s, int vec) {
  return {visibleKeys(h, tile, vec), load(s.lse + vec * kLanes),
          load(s.delta + vec * kLanes)};
}

/// P Z and dS of one key.
struct KeyGradient {
  Vec kept, ds;
};

/// From a probability, dout V^T and the factor of the softcap.
WEFT_INLINE KeyGradient gradientOf(const AttentionHead &h,
                                   const BackwardScratch &s, int64_t at, Vec p,
                                   Vec delta, Vec slope) {
  Vec dp = load(s.dsT + at), kept = p;
  if (h.dropout) {
    Vec keep = load(s.keep + at);
    dp = dp * keep;
    kept = p * keep;
  }
  Vec ds = p * (dp - delta);
  return {kept, h.softcap != 0.0f ? ds * slope : ds};
}

//===- Floats -------------------------------------------------------------===//

/// From scores and dout V^T to P Z (in pT) and dS (in dsT) for one vector of
/// queries.
WEFT_INLINE void softmaxGradient(const AttentionHead &h,
                                 const VisibleTile &tile,
                                 const BackwardScratch &s, int vec) {
  QueryVector queries = takeQueries(h, tile, s, vec);
  Vec cap = splat(h.softcap), inverse = splat(1.0f) / cap;
  for (int64_t j = 0; j < tile.keyCount; ++j) {
    int64_t at = j * kQueryTile + vec * kLanes;
    Vec score = load(s.pT + at), slope = splat(1.0f);
    if (h.softcap != 0.0f) {
      Vec t = tanhVec(score * inverse);
      score = cap * t;
      slope = splat(1.0f) - t * t;
    }
    Vec p = expVec(score - queries.lse);
    if (tile.isMasked)
      p = hiddenFrom(queries.keys, j) ? splat(0.0f) : p;
    KeyGradient key = gradientOf(h, s, at, p, queries.delta, slope);
    store(s.pT + at, key.kept);
    store(s.dsT + at, key.ds);
  }
}

void addTileOfFloats(const AttentionHead &h, const VisibleTile &tile,
                     const BackwardScratch &s) {
  int64_t vecs = padded(tile.rows) / kLanes, row = padded(h.width);
  packRows(h.dtype, elementAt(h.dtype, h.k, tile.keyBegin * h.kRow), h.kRow,
           tile.keyCount, h.width, 1.0f, s.kTile, h.width);
  packRows(h.dtype, elementAt(h.dtype, h.v, tile.keyBegin * h.vRow), h.vRow,
           tile.keyCount, h.width, 1.0f, s.vTile, h.width);
  multiplyTile({s.kTile, h.width, 1, s.qT, kQueryTile, s.pT, kQueryTile,
                tile.keyCount, h.width, vecs, /*accumulate=*/false});
  multiplyTile({s.vTile, h.width, 1, s.doT, kQueryTile, s.dsT, kQueryTile,
                tile.keyCount, h.width, vecs, /*accumulate=*/false});
  for (int vec = 0; vec < vecs; ++vec)
    softmaxGradient(h, tile, s, vec);
  multiplyTile({s.pT, kQueryTile, 1, s.dout, row, s.dv + tile.keyBegin * row,
                row, tile.keyCount, tile.rows, row / kLanes,
                /*accumulate=*/true});
  multiplyTile({s.dsT, kQueryTile, 1, s.q, row, s.dk + tile.keyBegin * row, row,
                tile.keyCount, tile.rows, row / kLanes, /*accumulate=*/true});
  multiplyTile({s.kTile, 1, h.width, s.dsT, kQueryTile, s.dqT, kQueryTile,
                h.width, tile.keyCount, vecs, /*accumulate=*/true});
}

//===- Words --------------------------------------------------------------===//

/// The vectors of queries that a tile's products need: whole words along the
/// queries.
WEFT_INLINE int64_t countVecs(int64_t rows) {
  return (2 * countWords(rows) + kLanes - 1) / kLanes;
}

/// The gradient of key j, dS with the scale.
WEFT_INLINE KeyGradient gradientOfWords(const AttentionHead &h,
                                        const VisibleTile &tile,
                                        const BackwardScratch &s,
                                        const QueryVector &queries, int64_t j,
                                        int64_t at) {
  Vec score = load(s.pT + at), slope = splat(1.0f), unit = splat(kLog2E);
  Vec power = queries.lse * -unit;
  if (h.softcap == 0.0f) {
    power = fma(score, splat(h.scale * kLog2E), power);
  } else {
    Vec t = tanhVec(score * splat(h.scale) * splat(1.0f / h.softcap));
    power = fma(splat(h.softcap) * t, unit, power);
    slope = splat(1.0f) - t * t;
  }
  Vec p = powerOfTwo(power);
  if (tile.isMasked)
    p = hiddenFrom(queries.keys, j) ? splat(0.0f) : p;
  KeyGradient key = gradientOf(h, s, at, p, queries.delta, slope);
  key.ds = key.ds * splat(h.scale);
  return key;
}

/// Rows j of P Z and dS become words along the queries, both in the row of pT:
/// P Z in its first half, scale dS in its second half.
constexpr int64_t kRowOfWords = kQueryTile / 2;

/// From scores and dout V^T of key j to its words in pT. `ds` keeps dS.
WEFT_INLINE void roundKey(const AttentionHead &h, const VisibleTile &tile,
                          const BackwardScratch &s, const QueryVector *queries,
                          int64_t vecs, int64_t j, Vec *ds) {
  float *row = s.pT + j * kQueryTile;
  Vec kept[kQueryVecs] = {};
  for (int v = 0; v < vecs; ++v) {
    KeyGradient key =
        gradientOfWords(h, tile, s, queries[v], j, j * kQueryTile + v * kLanes);
    kept[v] = key.kept;
    ds[v] = key.ds;
  }
  for (int v = 0; v + 1 < kQueryVecs; v += 2) {
    float *to = row + v * kLanes / 2;
    store(to, roundNeighbours(kept[v], kept[v + 1]));
    store(to + kRowOfWords, roundNeighbours(ds[v], ds[v + 1]));
  }
}

/// From scores and dout V^T to words: along the queries in pT, and along the
/// keys, for dQ, row j / 2 of dsT.
void softmaxGradientOfWords(const AttentionHead &h, const VisibleTile &tile,
                            int64_t vecs, const BackwardScratch &s) {
  QueryVector queries[kQueryVecs];
  for (int v = 0; v < vecs; ++v)
    queries[v] = takeQueries(h, tile, s, v);
  int64_t pair = 0;
  for (; 2 * pair < tile.keyCount; ++pair) {
    Vec ds[2][kQueryVecs] = {};
    roundKey(h, tile, s, queries, vecs, 2 * pair, ds[0]);
    if (2 * pair + 1 < tile.keyCount)
      roundKey(h, tile, s, queries, vecs, 2 * pair + 1, ds[1]);
    for (int v = 0; v < vecs; ++v)
      store(s.dsT + pair * kQueryTile + v * kLanes,
            roundToWords(ds[0][v], ds[1][v]));
  }
  int64_t rest = countWords(tile.keyCount) - pair;
  clearWords(s.dsT + pair * kQueryTile, rest * kQueryTile);
  // Keys behind the tile's last one may have sums from other queries: they get
  // products with 0, like keys of the tile that a query does not see.
  rest = wholeSteps(tile.keyCount, kRowStep) - tile.keyCount;
  clearWords(s.pT + tile.keyCount * kQueryTile, rest * kQueryTile);
}

/// The words of a tile's keys, for dQ.
float *keyWordsOf(const AttentionHead &h, int64_t keyBegin,
                  const BackwardScratch &s) {
  return s.keyWords + keyBegin / kKeyTile * wordsOfTile(h.width);
}

/// All tiles of a key head.
void packKeys(const AttentionHead &h, const BackwardScratch &s) {
  for (int64_t j = 0; j < h.keys; j += kKeyTile)
    packKeyWords(elementAt(h.dtype, h.k, j * h.kRow), h.kRow,
                 smaller(kKeyTile, h.keys - j), h.width, s.kTile,
                 keyWordsOf(h, j, s));
}

void addTileOfWords(const AttentionHead &h, const VisibleTile &tile,
                    const BackwardScratch &s) {
  int64_t vecs = countVecs(tile.rows), row = padded(h.width);
  RowWords keys = takeRows(elementAt(h.dtype, h.k, tile.keyBegin * h.kRow),
                           h.kRow, tile.keyCount, h.width, s.kTile);
  RowWords values = takeRows(elementAt(h.dtype, h.v, tile.keyBegin * h.vRow),
                             h.vRow, tile.keyCount, h.width, s.vTile);
  multiplyWords({keys.words, keys.row, 1, s.qT, kQueryTile, s.pT, kQueryTile,
                 tile.keyCount, countWords(h.width), vecs,
                 /*accumulate=*/false});
  multiplyWords({values.words, values.row, 1, s.doT, kQueryTile, s.dsT,
                 kQueryTile, tile.keyCount, countWords(h.width), vecs,
                 /*accumulate=*/false});
  softmaxGradientOfWords(h, tile, vecs, s);
  int64_t words = countWords(tile.rows);
  multiplyWords({s.pT, kQueryTile, 1, s.dout, row, s.dv + tile.keyBegin * row,
                 row, tile.keyCount, words, row / kLanes, /*accumulate=*/true});
  multiplyWords({s.pT + kRowOfWords, kQueryTile, 1, s.q, row,
                 s.dk + tile.keyBegin * row, row, tile.keyCount, words,
                 row / kLanes, /*accumulate=*/true});
  KeyWords pairs = keyWordsAt(keyWordsOf(h, tile.keyBegin, s), h.width);
  multiplyWords({pairs.words, pairs.row, pairs.step, s.dsT, kQueryTile, s.dqT,
                 kQueryTile, h.width, countWords(tile.keyCount), vecs,
                 /*accumulate=*/true});
}

//===- Tiles --------------------------------------------------------------===//

void addTile(const AttentionHead &h, const VisibleTile &tile,
             const BackwardScratch &s) {
  if (h.dropout)
    fillKeepFactors(h, tile.queryBegin, tile.rows, tile.keyBegin, tile.keyCount,
                    s.numbers, s.keep);
  (usesWords(h) ? addTileOfWords : addTileOfFloats)(h, tile, s);
}

/// Prepares the sums, and the keys, of a head's first query head.
void prepareKeys(const AttentionHead &h, const BackwardScratch &s) {
  for (int64_t i = 0; i < h.keys * padded(h.width); ++i)
    s.dk[i] = s.dv[i] = 0.0f;
  if (usesWords(h))
    packKeys(h, s);
}

} // namespace

void attentionBackward(const AttentionHead &h, const AttentionGradients &g,
                       bool firstOfGroup, float *scratch) {
  BackwardScratch s =
      layBackward(scratch, h.dtype, h.keys, h.width, padded(h.width));
  AmxRegisters registers(usesWords(h));
  if (firstOfGroup)
    prepareKeys(h, s);
  for (int64_t begin = 0; begin < h.queries; begin += kQueryTile) {
    int64_t rows = smaller(kQueryTile, h.queries - begin);
    prepareQueries(h, g, begin, rows, s);
    forVisibleTiles(h, begin, rows,
                    [&](const VisibleTile &tile) { addTile(h, tile, s); });
    // Words have the scale in dS.
    float factor = usesWords(h) ? 1.0f : h.scale;
    unpackQueries(h.dtype, s.dqT, rows, h.width, factor, s.kTile,
                  elementAt(h.dtype, g.dq, begin * g.dqRow), g.dqRow);
  }
}

void attentionWriteKeys(int dtype, int64_t keys, int64_t width, void *dk,
                        int64_t dkRow, void *dv, int64_t dvRow,
                        const float *scratch) {
  int64_t row = padded(width);
  BackwardScratch s =
      layBackward(const_cast<float *>(scratch), dtype, keys, width, row);
  unpackRows(dtype, s.dk, row, keys, width, dk, dkRow);
  unpackRows(dtype, s.dv, row, keys, width, dv, dvRow);
}

} // namespace WEFT_ISA
} // namespace weft
