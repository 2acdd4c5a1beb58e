//===- OpTable.h - What each op computes ------------------------*- C++ -*-===//
//
// One function for each op, found by the op's name. A function reads its
// operands and fills its results, which are zeros of their declared types at
// entry; the caller rounds them. A command of a plan has what it reads as
// operands and what it writes as results, each in its order: those of the weft
// op, whose function runs both.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_OPTABLE_H
#define WEFT_LIB_INTERP_OPTABLE_H

#include "weft/Interp/Interp.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/StringMap.h"

namespace weft {

/// One evaluation of one op.
struct OpCall {
  mlir::Operation *op;
  llvm::ArrayRef<const Tensor *> operands;
  Interpreter &interpreter;
  llvm::SmallVector<Tensor> results;

  const Tensor &operand(unsigned index) const { return *operands[index]; }
  Tensor &result(unsigned index = 0) { return results[index]; }
  /// Operand 0 cast to `dtype` where the op has one: rounded in f32 mode.
  Tensor castOperand(std::optional<mlir::Type> dtype) const;
  template <typename OpT> OpT as() const { return llvm::cast<OpT>(op); }
  mlir::InFlightDiagnostic fail() const { return op->emitOpError(); }
};

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

/// Runs the function of the op and rounds its results as the mode asks.
llvm::LogicalResult evaluate(OpCall &call);

/// The error of an op that reads a parameter without a value.
mlir::InFlightDiagnostic reportNoValue(mlir::Operation *op,
                                       llvm::StringRef state);

/// Runs the kernel of that name on the operands.
llvm::LogicalResult evaluateKernel(OpCall &call,
                                   mlir::FlatSymbolRefAttr kernel);

/// Adds the products of matrices, transposed first or not, to `sum`.
void addProducts(const Tensor &lhs, bool transposeLhs, const Tensor &rhs,
                 bool transposeRhs, Tensor &sum);

/// Writes a row of `bias` over every row.
void fillRows(Tensor &tensor, const Tensor &bias);

double relu(double x);
double geluTanh(double x);

/// The draws of init programs: number `element` of the parameter `key`.
double drawNormal(int64_t seed, llvm::StringRef key, int64_t element,
                  double mean, double std);
double drawUniform(int64_t seed, llvm::StringRef key, int64_t element,
                   double low, double high);

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
