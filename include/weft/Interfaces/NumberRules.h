//===- NumberRules.h - Numbers that attributes may hold ---------*- C++ -*-===//
//
// Rules for the numbers of random draws and loss scales: in flags, op
// attributes and edited dumps.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERFACES_NUMBERRULES_H
#define WEFT_INTERFACES_NUMBERRULES_H

#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace weft {

using ErrorFn = llvm::function_ref<mlir::InFlightDiagnostic()>;

llvm::LogicalResult verifyFinite(ErrorFn emitError, llvm::StringRef name,
                                 double number);
/// Mean and standard deviation; the bounds of a uniform distribution.
llvm::LogicalResult verifyNormal(ErrorFn emitError, double mean, double std);
llvm::LogicalResult verifyUniform(ErrorFn emitError, double low, double high);

/// The f32 that a loss scale is stored as; none unless it is above 0, finite
/// and has a finite inverse. `kScaleRule` says so.
std::optional<float> toLossScale(double number);
inline constexpr const char *kScaleRule =
    "to be above 0 and finite in f32, as its inverse";

} // namespace weft

#endif // WEFT_INTERFACES_NUMBERRULES_H
