//===- Buckets.h - Parameters that lie in one flat state --------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_BUCKETS_H
#define WEFT_LIB_SHARDING_BUCKETS_H

#include "weft/Sharding/Units.h"

namespace weft {

/// A parameter with what a step keeps of it.
struct Member {
  ParamOp param;
  /// The states that belong to it, in the order of the module.
  llvm::SmallVector<StateOp, 4> states;
  /// The op of `apply` that makes its new value, or null.
  mlir::Operation *update = nullptr;

  /// What the state of that name holds of the parameter: "" for the parameter,
  /// "grad" for `PARAM.grad`; nothing if it is another's.
  std::optional<llvm::StringRef> getSlot(llvm::StringRef symbol) const;
};

/// Parameters of one unit that are stored and updated alike, one after the
/// other.
struct Bucket {
  /// The flat parameter is `@NAME`, its states `@NAME.SLOT`.
  std::string name;
  /// The name of the unit.
  std::string unit;
  llvm::SmallVector<Member, 8> members;
  /// Where each member begins, and how many elements there are with gaps.
  llvm::SmallVector<int64_t, 8> begins;
  int64_t elements = 0;
};

/// The members of a module without flat states; fails with an error on an op
/// that cannot be laid out.
mlir::FailureOr<std::vector<Member>> collectMembers(mlir::ModuleOp module);

/// The buckets of at least two parameters, or of all where there is a mesh.
/// Each begins at a multiple of `align` elements, and the whole has a multiple
/// of it for each rank.
std::vector<Bucket> formBuckets(mlir::ModuleOp module,
                                llvm::ArrayRef<Member> members, UnitRule rule,
                                int64_t align);

/// A remark on each member: its layout and what decided it, its unit, and where
/// it lies.
void explainBucket(const Bucket &bucket);

} // namespace weft

#endif // WEFT_LIB_SHARDING_BUCKETS_H
