//===- Evaluate.h - The loss of validation data -----------------*- C++ -*-===//
//
// Runs a program over batches of a data source and takes the mean of its losses
// over rows, added in f64. Ranks take turns: rank n mod W runs batch n.
// Where losses have denominators that data decides, these are counted over all
// batches first.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_EVALUATE_H
#define WEFT_RUNTIME_RUN_EVALUATE_H

#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Data/Windows.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/EvalPlan.h"

namespace weft {

/// Fills the inputs `ports` of a program with the rows of `source` that `rows`
/// lists, as many as a port has.
Status fillRows(const WeftContext &context, const std::vector<WeftPort> &ports,
                const DataSource &source, const std::vector<int64_t> &rows);

/// Adds the loss of one run of a program, and the terms that have names.
void addLosses(const WeftContext &context, const WeftProgram &program,
               double &loss, NamedNumbers &losses);
/// Sums over `count` runs or rows become means.
void takeMeans(int64_t count, double &loss, NamedNumbers &losses);

/// The means over the rows of `plan` in `val`, in file order, the same on all
/// ranks. NaN where no target counts. Nothing if another rank cannot read its
/// rows, which has the error. A rank that fails otherwise leaves them.
Expected<std::optional<EvalReport>> evaluate(WeftContext &context,
                                             const Metadata &metadata,
                                             const DataSource &val,
                                             const EvalPlan &plan);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_EVALUATE_H
