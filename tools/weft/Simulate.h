//===- Simulate.h - What a step would take on a cluster ---------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_SIMULATE_H
#define WEFT_TOOLS_WEFT_SIMULATE_H

#include "weft/Base/Flags.h"

namespace weft {

/// The flags of `weft compile --dry-run`.
std::vector<FlagSpec> simulateFlags();

/// Compiles a model up to the plan for its mesh and for neighbouring meshes.
/// Prints the estimated step time of each. Writes no file.
Status simulateModel(const FlagValues &flags, const std::string &model);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_SIMULATE_H
