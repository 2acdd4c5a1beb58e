//===- PresenceCounts.h - Which steps have gradients ------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_PRESENCECOUNTS_H
#define WEFT_LIB_AUTODIFF_PRESENCECOUNTS_H

#include "Branches.h"

namespace weft {

/// Parameters that are used in the same branches alone share a state, which
/// counts the micro-steps of a step that have taken one of these.
class PresenceCounts {
public:
  /// The state of parameters that those branches decide about, or null.
  StateOp find(const Deciding &deciding) const;
  void add(const Deciding &deciding, StateOp state);

  /// The new value of each state, built at the insertion point: with `flag`
  /// (weft.accumulate) added to the old one.
  llvm::SmallVector<std::pair<llvm::StringRef, mlir::Value>>
  count(Branches &branches, mlir::OpBuilder &builder, BackwardOps &backward,
        mlir::Value flag) const;

private:
  struct Entry {
    Deciding deciding;
    StateOp state;
  };
  llvm::SmallVector<Entry> entries;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_PRESENCECOUNTS_H
