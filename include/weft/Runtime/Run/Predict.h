//===- Predict.h - Results of rows of data ----------------------*- C++ -*-===//
//
// Runs program `predict` over all rows of a data source, in file order. Its
// outputs have one entry for each row of a batch, along their first dimension.
// Ranks take turns: rank n mod W runs batch n. Rank 0 gets the results of all.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_PREDICT_H
#define WEFT_RUNTIME_RUN_PREDICT_H

#include "weft/Formats/Safetensors.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Metadata.h"

#include <functional>
#include <vector>

namespace weft {

struct RunOptions;

/// In the metadata of a file of predictions: the step of the weights.
constexpr const char *kStepKey = "step";

/// Takes the next `rows` rows of output `index` of the program.
using RowSink =
    std::function<Status(size_t index, int64_t rows, const char *data)>;

/// Checks that a run with --predictions has the program: exit 2.
Status checkPredict(const RunOptions &options,
                    const WeftExecutable &executable);

/// The tensors of a file with the outputs for `rows` rows.
std::vector<TensorSpec> describePredictions(const WeftProgram &program,
                                            int64_t rows);

/// Rank 0 hands the rows of `source` to `sink`, in order; the last batch may
/// have fewer rows. False if another rank has the error: all ranks end before
/// the batch that one of them cannot read, or behind one that rank 0 cannot
/// write. A rank that fails otherwise leaves the others.
Expected<bool> predictRows(WeftContext &context, const Metadata &metadata,
                           const DataSource &source, const RowSink &sink);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_PREDICT_H
