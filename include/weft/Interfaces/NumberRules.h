//===- NumberRules.h - Numbers that attributes may hold ---------*- C++ -*-===//
//
// Of random draws, updates and loss scales: for flags, attributes of ops and
// what a dump was edited to.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERFACES_NUMBERRULES_H
#define WEFT_INTERFACES_NUMBERRULES_H

#include "mlir/IR/Diagnostics.h"

#include <optional>
#include <string>

namespace weft {

using ErrorFn = llvm::function_ref<mlir::InFlightDiagnostic()>;

llvm::LogicalResult verifyFinite(ErrorFn emitError, llvm::StringRef name,
                                 double number);
/// Mean and standard deviation; the bounds of a uniform distribution.
llvm::LogicalResult verifyNormal(ErrorFn emitError, double mean, double std);
llvm::LogicalResult verifyUniform(ErrorFn emitError, double low, double high);

/// How a loss scale moves: the numbers of its update.
struct ScalerRates {
  llvm::StringRef policy; // "torch", "deepspeed", ...
  double growth, backoff;
  int64_t interval, hysteresis;
  double minimum;
  bool consecutive;
};

/// A number that is no part of a loss scale.
struct ScalerProblem {
  std::string name; // of the number
  std::string rule; // "to be above 1"
  std::string value;

  /// "expects NAME RULE, but got VALUE".
  std::string spell() const {
    return "expects " + name + " " + rule + ", but got " + value;
  }
};

ScalerProblem makeProblem(const char *name, const char *rule, double number);

/// The first rule that the numbers break. A scale is an f32 and is multiplied
/// in f32: what counts is a number's value there.
std::optional<ScalerProblem> findProblem(const ScalerRates &rates);

/// Whether the policy counts overflows before it acts.
bool hasHysteresis(llvm::StringRef policy);

/// The f32 that a loss scale is stored as; none unless it is above 0, finite
/// and has a finite inverse. `kScaleRule` says so.
std::optional<float> toLossScale(double number);
inline constexpr const char *kScaleRule =
    "to be above 0 and finite in f32, as its inverse";

} // namespace weft

#endif // WEFT_INTERFACES_NUMBERRULES_H
