//===- Compare.h - Same results before and after a pass ---------*- C++ -*-===//

#ifndef WEFT_INTERP_COMPARE_H
#define WEFT_INTERP_COMPARE_H

#include "weft/Interp/Interp.h"

namespace weft {

struct CompareOptions {
  ComputeMode mode = ComputeMode::F64;
  int64_t seed = 0;
  /// Rounds of (micro, apply).
  int64_t steps = 1;
  /// Allowed difference, relative to the largest magnitude in the tensor or to
  /// kSmallMagnitude, whichever is larger.
  double tolerance = 1e-12;
  /// Inputs and states that are given: inputs of all ranks, or of one alone
  /// (nameOfRank). Without states, parameters have their
  /// initial values plus normal numbers, so that zeros and ones hide nothing.
  TensorMap inputs, states;
  /// Inputs with one value for all elements.
  std::map<std::string, double> fills;
};

/// Tensors below this are compared absolutely: an exact zero is noise in both.
constexpr double kSmallMagnitude = 1e-3;

/// The largest difference of one tensor that both modules have.
struct TensorDifference {
  std::string program;
  std::string name; // states with '@'
  double maxAbs = 0;
  double maxRel = 0;   // over the largest magnitude in either tensor
  bool isEqual = true; // within the tolerance
};

struct Comparison {
  std::vector<TensorDifference> tensors;
  /// "program '@apply' is only in the second module", ...
  std::vector<std::string> notes;

  /// Something was compared and nothing differs.
  bool isEqual() const;
};

TensorDifference compareTensors(const Tensor &a, const Tensor &b,
                                double tolerance);

/// Runs the programs that both modules have, by name, with the same inputs and
/// initial states, and compares outputs of each rank and all states. If one of
/// the modules has a mesh, both run on its ranks. A model program that
/// the second module no longer has is compared with its micro and eval
/// programs.
llvm::FailureOr<Comparison> compareModules(mlir::ModuleOp a, mlir::ModuleOp b,
                                           const CompareOptions &options);

/// One line for each tensor that differs, one for each program, and the notes.
std::string comparisonTable(const Comparison &comparison);

} // namespace weft

#endif // WEFT_INTERP_COMPARE_H
