//===- Phase.h - One step of a compilation ----------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_TARGETS_PHASE_H
#define WEFT_PIPELINE_TARGETS_PHASE_H

#include <vector>

namespace weft {

/// Ops of the module after a phase, for `--emit`.
enum class Level { Graph, Dist, Plan, Llvm, Output };

/// The steps of a compilation. A target runs the phases of its list.
enum class Phase {
  Import,
  Verify,
  TieParams,
  InferShapes,
  ApplyGroups,
  Autocast,
  DerivePrograms,
  MarkRecompute,
  Autodiff,
  LossScale,
  ExpandOptimizer,
  WorkingCopies,
  Shard,
  Bucket,
  Partition,
  SelectKernels,
  Decompose,
  Fuse,
  LowerToPlan,
  AlignProducts,
  GroupLaunches,
  Estimate,
  Schedule,
  AssignStreams,
  PlanMemory,
  VerifyPlan,
  /// Kernels become code of the target. Its kind names it: "lower-to-cpu".
  LowerToTarget,
  Emit,
};

struct PhaseInfo {
  Phase phase;
  const char *name;     // "autodiff"
  const char *contract; // the property that holds after it, one line
  Level level;
};

/// Everything but the name and contract of Phase::LowerToTarget, which the kind
/// of a target has.
const PhaseInfo &getPhaseInfo(Phase phase);

/// The phases of a target with one queue of commands, in order: Import first,
/// Emit last.
std::vector<Phase> getCommonPhases();

} // namespace weft

#endif // WEFT_PIPELINE_TARGETS_PHASE_H
