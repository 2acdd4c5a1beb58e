//===- RowFlows.h - Is a loss a mean over rows ------------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_ROWFLOWS_H
#define WEFT_LIB_AUTODIFF_ROWFLOWS_H

#include "weft/Weft/Losses.h"

namespace weft {

/// The first op from which on a term of the loss of `model` is not known to be
/// a mean over rows, or the same for all of them; null if all terms are. An
/// input without rows gives the model itself.
mlir::Operation *findSplitDependence(ProgramOp model);

/// The first op from which on result `metric` of `model` is not known to be a
/// mean over rows, as for losses; null if it is.
mlir::Operation *findSplitDependence(ProgramOp model, unsigned metric);

/// The rows of a batch of `program`: `weft.batch` of the module, else the first
/// dimension of its first input that has one.
int64_t findBatchRows(ProgramOp program);

/// How a value depends on the rows of a batch.
struct RowDependence {
  RowFlow flow;
  /// The first op that makes the flow unknown; null if it is known.
  mlir::Operation *origin = nullptr;
};

/// The dependence of each of `values`, of the body of `program`.
llvm::SmallVector<RowDependence>
findRowDependences(ProgramOp program, llvm::ArrayRef<mlir::Value> values);

/// Dimensions of a tensor with several entries, as the bits of RowFlow::varies.
uint64_t getVaryingDims(mlir::Value value);

/// Gives ops their RowFlowOpInterface (RowFlowRules.cpp).
void attachRowFlows(mlir::MLIRContext *context);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_ROWFLOWS_H
