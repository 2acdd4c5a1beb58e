//===- FiniteDifference.h - Gradients against finite differences *- C++ -*-===//
//
// Checks the gradients that weft-autodiff builds against central differences of
// the loss, both computed by the reference interpreter in f64. If they differ,
// the first op (in program order) whose own adjoint is wrong is found by
// checking each op alone on the values that it had in the program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_AUTODIFF_FINITEDIFFERENCE_H
#define WEFT_AUTODIFF_FINITEDIFFERENCE_H

#include "weft/Autodiff/Passes.h"
#include "weft/Interp/Interp.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

struct GradientCheckOptions {
  /// Largest relative error of a gradient, in the L2 norm of its tensor.
  double tolerance = 1e-6;
  int64_t seed = 1;
  /// Elements compared of each tensor; a larger tensor is sampled, and compared
  /// along one random direction too. 0 compares all.
  int64_t elements = 32;
  /// Where gradients of low-precision copies are added (see weft-autodiff).
  GradDtype gradDtype = GradDtype::F32;
  /// f32 tensors become f64. Without, constants are only as good as f32; needed
  /// where low-precision ops have f32 results.
  bool convertsToF64 = true;
  /// Factor of the drawn values of floating-point inputs of the model. Larger
  /// values reach the cases of an op that is defined by cases.
  double inputScale = 1;
  /// Inputs by name and parameters by name that are not drawn from the seed.
  TensorMap inputs, states;
};

/// The gradient of one parameter.
struct GradientError {
  std::string name;
  /// Relative error of the compared elements: L2 norm of the difference divided
  /// by the L2 norm of the gradient.
  double error = 0;
  double norm = 0;
  /// L2 norm of the difference.
  double difference = 0;
  int64_t compared = 0;
  /// Without a gradient, finite differences are compared with zeros.
  bool hasGradient = true;
  bool isEqual = true;
};

/// An op whose adjoint is wrong.
struct OpGradientError {
  std::string op;
  mlir::Location location;
  std::string scope;
  /// The operand whose gradient is wrong.
  unsigned operand;
  double error;
  bool hasGradient = true;
};

struct GradientCheck {
  double loss = 0;
  std::vector<GradientError> parameters;
  std::optional<OpGradientError> firstWrongOp;

  bool isEqual() const;
};

/// Checks the gradient of every trainable parameter of the program of kind
/// `model`; ties are resolved. Parameters that start as constants are moved a
/// little, so that no gradient is zero by accident. The module is not changed.
/// Fails with an error if a pass or the interpreter does.
llvm::FailureOr<GradientCheck>
checkGradients(mlir::ModuleOp module, const GradientCheckOptions &options = {});

/// One line for each parameter (or each wrong one), then the first wrong op.
std::string gradientTable(const GradientCheck &check, bool onlyWrong = false);

/// Makes every f32 tensor and constant of the module f64.
void convertToF64(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_AUTODIFF_FINITEDIFFERENCE_H
