//===- AttentionVisible.h - Keys that queries see ---------------*- C++ -*-===//
//
// Query i, at position p = i + keys - queries, sees the keys of its document up
// to p (causal) in its window. A tile without a visible pair is skipped before
// anything of it is read but its ids.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_ATTENTIONVISIBLE_H
#define WEFT_KERNELS_CPU_ISA_ATTENTIONVISIBLE_H

#include "AttentionTiles.h"

namespace weft {
namespace WEFT_ISA {

//===- Ranges -------------------------------------------------------------===//

/// The first key that query i sees, below 0 if it sees all of the first ones.
WEFT_INLINE int64_t firstKey(const AttentionHead &h, int64_t i) {
  return h.window ? i + h.keys - h.queries - h.window + 1 : 0;
}
/// The last key that query i sees; not below `keys` if it sees all last ones.
WEFT_INLINE int64_t lastKey(const AttentionHead &h, int64_t i) {
  if (!h.causal && !h.window)
    return h.keys - 1;
  return i + h.keys - h.queries + (h.causal ? 0 : h.window - 1);
}

/// First of the key tiles that the queries from `queryBegin` on may see.
WEFT_INLINE int64_t visibleBegin(const AttentionHead &h, int64_t queryBegin) {
  int64_t first = firstKey(h, queryBegin);
  return first < 0 ? 0 : first / kKeyTile * kKeyTile;
}
/// Behind the keys that any query of the tile may see.
WEFT_INLINE int64_t visibleEnd(const AttentionHead &h, int64_t queryBegin,
                               int64_t rows) {
  int64_t end = lastKey(h, queryBegin + rows - 1) + 1;
  return end < 0 ? 0 : smaller(end, h.keys);
}

//===- Documents ----------------------------------------------------------===//

/// The smallest and the largest of some ids.
struct IdRange {
  int32_t least, most;
};

WEFT_INLINE IdRange findIds(const int32_t *ids, int64_t count) {
  IdRange range = {ids[0], ids[0]};
  for (int64_t i = 1; i < count; ++i) {
    range.least = ids[i] < range.least ? ids[i] : range.least;
    range.most = ids[i] > range.most ? ids[i] : range.most;
  }
  return range;
}

/// The ids of a tile of queries. Lanes behind the last query repeat its id.
struct QueryIds {
  alignas(64) int32_t ids[kQueryTile];
  IdRange range;
};

WEFT_INLINE void takeQueryIds(const AttentionHead &h, int64_t queryBegin,
                              int64_t rows, QueryIds &to) {
  if (!h.ids)
    return;
  for (int64_t i = 0; i < kQueryTile; ++i)
    to.ids[i] = h.ids[queryBegin + smaller(i, rows - 1)];
  to.range = findIds(to.ids, kQueryTile);
}

//===- Tiles --------------------------------------------------------------===//

/// How many pairs of a tile see each other.
enum class Visible { None, Some, All };

/// Of a tile in the range of keys of its queries.
WEFT_INLINE Visible findVisible(const AttentionHead &h, const Tile &tile,
                                const QueryIds &queries) {
  bool isWhole =
      firstKey(h, tile.queryBegin + tile.rows - 1) <= tile.keyBegin &&
      lastKey(h, tile.queryBegin) >= tile.keyBegin + tile.keyCount - 1;
  if (!h.ids)
    return isWhole ? Visible::All : Visible::Some;
  IdRange keys = findIds(h.ids + tile.keyBegin, tile.keyCount);
  const IdRange &own = queries.range;
  if (keys.most < own.least || keys.least > own.most)
    return Visible::None;
  bool isOne = own.least == own.most && keys.least == keys.most;
  return isWhole && isOne ? Visible::All : Visible::Some;
}

/// A tile in which some pair is visible.
struct VisibleTile : Tile {
  const QueryIds &ids;
  bool isMasked;
};

/// Calls body(tile) for each tile of keys that some query of the tile sees.
template <typename Body>
WEFT_INLINE void forVisibleTiles(const AttentionHead &h, int64_t queryBegin,
                                 int64_t rows, Body body) {
  QueryIds ids;
  takeQueryIds(h, queryBegin, rows, ids);
  int64_t keyEnd = visibleEnd(h, queryBegin, rows);
  for (int64_t j = visibleBegin(h, queryBegin); j < keyEnd; j += kKeyTile) {
    Tile tile = {queryBegin, rows, j, smaller(kKeyTile, keyEnd - j)};
    Visible visible = findVisible(h, tile, ids);
    if (visible != Visible::None)
      body(VisibleTile{tile, ids, visible == Visible::Some});
  }
}

/// The keys that a vector of queries sees, as distances from the tile's first.
struct VisibleKeys {
  IntVec first, last, ids;
  const int32_t *keyIds; // of the tile, or null
};

/// All bits of the queries that do not see key j.
WEFT_INLINE IntVec hiddenFrom(const VisibleKeys &keys, int64_t j) {
  IntVec at = splatInt(static_cast<int32_t>(j));
  IntVec hidden = (at > keys.last) | (at < keys.first);
  if (keys.keyIds)
    hidden = hidden | (splatInt(keys.keyIds[j]) != keys.ids);
  return hidden;
}

WEFT_INLINE VisibleKeys visibleKeys(const AttentionHead &h,
                                    const VisibleTile &tile, int vec) {
  int64_t query = tile.queryBegin + vec * kLanes;
  VisibleKeys keys = {};
  for (int i = 0; i < kLanes; ++i) {
    keys.first[i] =
        static_cast<int32_t>(firstKey(h, query + i) - tile.keyBegin);
    keys.last[i] = static_cast<int32_t>(lastKey(h, query + i) - tile.keyBegin);
  }
  keys.keyIds = h.ids ? h.ids + tile.keyBegin : nullptr;
  if (h.ids)
    keys.ids = (IntVec)load(
        reinterpret_cast<const float *>(tile.ids.ids + vec * kLanes));
  return keys;
}

//===- Softcap ------------------------------------------------------------===//

/// tanh x. Near 0 a polynomial (Cephes' tanhf), which keeps the relative error;
/// beyond, by e^(2 |x|).
WEFT_INLINE Vec tanhVec(Vec x) {
  const BitsVec sign = splatBits(0x80000000u);
  Vec size = (Vec)((BitsVec)x & ~sign), square = x * x;
  Vec p = splat(-5.70498872745e-3f);
  p = fma(p, square, splat(2.06390887954e-2f));
  p = fma(p, square, splat(-5.37397155531e-2f));
  p = fma(p, square, splat(1.33314422036e-1f));
  p = fma(p, square, splat(-3.33332819422e-1f));
  Vec small = fma(p * square, x, x);
  Vec clamped = size > splat(10.0f) ? splat(10.0f) : size;
  Vec power = expVec(clamped * splat(2.0f));
  Vec large = splat(1.0f) - splat(2.0f) / (power + splat(1.0f));
  large = (Vec)((BitsVec)large | ((BitsVec)x & sign));
  return size < splat(0.625f) ? small : large;
}

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ATTENTIONVISIBLE_H
