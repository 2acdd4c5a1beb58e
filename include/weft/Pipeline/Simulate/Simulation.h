//===- Simulation.h - Estimated time of a step on a mesh --------*- C++ -*-===//
//
// Nothing runs: a model is compiled up to the plan, and the estimates of the
// plan give the time and the memory of a step.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_SIMULATE_SIMULATION_H
#define WEFT_PIPELINE_SIMULATE_SIMULATION_H

#include "weft/Analysis/Timeline.h"
#include "weft/Pipeline/Driver/Compiler.h"

#include <string>
#include <vector>

namespace weft {

/// One way to distribute a model over ranks, with the estimate of a step.
struct Outlook {
  std::string mesh; // "" for one rank
  std::string zero;
  /// One line that says why the estimates are missing, or "".
  std::string problem = {};
  /// The flags that a memory limit has chosen: "--recompute=blocks".
  std::string chosen = {};
  int64_t ranks = 1;
  /// Of all ranks, in a step; 0 for a model that reads none.
  int64_t tokens = 0;
  StepEstimate step = {};
  /// The rates come from a cost table, not from the target.
  bool hasGivenRates = false;
  /// Memory of a rank: arena and workspaces.
  int64_t peakBytes = 0;
  /// Memory of a device outside them, from Target::getReserved().
  int64_t reservedBytes = 0;

  double getTokensPerSecond() const;
  /// The fraction of the time of collectives that overlaps with computation.
  double getHiddenPart() const;
};

/// Estimates the mesh and ZeRO stage of the flags, and neighbouring layouts:
/// the other stages, half and twice the ranks, and the same ranks as shards
/// with replicas or as one flat axis. With `--cluster` the shards may span one
/// node. `compiler` has loaded the model and keeps snapshots. An error if the
/// layout of the flags cannot be compiled; each other layout records its own
/// `problem`.
Expected<std::vector<Outlook>> simulateLayouts(Compiler &compiler);

} // namespace weft

#endif // WEFT_PIPELINE_SIMULATE_SIMULATION_H
