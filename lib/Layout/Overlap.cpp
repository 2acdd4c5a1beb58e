//===- Overlap.cpp - Elements that two layouts share ----------------------===//

#include "weft/Layout/Layout.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace llvm;

using namespace mlir;
using namespace weft;

namespace {
/// Elements [begin, end).
struct Range {
  int64_t begin, end;
  bool overlaps(const Range &other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

static bool isEmpty(const Layout &layout) {
  return is_contained(layout.sizes, 0);
}

/// Elements from the first to the last of the dimensions that `counts` names,
/// starting at the offset.
template <typename Predicate>
static Range getSpan(const Layout &layout, Predicate counts) {
  Range span = {layout.offset, layout.offset + 1};
  for (auto [size, stride] : zip(layout.sizes, layout.strides))
    if (counts(stride))
      (stride < 0 ? span.begin : span.end) += (size - 1) * stride;
  return span;
}

static Range getSpan(const Layout &layout) {
  return getSpan(layout, [](int64_t) { return true; });
}

/// The columns that the layout takes of rows of `period` elements, or nothing
/// if it crosses from one row into the next.
static std::optional<Range> getColumns(const Layout &layout, int64_t period) {
  Range span =
      getSpan(layout, [&](int64_t stride) { return stride % period != 0; });
  int64_t begin = ((span.begin % period) + period) % period;
  int64_t end = begin + (span.end - span.begin);
  if (end > period)
    return std::nullopt;
  return Range{begin, end};
}

/// Whether both are slices of rows of one length, and of different columns.
static bool areColumnsApart(const Layout &a, const Layout &b) {
  for (auto [size, stride] : zip(a.sizes, a.strides)) {
    if (size == 1 || stride < 2)
      continue;
    std::optional<Range> left = getColumns(a, stride);
    std::optional<Range> right = getColumns(b, stride);
    if (left && right && !left->overlaps(*right))
      return true;
  }
  return false;
}

/// The elements as runs, in the order of the arena; nothing if they are many.
static std::optional<std::vector<Range>> listRuns(const Layout &layout) {
  constexpr int64_t kMaxRuns = 1 << 20;
  size_t outer = layout.sizes.size();
  int64_t run = 1, count = 1;
  while (outer > 0 &&
         (layout.sizes[outer - 1] == 1 || layout.strides[outer - 1] == run))
    run *= layout.sizes[--outer];
  for (size_t i = 0; i != outer; ++i) {
    count *= layout.sizes[i];
    if (count > kMaxRuns)
      return std::nullopt;
  }
  std::vector<Range> runs;
  SmallVector<int64_t> index(outer, 0);
  for (int64_t n = 0; n != count; ++n) {
    int64_t start = layout.offset;
    for (size_t i = 0; i != outer; ++i)
      start += index[i] * layout.strides[i];
    runs.push_back({start, start + run});
    for (size_t i = outer; i-- > 0 && ++index[i] == layout.sizes[i];)
      index[i] = 0;
  }
  llvm::sort(runs, [](Range a, Range b) { return a.begin < b.begin; });
  return runs;
}

static bool runsOverlap(ArrayRef<Range> a, ArrayRef<Range> b) {
  for (size_t i = 0, j = 0; i != a.size() && j != b.size();) {
    if (a[i].overlaps(b[j]))
      return true;
    ++(a[i].end <= b[j].begin ? i : j);
  }
  return false;
}

bool Layout::overlaps(const Layout &other) const {
  if (isEmpty(*this) || isEmpty(other) ||
      !getSpan(*this).overlaps(getSpan(other)))
    return false;
  if (areColumnsApart(*this, other) || areColumnsApart(other, *this))
    return false;
  auto mine = listRuns(*this), others = listRuns(other);
  return !mine || !others || runsOverlap(*mine, *others);
}

//===----------------------------------------------------------------------===//
// Repeated elements
//===----------------------------------------------------------------------===//

namespace {
struct Dim {
  int64_t stride, size;
};
} // namespace

/// Two indices of one element differ in dimension `i` by a number of steps that
/// the others can take back. There is none if a step leads further than all
/// shorter ones together, or if less than `size` steps are no multiple of the
/// others' common divisor.
static bool isApart(ArrayRef<Dim> dims, size_t i) {
  int64_t reach = 0, divisor = 0;
  for (size_t k = 0; k != dims.size(); ++k) {
    if (k == i)
      continue;
    if (dims[k].stride >= dims[i].stride)
      reach = std::numeric_limits<int64_t>::max();
    else if (llvm::AddOverflow(reach, (dims[k].size - 1) * dims[k].stride,
                               reach))
      reach = std::numeric_limits<int64_t>::max();
    divisor = std::gcd(divisor, dims[k].stride);
  }
  if (dims[i].stride > reach)
    return true;
  return divisor != 0 &&
         divisor / std::gcd(divisor, dims[i].stride) >= dims[i].size;
}

/// The dimensions without which the question is the same are left out.
static SmallVector<Dim> dropApart(SmallVector<Dim> dims) {
  for (size_t i = 0; i != dims.size();) {
    if (!isApart(dims, i)) {
      ++i;
      continue;
    }
    dims.erase(dims.begin() + i);
    i = 0;
  }
  return dims;
}

bool Layout::isInjective() const {
  if (isEmpty(*this))
    return true;
  SmallVector<Dim> dims;
  for (auto [size, stride] : zip(sizes, strides))
    if (size != 1)
      dims.push_back({std::abs(stride), size});
  if (any_of(dims, [](Dim dim) { return dim.stride == 0; }))
    return false;
  // Of two dimensions that are left each can take the other's steps back.
  dims = dropApart(std::move(dims));
  if (dims.size() <= 2)
    return dims.empty();
  Layout core;
  for (Dim dim : dims) {
    core.sizes.push_back(dim.size);
    core.strides.push_back(dim.stride);
  }
  auto runs = listRuns(core);
  return runs && std::adjacent_find(runs->begin(), runs->end(),
                                    [](const Range &a, const Range &b) {
                                      return a.overlaps(b);
                                    }) == runs->end();
}
