//===- Gradients.h - Inspecting and changing gradients ----------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_GRADIENTS_H
#define WEFT_RUNTIME_RUN_GRADIENTS_H

#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Reports/NanHunt.h"

namespace weft {

/// Rank 0 writes the gradients, the mean over all ranks, under the names of
/// their parameters. All ranks call it.
Status writeGradients(WeftContext &context, const std::string &path);

/// A clause for messages about the first gradient on this rank that is not
/// finite, with parameter and element; "" if all are finite.
Expected<std::string> findBadGradient(const WeftContext &context);

/// Exit 2 unless every gradient, parameter and rank of `faults` exists.
Status checkFaults(const WeftExecutable &executable, int64_t ranks,
                   const Faults &faults);
/// Writes the non-finite values that `faults` request for `step` into
/// gradients, and reports them to `hunt`, which may be null.
Status breakGradients(WeftContext &context, const Faults &faults, int64_t step,
                      NanHunt *hunt);
/// Makes a gradient of this rank non-finite, so that no rank updates.
Status spoilGradients(WeftContext &context);
/// Inverts a bit of each weight that `faults` flip on this rank after `step`.
Status flipWeights(WeftContext &context, const Faults &faults, int64_t step);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_GRADIENTS_H
