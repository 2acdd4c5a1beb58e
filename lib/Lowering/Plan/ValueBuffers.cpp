//===- ValueBuffers.cpp - The buffers of values ---------------------------===//

#include "ProgramLowering.h"

using namespace mlir;
using namespace weft;

static MemRefType getBufferType(Type tensorType) {
  auto type = cast<RankedTensorType>(tensorType);
  return MemRefType::get(type.getShape(), type.getElementType());
}

void ProgramLowering::setInsertionPointBehind(Operation *op) {
  if (op)
    builder.setInsertionPointAfter(op);
  else
    builder.setInsertionPointToStart(body);
}

Value ProgramLowering::allocate(Type tensorType) {
  return declare<plan::AllocOp>(current->getLoc(), getBufferType(tensorType),
                                plan::Role::Temporary, IntegerAttr());
}

Value ProgramLowering::getView(Value root, const plan::Layout &layout) {
  // Roots are dense: most values are their whole root, without a type made.
  auto rootType = cast<MemRefType>(root.getType());
  if (layout.offset == 0 && rootType.getShape() == ArrayRef(layout.sizes) &&
      layout.strides == plan::Layout::getDense(layout.sizes).strides)
    return root;
  MemRefType type = layout.getType(rootType.getElementType());
  Value &view = views[{root, type}];
  if (!view)
    view = declare<plan::ViewOp>(current->getLoc(), type, root);
  return view;
}

Value ProgramLowering::getState(StringAttr name) {
  Value &use = states[name];
  if (use)
    return use;
  Operation *declaration = symbols.lookup(name);
  auto type = declaration->getAttrOfType<TypeAttr>("type").getValue();
  OpBuilder::InsertionGuard guard(builder);
  setInsertionPointBehind(lastStateUse);
  use = plan::UseOp::create(builder, source.getLoc(), getBufferType(type),
                            FlatSymbolRefAttr::get(name), IntegerAttr());
  if (lastDeclaration == lastStateUse)
    lastDeclaration = use.getDefiningOp();
  lastStateUse = use.getDefiningOp();
  return use;
}

void ProgramLowering::writeConstant(ConstantOp op, Value target) {
  plan::ConstantOp::create(builder, op.getLoc(), target,
                           cast<ElementsAttr>(op.getValue()), getScopeAttr(),
                           IntegerAttr(), FloatAttr(), IntegerAttr());
}

ValueBuffer ProgramLowering::lowerConstant(ConstantOp op) {
  Value target = allocate(op.getType());
  writeConstant(op, target);
  return {target, plan::Layout::getDense(getShape(op.getResult()))};
}

/// Whether the value is a constant, or part of one.
static bool isConstant(Value value) {
  while (auto view = value.getDefiningOp<ViewOpInterface>())
    value = view->getOperand(0);
  return value.getDefiningOp<ConstantOp>() != nullptr;
}

void ProgramLowering::forgetConstants() {
  SmallVector<Value> constants;
  for (auto &[value, buffer] : buffers)
    if (isConstant(value))
      constants.push_back(value);
  for (Value constant : constants)
    buffers.erase(constant);
}

ValueBuffer ProgramLowering::getBuffer(Value value) {
  auto found = buffers.find(value);
  if (found != buffers.end())
    return found->second;
  // Views, reads and constants are lowered at their first use.
  Operation *op = value.getDefiningOp();
  ValueBuffer buffer;
  if (auto read = dyn_cast<ReadOp>(op))
    buffer = {getState(read.getSourceAttr().getAttr()),
              plan::Layout::getDense(getShape(value))};
  else if (auto constant = dyn_cast<ConstantOp>(op))
    buffer = lowerConstant(constant);
  else
    buffer = lowerView(cast<ViewOpInterface>(op));
  buffers[value] = buffer;
  return buffer;
}

/// Copies a value into a dense buffer of its own.
ValueBuffer ProgramLowering::materialize(Value value, ValueBuffer buffer) {
  ValueBuffer copy = {allocate(value.getType()),
                      plan::Layout::getDense(getShape(value))};
  copyTo(getView(buffer), copy.root);
  return copy;
}

Value ProgramLowering::getDense(Value value) {
  ValueBuffer buffer = getBuffer(value);
  if (!buffer.layout.isDense()) {
    buffer = materialize(value, buffer);
    buffers[value] = buffer;
    reportCopy("dense operand");
  }
  return getView(buffer);
}

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

/// The bytes of an operand that dies at the current op, if the op may write
/// this result over them.
std::optional<ValueBuffer> ProgramLowering::findReusable(OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<unsigned> reusable =
      cast<DestinationOpInterface>(current).getReusableOperands(
          result.getResultNumber(), symbols);
  for (unsigned index : reusable) {
    Value operand = current->getOperand(index);
    ValueBuffer buffer = getBuffer(operand);
    auto rootType = cast<MemRefType>(buffer.root.getType());
    bool isWhole = buffer.layout.isDense() && buffer.layout.offset == 0 &&
                   rootType.getElementType() == type.getElementType() &&
                   rootType.getNumElements() == type.getNumElements();
    if (!buffer.root.getDefiningOp<plan::AllocOp>() || !isWhole ||
        pinned.contains(buffer.root) ||
        facts.getLastUse(operand) > facts.positions.lookup(current))
      continue;
    // No other operand or result of the op may lie in the same bytes.
    bool isShared = llvm::any_of(current->getOpOperands(), [&](OpOperand &o) {
      return !llvm::is_contained(reusable, o.getOperandNumber()) &&
             getBuffer(o.get()).root == buffer.root;
    });
    isShared |= llvm::any_of(current->getResults(), [&](Value other) {
      auto found = buffers.find(other);
      return found != buffers.end() && found->second.root == buffer.root;
    });
    if (!isShared)
      return ValueBuffer{buffer.root, plan::Layout::getDense(type.getShape())};
  }
  return std::nullopt;
}

/// The buffer of a place. The buffer of a concatenation is allocated at its
/// first operand.
ValueBuffer ProgramLowering::getBuffer(const BufferPlace &place) {
  if (place.state)
    return {getState(place.state), place.layout};
  auto [whole, isNew] = buffers.try_emplace(place.whole);
  if (isNew)
    whole->second = {allocate(place.whole.getType()),
                     Layout::getDense(getShape(place.whole))};
  pinned.insert(whole->second.root);
  return {whole->second.root, place.layout};
}

Value ProgramLowering::getDestination(OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  plan::Layout layout = plan::Layout::getDense(type.getShape());
  ValueBuffer buffer;
  auto place = facts.placement.find(result);
  if (place != facts.placement.end()) {
    buffer = getBuffer(place->second);
    ++counts->inPlace;
  } else if (std::optional<ValueBuffer> reused = findReusable(result)) {
    buffer = *reused;
    ++counts->inPlace;
  } else {
    buffer = {allocate(type), layout};
  }
  buffers[result] = buffer;
  return getView(buffer);
}
