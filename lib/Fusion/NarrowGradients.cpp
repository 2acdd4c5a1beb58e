//===- NarrowGradients.cpp - Adjoints of gelu behind low products ---------===//
//
// Autodiff computes gradients in f32. It widens the gradient from a
// low-precision product, and rounds the result of gelu's adjoint for the next
// product. A product that rounds once can compute the adjoint as an epilogue,
// if the adjoint has low-precision operands and results. Other users of the
// adjoint then also read the rounded result.
//
//===----------------------------------------------------------------------===//

#include "Selection.h"
#include "weft/Weft/Precision.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;

/// The operand of a cast from `element`, or null.
static Value findNarrow(Value value, Type element) {
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || getElementTypeOrSelf(cast.getOperand()) != element)
    return Value();
  return cast.getOperand();
}

/// The product whose low-precision result, widened, is the gradient, or null.
static MatmulOp findProduct(GeluGradOp op) {
  auto widened = op.getGrad().getDefiningOp<CastOp>();
  auto product =
      widened ? widened.getOperand().getDefiningOp<MatmulOp>() : MatmulOp();
  const bool isNarrow =
      product && getElementTypeOrSelf(op.getResult()).isF32() &&
      isLowPrecision(getElementTypeOrSelf(product.getResult()));
  return isNarrow ? product : MatmulOp();
}

/// Replaces the rounded uses of `op` by `low`, and its other uses by `wide`.
static void replace(GeluGradOp op, GeluGradOp low, CastOp wide) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isa<CastOp>(user) &&
        user->getResult(0).getType() == low.getResult().getType()) {
      user->getResult(0).replaceAllUsesWith(low.getResult());
      user->erase();
    }
  op.getResult().replaceAllUsesWith(wide.getResult());
  llvm::SmallSetVector<Operation *, 3> casts;
  casts.insert(wide);
  for (Value operand : op->getOperands())
    casts.insert(operand.getDefiningOp());
  op.erase();
  for (Operation *left : casts)
    if (left->use_empty())
      left->erase();
}

static void narrow(GeluGradOp op) {
  MatmulOp product = findProduct(op);
  if (!product)
    return;
  Value operand =
      findNarrow(op.getOperand(), getElementTypeOrSelf(product.getResult()));
  auto isRounded = [&](Operation *user) {
    return isa<CastOp>(user) &&
           user->getResult(0).getType() == product.getResult().getType();
  };
  if (!operand || llvm::none_of(op->getUsers(), isRounded))
    return;
  OpBuilder builder(op);
  auto low =
      GeluGradOp::create(builder, op.getLoc(), product.getType(),
                         product.getResult(), operand, op.getApproximateAttr());
  auto wide =
      CastOp::create(builder, op.getLoc(), op.getType(), low.getResult());
  copyScope(op, low);
  copyScope(op, wide);
  replace(op, low, wide);
}

void weft::narrowGeluGradients(ProgramOp program) {
  SmallVector<GeluGradOp> ops(program.getBody().front().getOps<GeluGradOp>());
  for (GeluGradOp op : ops)
    if (op.getApproximate() == GeluKind::Tanh)
      narrow(op);
}
