//===- SharedPhases.h - Phases of every target ------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_TARGETS_SHAREDPHASES_H
#define WEFT_PIPELINE_TARGETS_SHAREDPHASES_H

#include "weft/Base/Flags.h"
#include "weft/Pipeline/Targets/Phase.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace weft {

class Target;

struct SharedPhase {
  Phase phase;
  /// Adds the passes; null for an identity, and for import and emit.
  void (*addPasses)(const FlagValues &flags, const Target &target,
                    mlir::OpPassManager &passes);
};

/// In order: import first, emit last, and before it verify-plan, behind which
/// the phases of a target stand.
llvm::ArrayRef<SharedPhase> sharedPhases();

} // namespace weft

#endif // WEFT_PIPELINE_TARGETS_SHAREDPHASES_H
