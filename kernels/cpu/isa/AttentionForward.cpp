//===- AttentionForward.cpp - Attention of one tile of queries ------------===//
//
// The running softmax of FlashAttention (Dao et al. 2022; Milakov and
// Gimelshein 2018): per query the maximum m and the sum l of e^(s - m) over the
// keys so far; when m grows, l and the output are scaled by e^(old m - new m).
// l is kept in two parts, since there may be many tiles of keys.
//
//===----------------------------------------------------------------------===//

#include "AttentionVisible.h"
#include "AttentionWords.h"

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

/// Scales what one vector of queries gathered so far.
WEFT_INLINE void scaleOutput(const ForwardScratch &s, int64_t width, int vec,
                             Vec factor) {
  for (int64_t d = 0; d < width; ++d) {
    float *o = s.oT + d * kQueryTile + vec * kLanes;
    store(o, load(o) * factor);
  }
}

/// Maximum and sums of one vector of queries over the keys so far.
struct RunningSoftmax {
  Vec max, sum, rest;

  WEFT_INLINE RunningSoftmax of(const ForwardScratch &s, int vec) {
    return {load(s.max + vec * kLanes), load(s.sum + vec * kLanes),
            load(s.rest + vec * kLanes)};
  }
  /// A query that has seen no key yet has maximum -inf.
  WEFT_INLINE Vec baseOf(Vec max) {
    return max == splat(-__builtin_inff()) ? splat(0.0f) : max;
  }
  WEFT_INLINE void write(const RunningSoftmax &r, const ForwardScratch &s,
                         int vec) {
    store(s.max + vec * kLanes, r.max);
    store(s.sum + vec * kLanes, r.sum);
    store(s.rest + vec * kLanes, r.rest);
  }
};

/// Adds the sum of a tile's probabilities, relative to the new maximum `best`.
WEFT_INLINE void addTileSum(RunningSoftmax &r, Vec best, Vec shrink, Vec own) {
  r.sum = r.sum * shrink;
  r.rest = r.rest * shrink;
  addExactly(own, r.sum, r.rest);
  r.max = best;
}

/// Turns the scores of a tile into probabilities relative to the new maximum
/// and scales what was gathered so far.
WEFT_INLINE void softmaxFloats(const AttentionHead &h, const VisibleTile &tile,
                               const ForwardScratch &s, int vec) {
  float *scores = s.sT + vec * kLanes;
  if (h.softcap != 0.0f)
    capScores(h.softcap, tile.keyCount, scores);
  RunningSoftmax running = RunningSoftmax::of(s, vec);
  Vec best = maxVec(running.max, maskAndMax(h, tile, vec, scores));
  Vec base = RunningSoftmax::baseOf(best);
  Vec shrink = expVec(running.max - base);
  Vec own = sumInFour(tile.keyCount, [&](Vec &part, int64_t j) {
    Vec p = expVec(load(scores + j * kQueryTile) - base);
    part = part + p;
    if (h.dropout)
      p = p * load(s.keep + j * kQueryTile + vec * kLanes);
    store(scores + j * kQueryTile, p);
  });
  addTileSum(running, best, shrink, own);
  RunningSoftmax::write(running, s, vec);
  scaleOutput(s, h.width, vec, shrink);
}

//===- Words --------------------------------------------------------------===//

// Maxima and exponents are to the base 2.

/// Scales the scores of one vector of queries where they are capped or their
/// factor is not positive, and returns the factor that they still need. It is
/// positive, so that the largest score stays the largest.
WEFT_INLINE float scaleWords(const AttentionHead &h, const VisibleTile &tile,
                             float *scores) {
  if (h.softcap == 0.0f && h.scale > 0.0f)
    return h.scale * kLog2E;
  Vec factor = splat(h.softcap == 0.0f ? h.scale * kLog2E : h.scale);
  for (int64_t j = 0; j < tile.keyCount; ++j)
    store(scores + j * kQueryTile, load(scores + j * kQueryTile) * factor);
  if (h.softcap == 0.0f)
    return 1.0f;
  capScores(h.softcap, tile.keyCount, scores);
  return kLog2E;
}

/// Masks the scores of one vector of queries and returns their maximum, found
/// in four chains.
WEFT_INLINE Vec maskAndMaxWords(const AttentionHead &h, const VisibleTile &tile,
                                int vec, float *scores) {
  if (tile.isMasked)
    return maskAndMax(h, tile, vec, scores);
  Vec best[4];
  for (Vec &b : best)
    b = splat(-__builtin_inff());
  int64_t j = 0;
  for (; j + 4 <= tile.keyCount; j += 4)
    for (int k = 0; k < 4; ++k)
      best[k] = maxVec(load(scores + (j + k) * kQueryTile), best[k]);
  for (; j < tile.keyCount; ++j)
    best[0] = maxVec(load(scores + j * kQueryTile), best[0]);
  return maxVec(maxVec(best[0], best[1]), maxVec(best[2], best[3]));
}

/// The maximum of a query need not be exact: probabilities are relative to an
/// older one until a score is 2^8 times as likely. So outputs are seldom
/// scaled.
constexpr float kMostGrowth = 8.0f;

