//===- ElementSet.cpp - Elements of a buffer that were written ------------===//

#include "weft/Layout/ElementSet.h"

#include "weft/Layout/Layout.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace weft;

/// More runs than this are seen as one run from the first to the last element.
constexpr int64_t kMaxRuns = 1 << 20;

/// Calls `visit` with the elements of a layout as rows.
template <typename VisitT>
static void forEachRows(const Layout &layout, VisitT &&visit) {
  // The innermost dimensions that lie densely make one run.
  size_t outer = layout.sizes.size();
  int64_t run = 1;
  while (outer > 0 &&
         (layout.sizes[outer - 1] == 1 || layout.strides[outer - 1] == run))
    run *= layout.sizes[--outer];
  int64_t count = 1, last = 0;
  for (size_t i = 0; i != outer; ++i) {
    count *= layout.sizes[i];
    last += (layout.sizes[i] - 1) * std::max<int64_t>(layout.strides[i], 0);
  }
  if (count == 0)
    return;
  if (outer == 0 || count > kMaxRuns)
    return visit(ElementRows{layout.offset, last + run});
  // The dimension outside of the run makes rows, the others count them.
  --outer;
  count /= layout.sizes[outer];
  SmallVector<int64_t> index(outer, 0);
  for (int64_t n = 0; n != count; ++n) {
    int64_t start = layout.offset;
    for (size_t i = 0; i != outer; ++i)
      start += index[i] * layout.strides[i];
    visit(ElementRows{start, run, layout.strides[outer], layout.sizes[outer]});
    for (size_t i = outer; i-- > 0;) {
      if (++index[i] != layout.sizes[i])
        break;
      index[i] = 0;
    }
  }
}

/// Joins rows that stand side by side: the column slices of one matrix become
/// that matrix, however many rows it has.
static void joinColumns(std::vector<ElementRows> &rows) {
  llvm::sort(rows, [](const ElementRows &a, const ElementRows &b) {
    return std::tie(a.stride, a.count, a.begin, a.run) <
           std::tie(b.stride, b.count, b.begin, b.run);
  });
  std::vector<ElementRows> joined;
  for (const ElementRows &next : rows) {
    if (!joined.empty() && joined.back().stride == next.stride &&
        joined.back().count == next.count &&
        next.begin <= joined.back().begin + joined.back().run)
      joined.back().run = std::max(joined.back().run,
                                   next.begin + next.run - joined.back().begin);
    else
      joined.push_back(next);
  }
  rows = std::move(joined);
}

void ElementSet::merge() {
  if (added.empty() && isMerged)
    return;
  isMerged = true;
  joinColumns(added);
  for (const ElementRows &rows : added)
    rows.forEachRun([&](ByteRange run) { runs.push_back(run); });
  added.clear();
  std::sort(runs.begin(), runs.end(),
            [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  std::vector<ByteRange> merged;
  for (const ByteRange &run : runs) {
    if (!merged.empty() && run.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, run.end);
    else
      merged.push_back(run);
  }
  runs = std::move(merged);
}

bool ElementSet::covers(const ByteRange &run) const {
  auto after = std::upper_bound(
      runs.begin(), runs.end(), run.begin,
      [](int64_t begin, const ByteRange &r) { return begin < r.begin; });
  return after != runs.begin() && std::prev(after)->end >= run.end;
}

void ElementSet::add(MemRefType buffer, int64_t rootElements) {
  // Most writes are of a whole root.
  isWhole |= buffer.getLayout().isIdentity() &&
             buffer.getNumElements() == rootElements;
  if (isWhole)
    return;
  Layout layout = Layout::get(buffer);
  if (layout.offset == 0 && layout.isDense() &&
      buffer.getNumElements() == rootElements)
    isWhole = true;
  else
    forEachRows(layout, [&](ElementRows rows) { added.push_back(rows); });
}

void ElementSet::add(const ElementSet &other) {
  isWhole |= other.isWhole;
  if (isWhole || other.isEmpty())
    return;
  runs.insert(runs.end(), other.runs.begin(), other.runs.end());
  added.insert(added.end(), other.added.begin(), other.added.end());
  // Runs of two sets are neither sorted nor disjoint.
  isMerged = false;
}

bool ElementSet::covers(MemRefType buffer) {
  if (isWhole)
    return true;
  merge();
  bool isCovered = true;
  forEachRows(Layout::get(buffer), [&](ElementRows rows) {
    rows.forEachRun([&](ByteRange run) { isCovered &= covers(run); });
  });
  return isCovered;
}
