//===- OpFunctions.h - Functions that evaluate ops --------------*- C++ -*-===//
//
// One function for each op of weft and plan: its InterpretedOpInterface.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_OPFUNCTIONS_H
#define WEFT_LIB_INTERP_OPFUNCTIONS_H

#include "weft/Interp/OpCall.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

namespace weft {

using OpFunction = std::function<llvm::LogicalResult(OpCall &)>;

/// The function of an op, the same in every context.
template <typename OpT>
struct InterpretedModel
    : InterpretedOpInterface::ExternalModel<InterpretedModel<OpT>, OpT> {
  static const OpFunction &keep(OpFunction function = {}) {
    static const OpFunction kept = std::move(function);
    return kept;
  }
  llvm::LogicalResult interpret(mlir::Operation *, OpCall &call) const {
    return keep()(call);
  }
};

template <typename... OpTs>
void interpretAs(mlir::MLIRContext *context, const OpFunction &function) {
  (InterpretedModel<OpTs>::keep(function), ...);
  (OpTs::template attachInterface<InterpretedModel<OpTs>>(*context), ...);
}

void addStructureOps(mlir::MLIRContext *context);
void addElementwiseOps(mlir::MLIRContext *context);
void addShapeOps(mlir::MLIRContext *context);
void addMatmulOps(mlir::MLIRContext *context);
void addNormOps(mlir::MLIRContext *context);
void addAttentionOps(mlir::MLIRContext *context);
void addLossOps(mlir::MLIRContext *context);
void addRandomOps(mlir::MLIRContext *context);
void addTrainingOps(mlir::MLIRContext *context);
void addScalerOps(mlir::MLIRContext *context);

void addStructureCommands(mlir::MLIRContext *context);
void addMatmulCommands(mlir::MLIRContext *context);
void addAttentionCommands(mlir::MLIRContext *context);

/// Runs the function of an op, which all ranks evaluate, and rounds its results
/// as the mode asks: one call for each rank, in their order.
llvm::LogicalResult evaluate(llvm::MutableArrayRef<OpCall> ranks);

/// The error of an op that reads a parameter without a value.
mlir::InFlightDiagnostic reportNoValue(mlir::Operation *op,
                                       llvm::StringRef state);

/// Runs the kernel of that name on the operands.
llvm::LogicalResult evaluateKernel(OpCall &call,
                                   mlir::FlatSymbolRefAttr kernel);

/// Activations, and gradients of their operand at `x`.
double relu(double x);
double reluGrad(double grad, double x);
double geluTanh(double x);
double geluTanhGrad(double grad, double x);

/// The draws of init programs: number `element` of the parameter `key`.
double drawNormal(int64_t seed, llvm::StringRef key, int64_t element,
                  double mean, double std);
double drawUniform(int64_t seed, llvm::StringRef key, int64_t element,
                   double low, double high);
/// Element `index` of the initial values of a parameter.
double drawInitial(InitAttr init, llvm::StringRef name, int64_t seed,
                   int64_t index);

/// The factor of an element under dropout: 0 or 1 / (1 - p). `rng` is
/// [seed, first global row].
class DropoutMask {
public:
  DropoutMask(const Tensor &rng, int64_t opId, double p, ComputeMode mode);
  double factor(int64_t row, int64_t element) const;
  /// Of a kept element.
  static double getKeepScale(double p, ComputeMode mode);

private:
  int64_t seed;
  int64_t firstRow;
  int64_t opId;
  double p;
  double keepScale;
};

} // namespace weft

#endif // WEFT_LIB_INTERP_OPFUNCTIONS_H
