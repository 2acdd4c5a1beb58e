//===- TaintedBytes.cpp - Bytes of non-finite values ----------------------===//

#include "weft/Runtime/Reports/TaintedBytes.h"

#include <algorithm>
#include <iterator>

using namespace weft;

void TaintedBytes::mark(int64_t begin, int64_t end, Origin origin) {
  auto at = ranges.lower_bound(begin);
  if (at != ranges.begin() && std::prev(at)->second.end > begin)
    --at;
  while (at != ranges.end() && at->first < end) {
    const auto [from, old] = *at;
    at = ranges.erase(at);
    if (from < begin)
      ranges[from] = {begin, old.origin};
    if (old.end > end)
      ranges[end] = old;
  }
  if (origin == kFinite || begin >= end)
    return;
  auto next = ranges.lower_bound(begin);
  if (next != ranges.begin() && std::prev(next)->second.end == begin &&
      std::prev(next)->second.origin == origin)
    std::prev(next)->second.end = end;
  else
    ranges[begin] = {end, origin};
}

Origin TaintedBytes::find(int64_t begin, int64_t end) const {
  Origin found = kFinite;
  auto at = ranges.lower_bound(begin);
  if (at != ranges.begin() && std::prev(at)->second.end > begin)
    --at;
  for (; at != ranges.end() && at->first < end && begin < end; ++at)
    found = std::min(found, at->second.origin);
  return found;
}
