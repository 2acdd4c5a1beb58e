//===- Simulate.h - What a step would take on a cluster ---------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_SIMULATE_H
#define WEFT_TOOLS_WEFT_SIMULATE_H

#include "weft/Base/Flags.h"

namespace weft {

/// The flags of `weft compile --dry-run`.
std::vector<FlagSpec> simulateFlags();

/// Compiles a model up to the plan for its mesh and the meshes beside it, and
/// prints what a step takes by the estimates. Writes no file.
Status simulateModel(const FlagValues &flags, const std::string &model);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_SIMULATE_H
