//===- Phase.cpp - The steps of a compilation -----------------------------===//

#include "weft/Pipeline/Targets/Phase.h"

#include <iterator>

using namespace weft;

/// In the order of the enum.
static constexpr PhaseInfo kPhases[] = {
    {Phase::Import, "import", "the model as weft ops; every op has a location",
     Level::Graph},
    {Phase::Verify, "verify", "exactly one model program with a scalar loss",
     Level::Graph},
    {Phase::TieParams, "tie-params",
     "no parameter is tied: all uses read the remaining one", Level::Graph},
    {Phase::InferShapes, "infer-shapes", "every shape is static", Level::Graph},
    {Phase::ApplyGroups, "apply-groups",
     "parameters have the hyper-parameters of their group (without --groups: "
     "none)",
     Level::Graph},
    {Phase::Autocast, "autocast",
     "casts follow the precision (f32: none); no autocast region is left",
     Level::Graph},
    {Phase::DerivePrograms, "derive-programs",
     "micro, eval, init (and logits, predict) replace the model", Level::Graph},
    {Phase::MarkRecompute, "mark-recompute",
     "values that the backward pass recomputes are marked", Level::Graph},
    {Phase::Autodiff, "autodiff",
     "micro adds the gradient of each trainable parameter to its gradient "
     "state",
     Level::Graph},
    {Phase::LossScale, "loss-scale",
     "the loss gradient carries the scale, if there is one", Level::Graph},
    {Phase::ExpandOptimizer, "expand-optimizer",
     "apply checks, clips and updates; optimizer state exists", Level::Graph},
    {Phase::WorkingCopies, "working-copies",
     "weights have their low-precision copies (f32: none)", Level::Graph},
    {Phase::Shard, "shard",
     "parameters and states have layouts (without --mesh: none)", Level::Dist},
    {Phase::Bucket, "bucket",
     "parameters of a unit with the same update are in one flat state "
     "(--bucket=none: each in its own)",
     Level::Dist},
    {Phase::Partition, "partition",
     "collectives are explicit (without --mesh: none)", Level::Dist},
    {Phase::SelectKernels, "select-kernels",
     "ops that the target's library runs are claimed", Level::Dist},
    {Phase::Decompose, "decompose", "formulas replace all other composite ops",
     Level::Dist},
    {Phase::Fuse, "fuse",
     "primitive ops are outlined kernels, views and copies", Level::Dist},
    {Phase::LowerToPlan, "lower-to-plan",
     "programs are straight lines of commands on buffers", Level::Plan},
    {Phase::AlignProducts, "align-products",
     "rows and sizes of matrix products fit the device", Level::Plan},
    {Phase::GroupLaunches, "group-launches",
     "independent small kernels share a launch", Level::Plan},
    {Phase::Estimate, "estimate", "every command has an estimated time",
     Level::Plan},
    {Phase::Schedule, "schedule",
     "collectives are asynchronous and overlap with computation (one rank, "
     "--prefetch=0: unchanged)",
     Level::Plan},
    {Phase::AssignStreams, "assign-streams",
     "every command has a stream; copies and events are explicit", Level::Plan},
    {Phase::PlanMemory, "plan-memory",
     "every buffer has its offset in one arena", Level::Plan},
    {Phase::VerifyPlan, "verify-plan",
     "buffers that live at once share no byte", Level::Plan},
    {Phase::LowerToTarget, "lower-to-target", "no kernel is left", Level::Llvm},
    {Phase::Emit, "emit", "an object file linked with the runtime",
     Level::Output},
};
static_assert(std::size(kPhases) == size_t(Phase::Emit) + 1);

const PhaseInfo &weft::getPhaseInfo(Phase phase) {
  return kPhases[static_cast<size_t>(phase)];
}

/// Only for targets whose products or launches need it, or that have several
/// queues.
static bool isOptional(Phase phase) {
  return phase == Phase::AlignProducts || phase == Phase::GroupLaunches ||
         phase == Phase::AssignStreams;
}

std::vector<Phase> weft::getCommonPhases() {
  std::vector<Phase> phases;
  for (const PhaseInfo &info : kPhases)
    if (!isOptional(info.phase))
      phases.push_back(info.phase);
  return phases;
}
