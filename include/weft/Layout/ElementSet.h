//===- ElementSet.h - Elements of a buffer that were written ----*- C++ -*-===//

#ifndef WEFT_LAYOUT_ELEMENTSET_H
#define WEFT_LAYOUT_ELEMENTSET_H

#include "mlir/IR/BuiltinTypes.h"

#include <vector>

namespace weft {

struct ByteRange {
  int64_t begin = 0, end = 0;
  bool overlaps(const ByteRange &other) const {
    return begin < other.end && other.begin < end;
  }
};

template <typename StreamT>
StreamT &operator<<(StreamT &&stream, const ByteRange &range) {
  stream << "[" << range.begin << ", " << range.end << ")";
  return stream;
}

/// `count` runs of `run` elements whose first elements are `stride` apart.
struct ElementRows {
  int64_t begin = 0, run = 0, stride = 0, count = 1;

  /// Calls `visit` with the elements as ranges; rows that touch are one.
  template <typename VisitT> void forEachRun(VisitT &&visit) const {
    if (count == 1 || (stride >= 0 && run >= stride))
      return visit(ByteRange{begin, begin + (count - 1) * stride + run});
    for (int64_t row = 0; row != count; ++row)
      visit(ByteRange{begin + row * stride, begin + row * stride + run});
  }
};

/// The elements of one root that have been written.
class ElementSet {
public:
  /// Adds the elements of a buffer of the root, which has `rootElements`.
  void add(mlir::MemRefType buffer, int64_t rootElements);
  void add(const ElementSet &other);
  void addAll() { isWhole = true; }
  bool isEmpty() const { return !isWhole && runs.empty() && added.empty(); }
  /// Whether every element of a buffer of the root has been written.
  bool covers(mlir::MemRefType buffer);

private:
  void merge();
  bool covers(const ByteRange &run) const;

  bool isWhole = false;
  /// Sorted and disjoint if `isMerged`.
  std::vector<ByteRange> runs;
  bool isMerged = true;
  /// Written since the last merge.
  std::vector<ElementRows> added;
};

} // namespace weft

#endif // WEFT_LAYOUT_ELEMENTSET_H
