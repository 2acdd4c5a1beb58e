//===- Simulation.h - What a step takes on a mesh ---------------*- C++ -*-===//
//
// Nothing runs: a model is compiled up to the plan, whose estimates say what a
// step takes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_SIMULATE_SIMULATION_H
#define WEFT_PIPELINE_SIMULATE_SIMULATION_H

#include "weft/Analysis/StepEstimate.h"
#include "weft/Pipeline/Driver/Compiler.h"

#include <string>
#include <vector>

namespace weft {

/// One way to spread a model over ranks, and what a step takes then.
struct Outlook {
  std::string mesh; // "" for one rank
  std::string zero;
  /// Why there is nothing of what follows, a line, or "".
  std::string problem = {};
  int64_t ranks = 1;
  /// Of all ranks, in a step; 0 for a model that reads none.
  int64_t tokens = 0;
  StepEstimate step = {};
  /// By the costs of a file, not at the known rates of the target.
  bool hasGivenRates = false;
  /// Memory of a rank: arena and workspaces.
  int64_t peakBytes = 0;
  /// Memory of a device outside them, as Target::getReserved() says.
  int64_t reservedBytes = 0;

  double getTokensPerSecond() const;
  /// The part of the time of collectives in which something is computed.
  double getHiddenPart() const;
};

/// The mesh and ZeRO stage that the flags name, then the other stages, half and
/// twice the ranks, and the same ranks as slices with replicas or in one row;
/// with `--cluster` slices may be nodes. `compiler` has loaded the model and
/// keeps snapshots. An error if what the flags name cannot be compiled; others
/// say it themselves.
Expected<std::vector<Outlook>> simulateLayouts(Compiler &compiler);

} // namespace weft

#endif // WEFT_PIPELINE_SIMULATE_SIMULATION_H
