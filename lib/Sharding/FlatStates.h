//===- FlatStates.h - Declarations of flat states ---------------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_FLATSTATES_H
#define WEFT_LIB_SHARDING_FLATSTATES_H

#include "Buckets.h"

namespace weft {

/// A tensor that has become a part of a flat state.
struct FlatPart {
  mlir::FlatSymbolRefAttr symbol;
  mlir::RankedTensorType type;
  int64_t begin = 0;
  mlir::Location loc;
};

/// A flat state and its parts in order.
struct FlatState {
  mlir::FlatSymbolRefAttr symbol;
  mlir::RankedTensorType type;
  std::vector<FlatPart> parts;
};

/// Declares the flat parameter and the flat states of a bucket in place of
/// those of its members, and returns them.
std::vector<FlatState> declareFlatStates(const Bucket &bucket);

/// The modules that two scopes are in: "h.0" of "h.0.attn" and "h.0.mlp", ""
/// where they share none.
llvm::StringRef getCommonScope(llvm::StringRef a, llvm::StringRef b);

/// Makes all programs of the module read and write `states` in place of their
/// parts. Updates and roundings of all parts alike become one of the whole.
void rewritePrograms(mlir::ModuleOp module, llvm::ArrayRef<FlatState> states);

} // namespace weft

#endif // WEFT_LIB_SHARDING_FLATSTATES_H
