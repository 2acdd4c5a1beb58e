//===- Gradients.h - Looking into gradients ---------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_GRADIENTS_H
#define WEFT_RUNTIME_RUN_GRADIENTS_H

#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Reports/NanHunt.h"

namespace weft {

/// Rank 0 writes the gradients, the mean over all ranks, under the names of
/// their parameters. All ranks call.
Status writeGradients(WeftContext &context, const std::string &path);

/// "that of 'w' is not (element 3)": the first gradient held here that is not
/// finite; "" if all are.
Expected<std::string> findBadGradient(const WeftContext &context);

/// Every gradient, parameter and rank that `faults` are about exists: else exit
/// 2.
Status checkFaults(const WeftExecutable &executable, int64_t ranks,
                   const Faults &faults);
/// Breaks the gradients that `faults` want broken in `step`, and tells `hunt`,
/// which may be null.
Status breakGradients(WeftContext &context, const Faults &faults, int64_t step,
                      NanHunt *hunt);
/// Has the update of all ranks find that a gradient of this one is not finite.
Status spoilGradients(WeftContext &context);
/// Inverts a bit of each weight that `faults` want to differ on this rank after
/// `step`.
Status flipWeights(WeftContext &context, const Faults &faults, int64_t step);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_GRADIENTS_H
