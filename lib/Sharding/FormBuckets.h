//===- FormBuckets.h - Parameters in one flat state -------------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_FORMBUCKETS_H
#define WEFT_LIB_SHARDING_FORMBUCKETS_H

#include "weft/Sharding/Units.h"

namespace weft {

/// A parameter with its states.
struct Member {
  ParamOp param;
  /// The states that belong to it, in the order of the module.
  llvm::SmallVector<StateOp, 4> states;
  /// The op of `apply` that computes its new value, or null.
  mlir::Operation *update = nullptr;

  /// The role of the state `symbol` for the parameter: "" for the parameter
  /// itself, "grad" for `PARAM.grad`. Nothing if it is not a state of the
  /// parameter.
  std::optional<llvm::StringRef> getSlot(llvm::StringRef symbol) const;
};

/// Parameters of one unit with the same storage and the same update, one after
/// the other.
struct Bucket {
  /// The flat parameter is `@NAME`, its states `@NAME.SLOT`.
  std::string name;
  /// The name of the unit.
  std::string unit;
  llvm::SmallVector<Member, 8> members;
  /// The offset of each member, and the number of elements including gaps.
  llvm::SmallVector<int64_t, 8> begins;
  int64_t elements = 0;
};

/// The parameters of a module without flat states. Fails with an error on an op
/// that cannot be in a flat state.
mlir::FailureOr<std::vector<Member>> collectMembers(mlir::ModuleOp module);

/// Forms the buckets of at least two parameters, or of all parameters if there
/// is a mesh. Each member begins at a multiple of `align` elements. The size of
/// a bucket is a multiple of `align` for each rank.
std::vector<Bucket> formBuckets(mlir::ModuleOp module,
                                llvm::ArrayRef<Member> members, UnitRule rule,
                                int64_t align);

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

/// The innermost module that contains both scopes: "h.0" for "h.0.attn" and
/// "h.0.mlp". "" if there is none.
llvm::StringRef getCommonScope(llvm::StringRef a, llvm::StringRef b);

/// Makes all programs of the module read and write `states` instead of their
/// segments. Equal updates, or roundings, of all segments become one op on the
/// flat state.
void rewritePrograms(mlir::ModuleOp module, llvm::ArrayRef<FlatState> states);

} // namespace weft

#endif // WEFT_LIB_SHARDING_FORMBUCKETS_H
