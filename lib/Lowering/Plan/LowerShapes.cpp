//===- LowerShapes.cpp - Views, and shape ops that write ------------------===//

#include "ProgramLowering.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace weft;

ValueBuffer ProgramLowering::lowerView(ViewOpInterface op) {
  Value operand = op->getOperand(0);
  ValueBuffer buffer = getBuffer(operand);
  if (std::optional<Layout> layout = op.apply(buffer.layout))
    return {buffer.root, *layout};
  ValueBuffer copy = materialize(operand, buffer);
  reportCopy("reshape of a strided value");
  return {copy.root, *op.apply(copy.layout)};
}

void ProgramLowering::copyTo(Value from, Value to) {
  plan::CopyOp::create(builder, current->getLoc(), from, to, getScopeAttr(),
                       IntegerAttr(), FloatAttr(), IntegerAttr());
}

void ProgramLowering::reportCopy(StringRef why) {
  ++counts->copies;
  remark::missed(current->getLoc(),
                 remark::RemarkOpts::name("copy").category("copies"))
      << ("needs a copy: " + why).str();
}

/// Pieces that were not written in place are copied to their place; constants,
/// such as the zeros between parameters, are written there.
void ProgramLowering::lowerConcat(ConcatOp op) {
  auto [whole, isNew] = buffers.try_emplace(op.getResult());
  if (isNew) {
    getDestination(cast<OpResult>(op.getResult()));
    whole = buffers.find(op.getResult());
  }
  ValueBuffer target = whole->second;
  int64_t dim = op.getDim();
  int64_t offset = 0;
  for (Value input : op.getInputs()) {
    plan::Layout place = target.layout;
    place.sizes[dim] = getShape(input)[dim];
    place.offset += offset * place.strides[dim];
    offset += place.sizes[dim];
    auto constant = input.getDefiningOp<weft::ConstantOp>();
    if (constant && place.isDense()) {
      writeConstant(constant, getView(target.root, place));
      continue;
    }
    ValueBuffer piece = getBuffer(input);
    if (piece.root == target.root && isSamePlace(piece.layout, place))
      continue;
    copyTo(getView(piece), getView(target.root, place));
    reportCopy("piece of a concatenation");
  }
}

/// Zeros, then the operand between them.
void ProgramLowering::lowerPad(PadOp op) {
  auto result = cast<OpResult>(op.getResult());
  Value target = getDestination(result);
  auto type = cast<RankedTensorType>(result.getType());
  Attribute zero = builder.getZeroAttr(type.getElementType());
  plan::ConstantOp::create(builder, op.getLoc(), target,
                           SplatElementsAttr::get(type, zero), getScopeAttr(),
                           IntegerAttr(), FloatAttr(), IntegerAttr());
  plan::Layout place = buffers[result].layout;
  for (size_t i = 0, e = place.sizes.size(); i != e; ++i) {
    place.sizes[i] = getShape(op.getOperand())[i];
    place.offset += op.getLow()[i] * place.strides[i];
    place.strides[i] *= op.getInterior()[i] + 1;
  }
  copyTo(getView(getBuffer(op.getOperand())),
         getView(buffers[result].root, place));
}
