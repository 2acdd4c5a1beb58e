//===- PhasePasses.h - Passes that targets share ----------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_TARGETS_PHASEPASSES_H
#define WEFT_PIPELINE_TARGETS_PHASEPASSES_H

#include "weft/Base/Flags.h"
#include "weft/Pipeline/Targets/Phase.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace weft {

class Target;

/// Adds the passes of a phase that are the same for all targets, with the
/// options that flags and target ask for.
void addCommonPasses(Phase phase, const FlagValues &flags, const Target &target,
                     mlir::OpPassManager &passes);

} // namespace weft

#endif // WEFT_PIPELINE_TARGETS_PHASEPASSES_H
