//===- ShapeOps.cpp - Views, and shape ops that write ---------------------===//

#include "ProgramLowering.h"

using namespace mlir;

namespace weft {

static plan::Layout getSliceLayout(SliceOp op, plan::Layout layout) {
  for (size_t i = 0, e = layout.sizes.size(); i != e; ++i) {
    layout.offset += op.getOffsets()[i] * layout.strides[i];
    layout.sizes[i] = op.getSizes()[i];
    layout.strides[i] *= op.getStrides()[i];
  }
  return layout;
}

static plan::Layout getTransposeLayout(TransposeOp op,
                                       const plan::Layout &source) {
  plan::Layout layout = source;
  for (auto [i, from] : llvm::enumerate(op.getPermutation())) {
    layout.sizes[i] = source.sizes[from];
    layout.strides[i] = source.strides[from];
  }
  return layout;
}

/// Repeated dimensions get stride 0.
static plan::Layout getBroadcastLayout(BroadcastOp op,
                                       const plan::Layout &source) {
  plan::Layout layout = plan::Layout::getDense(getShape(op.getResult()));
  layout.offset = source.offset;
  size_t added = layout.sizes.size() - source.sizes.size();
  for (size_t i = 0, e = layout.sizes.size(); i != e; ++i) {
    bool repeats = i < added || source.sizes[i - added] != layout.sizes[i];
    layout.strides[i] = repeats ? 0 : source.strides[i - added];
  }
  return layout;
}

ValueBuffer ProgramLowering::lowerView(Operation *op) {
  Value operand = op->getOperand(0);
  ValueBuffer buffer = getBuffer(operand);
  if (isa<FenceOp>(op))
    return buffer;
  if (auto slice = dyn_cast<SliceOp>(op))
    return {buffer.root, getSliceLayout(slice, buffer.layout)};
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return {buffer.root, getTransposeLayout(transpose, buffer.layout)};
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return {buffer.root, getBroadcastLayout(broadcast, buffer.layout)};
  ArrayRef<int64_t> shape = getShape(op->getResult(0));
  if (std::optional<plan::Layout> layout = buffer.layout.reshape(shape))
    return {buffer.root, *layout};
  ValueBuffer copy = materialize(operand, buffer);
  reportCopy("reshape of a strided value");
  return {copy.root, plan::Layout::getDense(shape)};
}

void ProgramLowering::copyTo(Value from, Value to) {
  plan::CopyOp::create(builder, current->getLoc(), from, to, getScopeAttr(),
                       IntegerAttr(), FloatAttr());
}

void ProgramLowering::reportCopy(StringRef why) {
  ++counts->copies;
  if (explain)
    current->emitRemark("needs a copy: ") << why;
}

/// Whether two layouts of equal sizes address the same elements.
static bool isSamePlace(const plan::Layout &a, const plan::Layout &b) {
  if (a.offset != b.offset || a.sizes != b.sizes)
    return false;
  for (size_t i = 0, e = a.sizes.size(); i != e; ++i)
    if (a.sizes[i] != 1 && a.strides[i] != b.strides[i])
      return false;
  return true;
}

/// Pieces that were not written in place are copied to their place.
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
                           IntegerAttr(), FloatAttr());
  plan::Layout place = buffers[result].layout;
  for (size_t i = 0, e = place.sizes.size(); i != e; ++i) {
    place.sizes[i] = getShape(op.getOperand())[i];
    place.offset += op.getLow()[i] * place.strides[i];
    place.strides[i] *= op.getInterior()[i] + 1;
  }
  copyTo(getView(getBuffer(op.getOperand())),
         getView(buffers[result].root, place));
}

} // namespace weft
