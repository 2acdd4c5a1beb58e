//===- OpTable.h - What each op computes ------------------------*- C++ -*-===//
//
// One function for each op of weft and plan, found by the op's name.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_OPTABLE_H
#define WEFT_LIB_INTERP_OPTABLE_H

#include "weft/Interp/OpCall.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/StringMap.h"

namespace weft {

using OpFunction = std::function<llvm::LogicalResult(OpCall &)>;
using OpTable = llvm::StringMap<OpFunction>;

void addStructureOps(OpTable &table);
void addElementwiseOps(OpTable &table);
void addShapeOps(OpTable &table);
void addMatmulOps(OpTable &table);
void addNormOps(OpTable &table);
void addAttentionOps(OpTable &table);
void addLossOps(OpTable &table);
void addRandomOps(OpTable &table);
void addTrainingOps(OpTable &table);
void addScalerOps(OpTable &table);
/// Commands that no weft op says alone.
void addPlanCommands(OpTable &table);

/// All ops; built once.
const OpTable &getOpTable();

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

private:
  int64_t seed;
  int64_t firstRow;
  int64_t opId;
  double p;
  double keepScale;
};

} // namespace weft

#endif // WEFT_LIB_INTERP_OPTABLE_H
