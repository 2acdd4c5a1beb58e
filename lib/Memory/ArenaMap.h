//===- ArenaMap.h - Which buffer wrote which bytes last ---------*- C++ -*-===//

#ifndef WEFT_LIB_MEMORY_ARENAMAP_H
#define WEFT_LIB_MEMORY_ARENAMAP_H

#include "weft/Plan/Plan.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

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

/// Arena bytes of a root; its offset is set.
ByteRange getRootBytes(mlir::Value root);

/// The arena while a program runs. A root owns all of its bytes from its first
/// write until another root writes one of them; within a root, the map knows
/// which elements have been written.
class ArenaMap {
public:
  /// Notes that `buffer` is written.
  void write(mlir::Value buffer);

  /// Checks that every element of `buffer` was written and is still there.
  llvm::LogicalResult read(mlir::Operation *op, mlir::Value buffer);

private:
  /// Element ranges written in one root: sorted and disjoint after `merge`.
  struct Written {
    bool isWhole = false;
    std::vector<ByteRange> runs;
    /// Written since the last merge.
    std::vector<ElementRows> added;
    void merge();
    bool covers(const ByteRange &run) const;
  };
  struct Owner {
    int64_t end;
    mlir::Value root;
  };

  void claim(mlir::Value root);

  /// By first byte; disjoint.
  std::map<int64_t, Owner> owners;
  llvm::DenseMap<mlir::Value, Written> written;
  /// The root that took bytes of another one.
  llvm::DenseMap<mlir::Value, mlir::Value> takenBy;
};

} // namespace weft

#endif // WEFT_LIB_MEMORY_ARENAMAP_H
