//===- NamedStates.h - States by the names of checkpoints -------*- C++ -*-===//
//
// Parameters, and what is kept of them, are states of their own or segments of
// flat ones. Under their own names they can be given to a module and compared
// between modules whichever they are. A state in slices keeps its symbol: one
// interpreter is no number of ranks.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERP_NAMEDSTATES_H
#define WEFT_INTERP_NAMEDSTATES_H

#include "weft/Interp/Interp.h"

#include <optional>

namespace weft {

/// Every parameter and state that has a value, segments in place of the flat
/// states that they lie in.
TensorMap getNamedStates(const ModuleRunner &runner);

/// Names of the parameters that are tensors or segments of their own.
std::vector<std::string> getNamedParameters(const ModuleRunner &runner);

/// Nothing if there is none of that name or it has no value yet.
std::optional<Tensor> findNamedState(const ModuleRunner &runner,
                                     llvm::StringRef name);

/// Sets a parameter or state, or the elements of a segment; a flat state
/// without a value is zero elsewhere.
llvm::LogicalResult setNamedState(ModuleRunner &runner, llvm::StringRef name,
                                  Tensor value);

} // namespace weft

#endif // WEFT_INTERP_NAMEDSTATES_H
