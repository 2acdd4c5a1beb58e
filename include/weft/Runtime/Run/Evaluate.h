//===- Evaluate.h - The loss of validation data -----------------*- C++ -*-===//
//
// Runs a program over batches of a data source and takes the mean of its
// losses. Ranks take turns: batch n is that of rank n mod W.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_EVALUATE_H
#define WEFT_RUNTIME_RUN_EVALUATE_H

#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Data/Windows.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Reports/Progress.h"

namespace weft {

/// Fills the inputs `ports` of a program with the rows from `firstRow` on.
Status fillRows(const WeftContext &context, const std::vector<WeftPort> &ports,
                const DataSource &source, const RowOrder &rows,
                int64_t firstRow);

/// Adds the loss of one run of a program, and the terms that have names.
void addLosses(const WeftContext &context, const WeftProgram &program,
               double &loss, NamedNumbers &losses);
/// Sums over `count` runs become means.
void takeMeans(int64_t count, double &loss, NamedNumbers &losses);

/// How many batches an evaluation of `val` takes; `most` 0: all there are.
int64_t countBatches(const DataSource &val, int64_t batch, int64_t most);

/// The means over the first `batches` batches of `val`, in file order, the same
/// on all ranks. Nothing if another rank cannot read its rows, which has the
/// error. A rank that fails otherwise leaves them.
Expected<std::optional<EvalReport>> evaluate(WeftContext &context,
                                             const Metadata &metadata,
                                             const DataSource &val,
                                             int64_t batches);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_EVALUATE_H
