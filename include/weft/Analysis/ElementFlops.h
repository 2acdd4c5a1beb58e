//===- ElementFlops.h - Arithmetic of the ops of kernels --------*- C++ -*-===//

#ifndef WEFT_ANALYSIS_ELEMENTFLOPS_H
#define WEFT_ANALYSIS_ELEMENTFLOPS_H

#include <optional>

namespace mlir {
class Operation;
} // namespace mlir

namespace weft {

/// Floating-point operations for one element of an op in a kernel, for
/// estimates: an addition is one, a special function as many as what computes
/// it. Nothing for an op that is not listed: weft-lower-to-plan refuses it.
std::optional<double> getElementFlops(mlir::Operation *op);

} // namespace weft

#endif // WEFT_ANALYSIS_ELEMENTFLOPS_H
