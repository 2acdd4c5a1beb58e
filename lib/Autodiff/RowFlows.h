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

/// Dimensions of a tensor with several entries, as the bits of RowFlow::varies.
uint64_t getVaryingDims(mlir::Value value);

/// Gives ops their RowFlowOpInterface (RowFlowRules.cpp).
void attachRowFlows(mlir::MLIRContext *context);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_ROWFLOWS_H
