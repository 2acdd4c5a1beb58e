//===- RunCollectives.h - Collectives of the interpreter --------*- C++ -*-===//
//
// One function for each collective of dist and plan
// (InterpretedCollectiveOpInterface): it has the calls of all ranks that take
// part, operands and results.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_RUNCOLLECTIVES_H
#define WEFT_LIB_INTERP_RUNCOLLECTIVES_H

#include "weft/Interp/OpCall.h"

namespace weft {

/// The calls of the ranks of a group, in the order of ranks.
using GroupCalls = llvm::ArrayRef<OpCall *>;

bool hasCollectives(mlir::ModuleOp module);

void addCollectives(mlir::MLIRContext *context);
void addCollectiveCommands(mlir::MLIRContext *context);

/// Runs the op for each group of ranks. There are calls of all ranks.
llvm::LogicalResult runCollective(InterpretedCollectiveOpInterface op,
                                  llvm::MutableArrayRef<OpCall> ranks);

/// The mean of one number of each rank, as dist.reduce_scatter says: divided by
/// `pre` and rounded to `kind`, added up in the order of ranks, divided by
/// `post` and rounded once.
class RankMean {
public:
  RankMean(double pre, double post, ElementKind kind, ComputeMode mode);
  double compute(llvm::ArrayRef<double> ranks) const;

private:
  double roundToKind(double value) const;
  double roundSum(double value) const;

  double pre, post;
  ElementKind kind;
  bool rounds;
};

} // namespace weft

#endif // WEFT_LIB_INTERP_RUNCOLLECTIVES_H
