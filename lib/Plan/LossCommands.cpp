//===- LossCommands.cpp - Losses, accumulation, random numbers ------------===//

#include "Commands.h"

#include "weft/Interfaces/NumberRules.h"

using namespace mlir;
using namespace llvm;

namespace weft::plan {

//===----------------------------------------------------------------------===//
// CrossEntropyOp and CrossEntropyGradOp
//===----------------------------------------------------------------------===//

/// logits [..., V], targets and lse [...], weight [V].
template <typename OpT> static LogicalResult verifyLoss(OpT op) {
  MemRefType logits = getType(op.getLogits());
  if (logits.getRank() == 0 || logits.getShape().back() < 1)
    return op.emitOpError("expects logits with classes as the last dimension, "
                          "but got ")
           << logits;
  ArrayRef<int64_t> rows = logits.getShape().drop_back();
  if (failed(verifyShape(op, "targets", op.getTargets(), rows)) ||
      failed(verifyShape(op, "lse", op.getLse(), rows)) ||
      (op.getWeight() && failed(verifyShape(op, "weight", op.getWeight(),
                                            logits.getShape().back()))))
    return failure();
  double smoothing = op.getLabelSmoothing().convertToDouble();
  if (smoothing >= 0 && smoothing <= 1)
    return success();
  return op.emitOpError("expects label_smoothing in [0, 1], but got ")
         << smoothing;
}

Access CrossEntropyOp::getAccess(unsigned index) {
  return (index >= 2 && index <= 4) || isWorkspace(getOperand(index))
             ? Access::Write
             : Access::Read;
}

LogicalResult CrossEntropyOp::verify() { return verifyLoss(*this); }

Access CrossEntropyGradOp::getAccess(unsigned index) {
  return index == 5 ? Access::Write : Access::Read;
}

SmallVector<unsigned> CrossEntropyGradOp::getInPlaceOperands(unsigned index) {
  return {getLogitsMutable().getOperandNumber()};
}

LogicalResult CrossEntropyGradOp::verify() {
  if (failed(verifyLoss(*this)))
    return failure();
  return verifyLike(*this, "target", getTarget(), getLogits());
}

//===----------------------------------------------------------------------===//
// AccumulateOp
//===----------------------------------------------------------------------===//

Access AccumulateOp::getAccess(unsigned index) {
  return index == 3 ? Access::Write : Access::Read;
}

SmallVector<unsigned> AccumulateOp::getInPlaceOperands(unsigned) {
  return {0, 1};
}

LogicalResult AccumulateOp::verify() {
  if (failed(verifyLike(*this, "value", getValue(), getOld())))
    return failure();
  return verifyLike(*this, "target", getTarget(), getOld());
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

template <typename OpT> static LogicalResult verifyFirst(OpT op) {
  if (static_cast<int64_t>(op.getFirstElement()) >= 0)
    return success();
  return op.emitOpError("expects first_element of at least 0, but got ")
         << static_cast<int64_t>(op.getFirstElement());
}

Access RandomNormalOp::getAccess(unsigned index) {
  return index == 1 ? Access::Write : Access::Read;
}
LogicalResult RandomNormalOp::verify() {
  if (failed(verifyFirst(*this)))
    return failure();
  return verifyNormal([&] { return emitOpError(); },
                      getMean().convertToDouble(), getStd().convertToDouble());
}

Access RandomUniformOp::getAccess(unsigned index) {
  return index == 1 ? Access::Write : Access::Read;
}
LogicalResult RandomUniformOp::verify() {
  if (failed(verifyFirst(*this)))
    return failure();
  return verifyUniform([&] { return emitOpError(); },
                       getLow().convertToDouble(), getHigh().convertToDouble());
}

Access DropoutOp::getAccess(unsigned index) {
  return index == 2 ? Access::Write : Access::Read;
}

SmallVector<unsigned> DropoutOp::getInPlaceOperands(unsigned) { return {0}; }

LogicalResult DropoutOp::verify() {
  double p = getP().convertToDouble();
  if (!(p >= 0 && p <= 1))
    return emitOpError("expects p in [0, 1], but got ") << p;
  if (failed(verifyShape(*this, "rng", getRng(), 2)))
    return failure();
  return verifyLike(*this, "target", getTarget(), getSource());
}

} // namespace weft::plan