/// The same as softmaxFloats, with the probabilities as words along the keys.
WEFT_INLINE void softmaxWords(const AttentionHead &h, const VisibleTile &tile,
                              const ForwardScratch &s, int vec) {
  float *scores = s.sT + vec * kLanes;
  const Vec factor = splat(scaleWords(h, tile, scores));
  RunningSoftmax running = RunningSoftmax::of(s, vec);
  Vec best = maskAndMaxWords(h, tile, vec, scores) * factor;
  best = best > running.max + splat(kMostGrowth) ? best : running.max;
  Vec base = RunningSoftmax::baseOf(best);
  Vec shrink = powerOfTwo(running.max - base);
  Vec sums[2] = {}, offset = -base;
  auto take = [&](int64_t j, Vec &sum) {
    int64_t at = j * kQueryTile;
    Vec p = powerOfTwo(fma(load(scores + at), factor, offset));
    sum = sum + p;
    return h.dropout ? p * load(s.keep + at + vec * kLanes) : p;
  };
  int64_t pair = 0;
  for (; 2 * pair + 2 <= tile.keyCount; ++pair) {
    Vec first = take(2 * pair, sums[0]), second = take(2 * pair + 1, sums[1]);
    store(scores + pair * kQueryTile, roundToWords(first, second));
  }
  if (2 * pair < tile.keyCount) {
    Vec last = take(2 * pair, sums[0]);
    store(scores + pair++ * kQueryTile, roundToWords(last, Vec{}));
  }
  for (; pair < countWords(tile.keyCount); ++pair)
    store(scores + pair * kQueryTile, Vec{});
  addTileSum(running, best, shrink, sums[0] + sums[1]);
  RunningSoftmax::write(running, s, vec);
  if (!isOne(shrink))
    scaleOutput(s, h.width, vec, shrink);
}

void addTileOfWords(const AttentionHead &h, const VisibleTile &tile,
                    int64_t vecs, const ForwardScratch &s) {
  RowWords keys = takeRows(elementAt(h.dtype, h.k, tile.keyBegin * h.kRow),
                           h.kRow, tile.keyCount, h.width, s.kTile);
  multiplyWords({keys.words, keys.row, 1, s.qT, kQueryTile, s.sT, kQueryTile,
                 tile.keyCount, countWords(h.width), vecs,
                 /*accumulate=*/false});
  for (int vec = 0; vec < vecs; ++vec)
    softmaxWords(h, tile, s, vec);
  KeyWords values =
      packKeyWords(elementAt(h.dtype, h.v, tile.keyBegin * h.vRow), h.vRow,
                   tile.keyCount, h.width, s.kTile, s.vTile);
  multiplyWords({values.words, values.row, values.step, s.sT, kQueryTile, s.oT,
                 kQueryTile, h.width, countWords(tile.keyCount), vecs,
                 /*accumulate=*/true});
}

//===- Tiles --------------------------------------------------------------===//

void addTileOfFloats(const AttentionHead &h, const VisibleTile &tile,
                     int64_t vecs, const ForwardScratch &s) {
  packRows(h.dtype, elementAt(h.dtype, h.k, tile.keyBegin * h.kRow), h.kRow,
           tile.keyCount, h.width, 1.0f, s.kTile, h.width);
  multiplyTile({s.kTile, h.width, 1, s.qT, kQueryTile, s.sT, kQueryTile,
                tile.keyCount, h.width, vecs, /*accumulate=*/false});
  for (int vec = 0; vec < vecs; ++vec)
    softmaxFloats(h, tile, s, vec);
  packRows(h.dtype, elementAt(h.dtype, h.v, tile.keyBegin * h.vRow), h.vRow,
           tile.keyCount, h.width, 1.0f, s.vTile, h.width);
  multiplyTile({s.vTile, 1, h.width, s.sT, kQueryTile, s.oT, kQueryTile,
                h.width, tile.keyCount, vecs, /*accumulate=*/true});
}

/// One tile of keys for one tile of queries.
void addTile(const AttentionHead &h, const VisibleTile &tile,
             const ForwardScratch &s) {
  if (h.dropout)
    fillKeepFactors(h, tile.queryBegin, tile.rows, tile.keyBegin, tile.keyCount,
                    s.numbers, s.keep);
  int64_t vecs = padded(tile.rows) / kLanes;
  (usesWords(h) ? addTileOfWords : addTileOfFloats)(h, tile, vecs, s);
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
  const float unit = usesWords(h) ? kLn2 : 1.0f;
  for (int64_t i = 0; i < rows; ++i)
    o.lse[queryBegin + i] = s.sum[i] == 0.0f
                                ? -__builtin_inff()
                                : s.max[i] * unit + __builtin_logf(s.sum[i]);
}

} // namespace

void attentionForward(const AttentionHead &h, const AttentionOutput &o,
                      int64_t queryBegin, float *scratch) {
  ForwardScratch s = layForward(scratch, h.width);
  AmxRegisters registers(usesWords(h));
  int64_t rows = smaller(kQueryTile, h.queries - queryBegin);
  const void *q = elementAt(h.dtype, h.q, queryBegin * h.qRow);
  if (usesWords(h))
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
