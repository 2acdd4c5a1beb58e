//===- UpdateGroups.h - Parameters and the optimizer of each ----*- C++ -*-===//

#ifndef WEFT_LIB_TRAINING_UPDATEGROUPS_H
#define WEFT_LIB_TRAINING_UPDATEGROUPS_H

#include "weft/Weft/Weft.h"

namespace weft {

/// A parameter that is updated, its gradient, and how.
struct Update {
  ParamOp param;
  StateOp grad;
  const OptimizerInfo *optimizer;
  llvm::StringRef group; // name of the optimizer instance, "" by default

  /// The state that says whether there is a gradient; null: there always is.
  mlir::FlatSymbolRefAttr getPresence() const;
  /// The group's own number of that name, or null.
  mlir::Attribute getNumber(llvm::StringRef name) const;
  /// Whether Nesterov momentum applies, where `fallback` is the pass option.
  bool isNesterov(bool fallback) const;
};

/// The flag of that option.
inline constexpr llvm::StringLiteral kNesterov = "nesterov";

/// The optimizer that a parameter names, or "".
llvm::StringRef getOwnOptimizer(ParamOp param);

/// The optimizer instance of a parameter, or "". Without a name an instance is
/// called as its optimizer.
llvm::StringRef getInstance(ParamOp param);

/// A hyper-parameter of a parameter's own that the optimizer does not have, or
/// "".
llvm::StringRef findForeignNumber(ParamOp param,
                                  const OptimizerInfo &optimizer);

/// Symbol of a state that an optimizer keeps for a parameter.
std::string getStateSymbol(ParamOp param, llvm::StringRef name);

/// Moments of a low-precision parameter are f32.
mlir::RankedTensorType getMomentType(ParamOp param);

/// Symbol of the step counter of an optimizer instance. With `presence`, of the
/// counter for parameters that have a gradient only in some steps.
std::string getStepSymbol(llvm::StringRef group,
                          mlir::FlatSymbolRefAttr presence = {});

/// Output with the flag of one of several instances.
std::string getFoundInfOutput(llvm::StringRef group);

/// Names of the optimizer instances in the order of their first parameter.
llvm::SmallVector<llvm::StringRef>
getGroupNames(llvm::ArrayRef<Update> updates);

/// The loss scale, if `weft-loss-scale` declared one.
struct ScalerStates {
  StateOp scale; // null: no loss scale
  StateOp state; // null: the scale never changes
};

/// Names of the optimizer instances that are checked separately. Without a loss
/// scale all instances are skipped together, as one.
llvm::SmallVector<llvm::StringRef> getInstances(llvm::ArrayRef<Update> updates,
                                                const ScalerStates &scaler);

/// Symbols of the step counters of all instances, including counters for
/// parameters that have a gradient only in some steps.
std::vector<std::string> getStepSymbols(llvm::ArrayRef<Update> updates);

/// Records the facts of the update as #weft.training of the module, which has
/// no such attribute yet. Losses are still ops.
void recordTraining(mlir::ModuleOp module, llvm::ArrayRef<Update> updates,
                    ScalerStates scaler);

/// Trainable parameters with a gradient in the order of the module, or an error
/// at the parameter whose group does not fit.
llvm::FailureOr<llvm::SmallVector<Update>>
collectUpdates(mlir::ModuleOp module, llvm::StringRef defaultOptimizer);

/// Declares the states of `updates` behind their last gradient: a step counter
/// for each group and the moments of each parameter. `init` writes zeros to
/// them.
void declareOptimizerStates(ProgramOp init, llvm::ArrayRef<Update> updates);

/// Builds the program `@apply` and the states it needs. `p` is the norm that
/// clipping limits, `nesterov` the default of sgd.
void buildApplyProgram(ProgramOp init, llvm::ArrayRef<Update> updates,
                       ScalerStates scaler, double p, bool nesterov);

} // namespace weft

#endif // WEFT_LIB_TRAINING_UPDATEGROUPS_H
