//===- FlatStates.h - Declarations of flat states ---------------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_FLATSTATES_H
#define WEFT_LIB_SHARDING_FLATSTATES_H

#include "FormBuckets.h"

namespace weft {

/// A tensor that has become a segment of a flat state.
struct FlatPart {
  mlir::FlatSymbolRefAttr symbol;
  mlir::RankedTensorType type;
  int64_t begin = 0;
  mlir::Location loc;
};

/// A flat state and its segments in order.
struct FlatState {
  mlir::FlatSymbolRefAttr symbol;
  mlir::RankedTensorType type;
  std::vector<FlatPart> parts;
};

/// Replaces the parameters and states of the members of a bucket by the flat
/// parameter and the flat states. Returns the flat ones.
std::vector<FlatState> declareFlatStates(const Bucket &bucket);

/// Makes all programs of the module read and write `states` instead of their
/// segments. Equal updates, or roundings, of all segments become one op on the
/// flat state.
void rewritePrograms(mlir::ModuleOp module, llvm::ArrayRef<FlatState> states);

} // namespace weft

#endif // WEFT_LIB_SHARDING_FLATSTATES_H
