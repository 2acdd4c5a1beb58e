//===- EvalPlan.h - Which batches an evaluation runs ------------*- C++ -*-===//
//
// An evaluation of R rows counts each of them once, with a program for B rows.
// Full batches come first. The remaining r = R mod B rows share one more batch,
// which is filled up with copies of the last row; a second one holds that row
// alone, and its loss is subtracted for the copies. This needs a loss that is a
// mean over rows (`weft.row_mean`); of others the remainder is left out.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_EVALPLAN_H
#define WEFT_RUNTIME_RUN_EVALPLAN_H

#include "weft/Runtime/Execute/Metadata.h"

#include <cstdint>

namespace weft {

/// One run of a program: `rows` rows from `first` on, the last of them repeated
/// until the batch is full.
struct EvalBatch {
  int64_t first = 0, rows = 0;
  /// How many rows its loss stands for; negative for one that is subtracted.
  int64_t weight = 0;
};

class EvalPlan {
public:
  /// `available` is the rows of the data; `mostBatches` 0: all of them.
  EvalPlan(const Metadata &metadata, int64_t available, int64_t mostBatches);

  /// Rows that count; the weights of the batches add up to it.
  int64_t rows() const { return counted; }
  /// Rows that there are.
  int64_t available() const { return all; }
  /// Whether rows are left out because no more batches were asked for.
  bool isSample() const { return sample; }
  int64_t size() const { return full + remainder; }
  EvalBatch at(int64_t index) const;

private:
  int64_t batch, all;
  int64_t full = 0;      // batches without copies
  int64_t remainder = 0; // batches of the remaining rows
  int64_t counted = 0;
  bool sample = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_EVALPLAN_H
