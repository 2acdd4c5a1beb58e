//===- OperandTypes.cpp - Questions about the types of an op --------------===//

#include "OperandTypes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

Type weft::elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

bool weft::isFloat(Value value) { return isa<FloatType>(elementOf(value)); }

bool weft::isEligible(Value value) {
  return isFloat(value) && !elementOf(value).isF64();
}

bool weft::isScalar(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank() == 0;
}

bool weft::isFactor(CastPolicyOpInterface op, OpOperand &operand) {
  unsigned first = op.getCastRule().firstFactor;
  return first != 0 && operand.getOperandNumber() >= first;
}

bool weft::isLeaf(Value value) {
  Operation *def = value.getDefiningOp();
  return !def || isa<ReadOp>(def) || (isa<ConstantOp>(def) && !isScalar(value));
}

bool weft::isInexact(Value value, Type element) {
  DenseFPElementsAttr attr;
  if (!isScalar(value) || !matchPattern(value, m_Constant(&attr)))
    return false;
  bool loses;
  APFloat number = attr.getSplatValue<APFloat>();
  number.convert(cast<FloatType>(element).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &loses);
  return loses;
}

/// The narrowest type that holds both.
static Type widest(Type a, Type b) {
  if (!a || a == b)
    return b;
  if (a.isF64() || b.isF64())
    return a.isF64() ? a : b;
  return Float32Type::get(a.getContext());
}

Type weft::promotedType(CastPolicyOpInterface op, bool withFactors) {
  Type tensors, scalars;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isFloat(value) || (!withFactors && isFactor(op, operand)))
      continue;
    Type &target = isScalar(value) ? scalars : tensors;
    target = widest(target, elementOf(value));
  }
  return tensors ? tensors : scalars;
}

LogicalResult weft::inferTypes(Operation *op) {
  SmallVector<Type> types;
  if (auto infer = dyn_cast<InferTypeOpInterface>(op)) {
    if (failed(infer.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return failure();
  } else if (op->hasTrait<OpTrait::SameOperandsAndResultElementType>()) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    types.push_back(type.clone(elementOf(op->getOperand(0))));
  }
  for (auto [result, type] : llvm::zip(op->getResults(), types))
    result.setType(type);
  return success();
}
