//===- AttentionForward.cpp - Attention of one tile of queries ------------===//
//
// The running softmax of FlashAttention (Dao et al. 2022; Milakov and
// Gimelshein 2018): per query the maximum m and the sum l of e^(s - m) over the
// keys so far; when m grows, l and the output are scaled by e^(old m - new m).
// l is kept in two parts, since there may be many tiles of keys.
//
//===----------------------------------------------------------------------===//

#include "AttentionPairs.h"
#include "AttentionVisible.h"

namespace weft {
namespace WEFT_ISA {
namespace {

/// Limits the scores of one vector of queries (AttentionHead::softcap).
WEFT_INLINE void capScores(float softcap, int64_t keyCount, float *scores) {
  Vec cap = splat(softcap), inverse = splat(1.0f / softcap);
  for (int64_t j = 0; j < keyCount; ++j) {
    float *s = scores + j * kQueryTile;
    store(s, cap * tanhVec(load(s) * inverse));
  }
}

/// Masks the scores of one vector of queries and returns their maximum.
WEFT_INLINE Vec maskAndMax(const AttentionHead &h, const VisibleTile &tile,
                           int vec, float *scores) {
  Vec best = splat(-__builtin_inff());
  if (!tile.isMasked) {
    for (int64_t j = 0; j < tile.keyCount; ++j)
      best = maxVec(load(scores + j * kQueryTile), best);
    return best;
  }
  VisibleKeys keys = visibleKeys(h, tile, vec);
  for (int64_t j = 0; j < tile.keyCount; ++j) {
    Vec s = load(scores + j * kQueryTile);
    s = hiddenFrom(keys, j) ? splat(-__builtin_inff()) : s;
    store(scores + j * kQueryTile, s);
    best = maxVec(s, best);
  }
  return best;
}

/// Adds `value` to sum + rest; the rounding of the sum goes to the rest
/// (Knuth's TwoSum).
WEFT_INLINE void addExactly(Vec value, Vec &sum, Vec &rest) {
  Vec total = sum + value;
  Vec part = total - sum;
  rest = rest + ((sum - (total - part)) + (value - part));
  sum = total;
}

/// Turns the scores of a tile into probabilities relative to the new maximum
/// and scales what was gathered so far.
WEFT_INLINE void softmaxTile(const AttentionHead &h, const VisibleTile &tile,
                             const ForwardScratch &s, int vec) {
  float *scores = s.sT + vec * kLanes;
  if (h.softcap != 0.0f)
    capScores(h.softcap, tile.keyCount, scores);
  Vec old = load(s.max + vec * kLanes);
  Vec best = maxVec(old, maskAndMax(h, tile, vec, scores));
  // A query that has seen no key yet has maximum -inf.
  Vec base = best == splat(-__builtin_inff()) ? splat(0.0f) : best;
  Vec shrink = expVec(old - base);
  Vec sum = load(s.sum + vec * kLanes) * shrink;
  Vec rest = load(s.rest + vec * kLanes) * shrink;
  Vec own = sumInFour(tile.keyCount, [&](Vec &part, int64_t j) {
    Vec p = expVec(load(scores + j * kQueryTile) - base);
    part = part + p;
    if (h.dropout)
      p = p * load(s.keep + j * kQueryTile + vec * kLanes);
    store(scores + j * kQueryTile, p);
  });
  addExactly(own, sum, rest);
  store(s.max + vec * kLanes, best);
  store(s.sum + vec * kLanes, sum);
  store(s.rest + vec * kLanes, rest);
  for (int64_t d = 0; d < h.width; ++d) {
    float *o = s.oT + d * kQueryTile + vec * kLanes;
    store(o, load(o) * shrink);
  }
}

/// Scores of a tile of words, which have no scale yet.
void scoreWords(const AttentionHead &h, const VisibleTile &tile, int64_t vecs,
                const ForwardScratch &s) {
  copyWords(elementAt(h.dtype, h.k, tile.keyBegin * h.kRow), h.kRow,
            tile.keyCount, h.width / 2, s.kTile);
  multiplyTile<MultiplyPairs>({s.kTile, h.width / 2, 1, s.qT, kQueryTile, s.sT,
                               kQueryTile, tile.keyCount, h.width / 2, vecs,
                               /*accumulate=*/false});
  const Vec scale = splat(h.scale);
  for (int64_t j = 0; j < tile.keyCount; ++j)
    for (int64_t i = 0; i < vecs * kLanes; i += kLanes) {
      float *score = s.sT + j * kQueryTile + i;
      store(score, load(score) * scale);
    }
}

/// Rounds the probabilities of a tile to pairs of keys, in place, and adds
/// their products with the values.
void addValueWords(const AttentionHead &h, const VisibleTile &tile,
                   int64_t vecs, const ForwardScratch &s) {
  packRowPairs(elementAt(h.dtype, h.v, tile.keyBegin * h.vRow), h.vRow,
               tile.keyCount, h.width, s.vTile, h.width);
  for (int64_t j = 0; j < tile.keyCount; j += 2)
    for (int64_t i = 0; i < vecs * kLanes; i += kLanes) {
      const float *p = s.sT + j * kQueryTile + i;
      Vec next = j + 1 < tile.keyCount ? load(p + kQueryTile) : Vec{};
      store(s.sT + j / 2 * kQueryTile + i, roundToWords(load(p), next));
    }
  multiplyTile<MultiplyPairs>({s.vTile, 1, h.width, s.sT, kQueryTile, s.oT,
                               kQueryTile, h.width, countWords(tile.keyCount),
                               vecs, /*accumulate=*/true});
}

void scoreFloats(const AttentionHead &h, const VisibleTile &tile, int64_t vecs,
                 const ForwardScratch &s) {
  packRows(h.dtype, elementAt(h.dtype, h.k, tile.keyBegin * h.kRow), h.kRow,
           tile.keyCount, h.width, 1.0f, s.kTile, h.width);
  multiplyTile({s.kTile, h.width, 1, s.qT, kQueryTile, s.sT, kQueryTile,
                tile.keyCount, h.width, vecs, /*accumulate=*/false});
}

void addValueFloats(const AttentionHead &h, const VisibleTile &tile,
                    int64_t vecs, const ForwardScratch &s) {
  packRows(h.dtype, elementAt(h.dtype, h.v, tile.keyBegin * h.vRow), h.vRow,
           tile.keyCount, h.width, 1.0f, s.vTile, h.width);
  multiplyTile({s.vTile, 1, h.width, s.sT, kQueryTile, s.oT, kQueryTile,
                h.width, tile.keyCount, vecs, /*accumulate=*/true});
}

/// One tile of keys for one tile of queries.
void addTile(const AttentionHead &h, const VisibleTile &tile,
             const ForwardScratch &s) {
  int64_t vecs = padded(tile.rows) / kLanes;
  const bool isPairs = usesPairs(h);
  (isPairs ? scoreWords : scoreFloats)(h, tile, vecs, s);
  if (h.dropout)
    fillKeepFactors(h, tile.queryBegin, tile.rows, tile.keyBegin, tile.keyCount,
                    s.numbers, s.keep);
  for (int vec = 0; vec < vecs; ++vec)
    softmaxTile(h, tile, s, vec);
  (isPairs ? addValueWords : addValueFloats)(h, tile, vecs, s);
}

/// Divides by the sums and writes the rows.
void finish(const AttentionHead &h, const AttentionOutput &o,
            int64_t queryBegin, int64_t rows, const ForwardScratch &s) {
  for (int vec = 0; vec < kQueryVecs; ++vec) {
    Vec sum = load(s.sum + vec * kLanes) + load(s.rest + vec * kLanes);
    store(s.sum + vec * kLanes, sum);
    Vec inverse = sum == splat(0.0f) ? splat(0.0f) : splat(1.0f) / sum;
    for (int64_t d = 0; d < h.width; ++d) {
      float *column = s.oT + d * kQueryTile + vec * kLanes;
      store(column, load(column) * inverse);
    }
  }
  unpackQueries(h.dtype, s.oT, rows, h.width, 1.0f, s.kTile,
                elementAt(h.dtype, o.out, queryBegin * o.outRow), o.outRow);
  for (int64_t i = 0; i < rows; ++i)
    o.lse[queryBegin + i] = s.sum[i] == 0.0f
                                ? -__builtin_inff()
                                : s.max[i] + __builtin_logf(s.sum[i]);
}

} // namespace

void attentionForward(const AttentionHead &h, const AttentionOutput &o,
                      int64_t queryBegin, float *scratch) {
  ForwardScratch s = layForward(scratch, h.width);
  int64_t rows = smaller(kQueryTile, h.queries - queryBegin);
  const void *q = elementAt(h.dtype, h.q, queryBegin * h.qRow);
  if (usesPairs(h))
    packQueryWords(q, h.qRow, rows, h.width, s.kTile, s.qT);
  else
    packQueries(h.dtype, q, h.qRow, rows, h.width, h.scale, s.kTile, s.qT);
  for (int64_t i = 0; i < h.width * kQueryTile; ++i)
    s.oT[i] = 0.0f;
  for (int64_t i = 0; i < kQueryTile; ++i) {
    s.max[i] = -__builtin_inff();
    s.sum[i] = s.rest[i] = 0.0f;
  }
  forVisibleTiles(h, queryBegin, rows,
                  [&](const VisibleTile &tile) { addTile(h, tile, s); });
  finish(h, o, queryBegin, rows, s);
}

} // namespace WEFT_ISA
} // namespace weft
