//===- NamedStates.h - States by the names of checkpoints -------*- C++ -*-===//
//
// A parameter and its states are separate states or segments of flat states,
// replicated on all ranks or sharded. The functions here access each of them by
// its checkpoint name as one whole tensor, joined over all ranks, so that
// modules with different layouts can be set and compared. In a module with one
// rank, a sharded state keeps its symbol.
//
// Replicas must be equal bit for bit, else an error is reported. Only gradients
// may differ until they are reduced; their value is the mean over ranks.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERP_NAMEDSTATES_H
#define WEFT_INTERP_NAMEDSTATES_H

#include "weft/Interp/RanksRunner.h"

#include <optional>

namespace weft {

/// Every parameter and state that has a value. Segments replace the flat states
/// that contain them.
llvm::FailureOr<TensorMap> getNamedStates(const RanksRunner &ranks);

/// Names of the parameters that are tensors or segments of their own.
std::vector<std::string> getNamedParameters(const RanksRunner &ranks);

/// Nothing if there is none of that name or it has no value yet.
llvm::FailureOr<std::optional<Tensor>> findNamedState(const RanksRunner &ranks,
                                                      llvm::StringRef name);

/// Sets a parameter or state, or the elements of a segment, on all ranks that
/// hold some of it; a flat state without a value is zero elsewhere.
llvm::LogicalResult setNamedState(RanksRunner &ranks, llvm::StringRef name,
                                  Tensor value);

} // namespace weft

#endif // WEFT_INTERP_NAMEDSTATES_H
