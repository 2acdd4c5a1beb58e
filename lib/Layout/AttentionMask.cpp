//===- AttentionMask.cpp - Pairs of query and key that attend -------------===//

#include "weft/Layout/AttentionMask.h"

#include <algorithm>

using namespace mlir;

namespace weft {

int64_t AttentionMask::getFirst(int64_t query) const {
  const int64_t place = query + keys - queries;
  return window ? std::max<int64_t>(0, place - std::min(*window, keys) + 1) : 0;
}

int64_t AttentionMask::getEnd(int64_t query) const {
  const int64_t place = query + keys - queries;
  if (causal)
    return std::min(keys, place + 1);
  return window ? std::min(keys, place + std::min(*window, keys)) : keys;
}

/// Tiles lie at multiples of their size. A tile of keys ends with the last key
/// that one of its queries sees.
double AttentionMask::countPairs(int64_t tile) const {
  const auto all = static_cast<double>(queries);
  if (!causal && !window)
    return all * static_cast<double>(keys);
  if (!window) {
    const auto tiles = static_cast<double>(queries / tile);
    return all * static_cast<double>(keys - queries) +
           static_cast<double>(tile * tile) * tiles * (tiles + 1) / 2 +
           static_cast<double>(queries % tile) * all;
  }
  double pairs = 0;
  for (int64_t begin = 0; begin < queries; begin += tile) {
    const int64_t rows = std::min(tile, queries - begin);
    const int64_t first = getFirst(begin) / tile * tile;
    pairs += static_cast<double>(rows) *
             static_cast<double>(getEnd(begin + rows - 1) - first);
  }
  return pairs;
}

LogicalResult AttentionMask::verify(Operation *op, bool hasSegments,
                                    std::optional<APFloat> softcap) const {
  auto fail = [&](const char *rule) {
    return op->emitOpError("expects ")
           << rule << ", but got " << keys << " and " << queries;
  };
  if (causal && keys < queries)
    return fail("at least as many keys as queries when causal");
  if (window && *window < 1)
    return op->emitOpError("expects a window of at least 1, but got ")
           << *window;
  if (window && !causal && keys != queries)
    return fail("as many keys as queries with a window unless causal");
  if (hasSegments && keys != queries)
    return fail("as many keys as queries with segments");
  if (softcap && (!softcap->isFinite() || !(softcap->convertToDouble() > 0)))
    return op->emitOpError("expects a finite softcap above 0, but got ")
           << softcap->convertToDouble();
  return success();
}

} // namespace weft
