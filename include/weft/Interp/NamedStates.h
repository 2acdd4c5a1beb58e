//===- NamedStates.h - States by the names of checkpoints -------*- C++ -*-===//
//
// Parameters, and what is kept of them, are states of their own or segments of
// flat ones, which ranks hold whole or in slices. Under their own names they
// can be given to a module and compared between modules whichever they are: as
// whole tensors, one of all ranks together. A state in slices of a module with
// one rank keeps its symbol.
//
// What several ranks hold is the same on all of them, bit for bit, or an error.
// Gradients alone may differ, until they are reduced: they stand for their
// mean.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERP_NAMEDSTATES_H
#define WEFT_INTERP_NAMEDSTATES_H

#include "weft/Interp/RanksRunner.h"

#include <optional>

namespace weft {

/// Every parameter and state that has a value, segments in place of the flat
/// states that they lie in.
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
