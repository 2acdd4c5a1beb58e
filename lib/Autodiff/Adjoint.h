//===- Adjoint.h - Helpers of gradient rules --------------------*- C++ -*-===//
//
// Private to lib/Autodiff. A rule is a function `LogicalResult(OpT, Adjoint
// &)`; `attachRule` makes it the DifferentiableOpInterface model of OpT.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_ADJOINT_H
#define WEFT_LIB_AUTODIFF_ADJOINT_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Gradients of an op's results in, gradients of its operands out, and the
/// primitive ops rules are made of. Values of different shapes broadcast.
class Adjoint {
public:
  Adjoint(mlir::Operation *op, mlir::OpBuilder &builder,
          llvm::ArrayRef<mlir::Value> resultGrads, llvm::ArrayRef<bool> needed,
          llvm::MutableArrayRef<mlir::Value> operandGrads)
      : op(op), builder(builder), resultGrads(resultGrads), needed(needed),
        operandGrads(operandGrads) {}

  /// Gradient of result `index`; null if none flows.
  mlir::Value grad(unsigned index = 0) const { return resultGrads[index]; }
  /// Whether the gradient of operand `index` is wanted.
  bool needs(unsigned index) const { return needed[index]; }
  /// Sets the gradient of operand `index`: summed to the operand's shape where
  /// the op broadcast it, then cast to the operand's element type.
  void set(unsigned index, mlir::Value grad);

  /// Fails with an error if a gradient flows into a result other than the
  /// first: results that are only kept for the backward pass have none.
  llvm::LogicalResult expectFirstResultOnly() const;
  /// Fails with an error if the gradient of operand `index` is wanted.
  llvm::LogicalResult expectUnneeded(unsigned index,
                                     llvm::StringRef name) const;

  template <typename OpT, typename... Args> mlir::Value make(Args &&...args) {
    return OpT::create(builder, op->getLoc(), std::forward<Args>(args)...)
        ->getResult(0);
  }

  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value neg(mlir::Value value);
  mlir::Value compare(Predicate predicate, mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);
  /// `number` as a scalar tensor of `like`'s element type.
  mlir::Value constant(double number, mlir::Value like);
  /// `value * number`.
  mlir::Value scale(mlir::Value value, double number);
  mlir::Value cast(mlir::Value value, mlir::Type elementType);
  /// `value` in f32 if it is f16 or bf16. Rules of more than one step work on
  /// wide values, as PyTorch's kernels do: only `set` rounds.
  mlir::Value wide(mlir::Value value);
  mlir::Value wideGrad() { return wide(grad()); }
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value reduce(ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims, bool keepDims);
  /// Sums `value` down to `shape`, of which it is a broadcast.
  mlir::Value sumTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  mlir::Operation *op;
  mlir::OpBuilder &builder;

private:
  llvm::ArrayRef<mlir::Value> resultGrads;
  llvm::ArrayRef<bool> needed;
  llvm::MutableArrayRef<mlir::Value> operandGrads;
};

/// Type, shape and element type of a tensor value.
mlir::RankedTensorType tensorType(mlir::Value value);
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
mlir::Type elementTypeOf(mlir::Value value);

/// The interface model that calls `rule`.
template <typename OpT, llvm::LogicalResult (*rule)(OpT, Adjoint &)>
struct RuleModel
    : DifferentiableOpInterface::ExternalModel<RuleModel<OpT, rule>, OpT> {
  llvm::LogicalResult
  buildAdjoint(mlir::Operation *op, mlir::OpBuilder &builder,
               llvm::ArrayRef<mlir::Value> resultGrads,
               llvm::ArrayRef<bool> needed,
               llvm::MutableArrayRef<mlir::Value> operandGrads) const {
    Adjoint adjoint(op, builder, resultGrads, needed, operandGrads);
    return rule(llvm::cast<OpT>(op), adjoint);
  }
};

template <typename OpT, llvm::LogicalResult (*rule)(OpT, Adjoint &)>
void attachRule(mlir::MLIRContext *context) {
  OpT::template attachInterface<RuleModel<OpT, rule>>(*context);
}

void attachUnaryRules(mlir::MLIRContext *context);
void attachBinaryRules(mlir::MLIRContext *context);
void attachShapeRules(mlir::MLIRContext *context);
void attachMatmulRules(mlir::MLIRContext *context);
void attachLayerRules(mlir::MLIRContext *context);
void attachLossRules(mlir::MLIRContext *context);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_ADJOINT_H
