//===- TaintedBytes.cpp - Where values that are not finite lie ------------===//

#include "weft/Runtime/Reports/TaintedBytes.h"

#include <iterator>

using namespace weft;

void TaintedBytes::mark(int64_t begin, int64_t end, bool finite) {
  auto at = ends.lower_bound(begin);
  if (at != ends.begin() && std::prev(at)->second > begin)
    --at;
  while (at != ends.end() && at->first < end) {
    auto [from, to] = *at;
    at = ends.erase(at);
    if (from < begin)
      ends[from] = begin;
    if (to > end)
      ends[end] = to;
  }
  if (!finite && begin < end)
    ends[begin] = end;
}

bool TaintedBytes::holds(int64_t begin, int64_t end) const {
  auto after = ends.lower_bound(end);
  return begin < end && after != ends.begin() &&
         std::prev(after)->second > begin;
}
