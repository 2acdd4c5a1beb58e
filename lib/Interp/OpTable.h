//===- OpTable.h - What each op computes ------------------------*- C++ -*-===//
//
// One function for each op, found by the op's name. A function reads its
// operands and fills its results, which are zeros of their declared types at
// entry; the caller rounds them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_OPTABLE_H
#define WEFT_LIB_INTERP_OPTABLE_H

#include "weft/Interp/Interp.h"
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

/// All ops; built once.
const OpTable &getOpTable();

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
