//===- RulesMatmul.cpp - Adjoints of products, tables and attention -------===//
//
// For y = op(l) op(r) and the gradient g of y:
//   dl = g op(r)^T, transposed where l is;   dr = op(l)^T g, likewise;
//   a bias gets the sum of the rows of g.
// An f32 result of low-precision operands has an f32 gradient: it is rounded
// for the products, which run in the type of the forward op, not for the bias.
// A shared matrix (rank 2 beside a batch) sums over the batch: its gradient is
// one product over the rows of all batches together.
//
//===----------------------------------------------------------------------===//

#include "Adjoint.h"

using namespace mlir;

namespace weft {
namespace {

/// The product of `lhs` and `rhs`, each transposed as its flag says.
Value product(Value lhs, bool transposeLhs, Value rhs, bool transposeRhs,
              Adjoint &a) {
  return a.make<MatmulOp>(lhs, rhs, transposeLhs, transposeRhs);
}

/// Swaps the last two dimensions.
Value swapLast(Value value, Adjoint &a) {
  int64_t rank = tensorType(value).getRank();
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return a.transpose(value, permutation);
}

/// All but the last dimension as rows.
Value flattenRows(Value value, Adjoint &a) {
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t rows = 1;
  for (int64_t size : shape.drop_back())
    rows *= size;
  return a.reshape(value, {rows, shape.back()});
}

Value lhsGradient(MatmulOp op, Value lhs, Value rhs, Value grad, Adjoint &a) {
  if (op.getTransposeLhs())
    return product(rhs, op.getTransposeRhs(), grad, true, a);
  return product(grad, false, rhs, !op.getTransposeRhs(), a);
}

Value rhsGradient(MatmulOp op, Value lhs, Value rhs, Value grad, Adjoint &a) {
  if (op.getTransposeRhs())
    return product(grad, true, lhs, op.getTransposeLhs(), a);
  return product(lhs, !op.getTransposeLhs(), grad, false, a);
}

/// r is shared: with the rows of l [.., M, K] and g [.., M, N] flattened,
/// dr = l^T g ([K, N]) or its transpose.
Value sharedRhsGradient(MatmulOp op, Value grad, Adjoint &a) {
  Value lhs = op.getLhs();
  if (op.getTransposeLhs())
    lhs = swapLast(lhs, a);
  Value rows = flattenRows(lhs, a);
  grad = flattenRows(grad, a);
  if (op.getTransposeRhs())
    return product(grad, true, rows, false, a);
  return product(rows, true, grad, false, a);
}

/// l is shared: the columns of g [.., M, N] and op(r) [.., K, N] of all batches
/// become rows, dl = g r^T ([M, K]) or its transpose.
Value sharedLhsGradient(MatmulOp op, Value grad, Adjoint &a) {
  Value rhs = op.getRhs();
  if (!op.getTransposeRhs())
    rhs = swapLast(rhs, a);
  Value columns = flattenRows(rhs, a);
  grad = flattenRows(swapLast(grad, a), a);
  if (op.getTransposeLhs())
    return product(columns, true, grad, false, a);
  return product(grad, true, columns, false, a);
}

LogicalResult matmulRule(MatmulOp op, Adjoint &a) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  int64_t lhsRank = tensorType(lhs).getRank();
  int64_t rhsRank = tensorType(rhs).getRank();
  Value grad = a.grad();
  if (a.needs(0) || a.needs(1))
    grad = a.cast(grad, elementTypeOf(lhs));
  if (a.needs(0))
    a.set(0, lhsRank < rhsRank ? sharedLhsGradient(op, grad, a)
                               : lhsGradient(op, lhs, rhs, grad, a));
  if (a.needs(1))
    a.set(1, rhsRank < lhsRank ? sharedRhsGradient(op, grad, a)
                               : rhsGradient(op, lhs, rhs, grad, a));
  if (op.getBias())
    a.set(2, a.grad());
  return success();
}

LogicalResult embeddingRule(EmbeddingOp op, Adjoint &a) {
  a.set(0, a.make<EmbeddingGradOp>(op.getTable().getType(), a.grad(),
                                   op.getIds()));
  return success();
}

LogicalResult attentionRule(AttentionOp op, Adjoint &a) {
  if (failed(a.expectFirstResultOnly()))
    return failure();
  Value rng = op.getBits() ? Value() : op.getRng();
  auto grads = AttentionGradOp::create(
      a.builder, op.getLoc(), a.grad(), op.getQuery(), op.getKey(),
      op.getValue(), op.getOut(), op.getLse(), rng, op.getSegments(),
      op.getScale(), op.getCausal(), op.getWindowAttr(), op.getSoftcapAttr(),
      op.getDropout(), op.getOpId(), op.getBits());
  a.set(0, grads.getGradQuery());
  a.set(1, grads.getGradKey());
  a.set(2, grads.getGradValue());
  return success();
}

} // namespace

void attachMatmulRules(MLIRContext *context) {
  attachRule<MatmulOp, matmulRule>(context);
  attachRule<EmbeddingOp, embeddingRule>(context);
  attachRule<AttentionOp, attentionRule>(context);
}

} // namespace weft
