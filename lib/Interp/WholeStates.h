//===- WholeStates.h - One tensor of all ranks ------------------*- C++ -*-===//

#ifndef WEFT_LIB_INTERP_WHOLESTATES_H
#define WEFT_LIB_INTERP_WHOLESTATES_H

#include "weft/Interp/RanksRunner.h"

#include <optional>

namespace weft {

/// Whether the slices of all ranks are joined: one rank has no more than its
/// own.
bool isJoined(const RanksRunner &ranks, llvm::StringRef state);

/// A parameter or state, or the list of elements that a flat one is a slice of.
/// Nothing if it has no value.
llvm::FailureOr<std::optional<Tensor>> readWhole(const RanksRunner &ranks,
                                                 llvm::StringRef state);

/// The same of a state whose ranks need not agree: the first one's that has it.
llvm::FailureOr<std::optional<Tensor>> readFirst(const RanksRunner &ranks,
                                                 llvm::StringRef state);

/// Gives each rank its part.
llvm::LogicalResult writeWhole(RanksRunner &ranks, llvm::StringRef state,
                               const Tensor &value);

/// `count` elements from `begin` on, to those from `at` on.
void copyElements(const Tensor &from, int64_t begin, Tensor &to, int64_t at,
                  int64_t count);

} // namespace weft

#endif // WEFT_LIB_INTERP_WHOLESTATES_H
