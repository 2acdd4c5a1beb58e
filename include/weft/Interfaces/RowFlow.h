//===- RowFlow.h - Dependence of values on rows of a batch ------*- C++ -*-===//
//
// A batch has rows: entries of its first dimension, which data files number. A
// loss does not depend on how rows are split into batches if it is the mean
// over rows of values that each depend on one row alone. Ops say how their
// results depend on rows (RowFlowOpInterface), and `weft-derive-programs`
// follows them from the inputs to the loss.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERFACES_ROWFLOW_H
#define WEFT_INTERFACES_ROWFLOW_H

#include <cstdint>

namespace weft {

struct RowFlow {
  enum class Kind {
    Fixed,  // the same for every batch
    Rows,   // entries along `dim` belong to rows, in order and in equal numbers
    Mean,   // a mean over rows of values of single rows
    Unknown // anything else
  };

  Kind kind = Kind::Unknown;
  int64_t dim = 0; // Rows: where rows are
  uint64_t varies =
      0; // Fixed: bit d is set if entries along dimension d differ

  static RowFlow fixed(uint64_t varies) { return {Kind::Fixed, 0, varies}; }
  static RowFlow rows(int64_t dim) { return {Kind::Rows, dim, 0}; }
  static RowFlow mean() { return {Kind::Mean, 0, 0}; }
  static RowFlow unknown() { return {}; }

  bool isFixed() const { return kind == Kind::Fixed; }
  bool isRows() const { return kind == Kind::Rows; }
  bool isMean() const { return kind == Kind::Mean; }
  bool isUnknown() const { return kind == Kind::Unknown; }
  bool variesAlong(int64_t d) const { return varies >> d & 1; }
};

} // namespace weft

#endif // WEFT_INTERFACES_ROWFLOW_H
