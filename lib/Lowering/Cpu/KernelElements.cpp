//===- KernelElements.cpp - Loads, stores and bodies of a kernel ----------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

/// Type in memory: a byte for i1.
static Type memoryType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

static unsigned alignmentOf(Type memory) {
  return std::min(memory.getIntOrFloatBitWidth() / 8, 4u);
}

Type KernelEmitter::lanesOf(Type element) {
  return VectorType::get({kLanes}, element);
}

Value KernelEmitter::constant(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

/// A constant of a scalar or vector type.
Value KernelEmitter::splat(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr =
      isa<FloatType>(element)
          ? TypedAttr(b.getFloatAttr(element, value))
          : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(value)));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, loc, attr);
}

/// Lanes 0 .. left-1.
Value KernelEmitter::tailMask(Value left) {
  Type type = lanesOf(b.getI64Type());
  llvm::SmallVector<int64_t> numbers;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    numbers.push_back(lane);
  Value lanes = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<ShapedType>(type),
                             llvm::ArrayRef<int64_t>(numbers)));
  Value limit = vector::BroadcastOp::create(b, loc, type, left);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lanes, limit);
}

void KernelEmitter::enter(ValueDepth depth) {
  for (int d = static_cast<int>(depth); d <= 2; ++d) {
    known[d].clear();
    loaded[d].clear();
  }
}

Value KernelEmitter::buffer(Value argument) {
  return buffers[cast<BlockArgument>(argument).getArgNumber()];
}

Value KernelEmitter::outputBuffer(unsigned index) {
  return buffers[kernel.getArgumentTypes().size() + index];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelEmitter::offset(Value pointer, Type memory, Value index) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), memory, pointer,
                             llvm::ArrayRef<LLVM::GEPArg>{index});
}

/// Address of an access at the current indices; with `lanes`, of lane 0.
Value KernelEmitter::address(Value buffer, Type memory,
                             const SpaceAccess &access, bool lanes) {
  Value sum = constant(access.offset);
  for (unsigned d = 0; d < access.strides.size(); ++d) {
    bool lane = layout.getRole(d) == DimRole::Lane;
    if (!access.dependsOn(d) || (lane && !lanes))
      continue;
    Value term = indices[d];
    if (access.strides[d] != 1)
      term = arith::MulIOp::create(b, loc, term, constant(access.strides[d]));
    sum = arith::AddIOp::create(b, loc, sum, term);
  }
  return offset(buffer, memory, sum);
}

Value KernelEmitter::loadScalar(Value pointer, Type element) {
  Type memory = memoryType(element);
  Value value =
      LLVM::LoadOp::create(b, loc, memory, pointer, alignmentOf(memory));
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                               splat(memory, 0));
}

void KernelEmitter::storeScalar(Value value, Value pointer) {
  Type memory = memoryType(value.getType());
  if (memory != value.getType())
    value = arith::ExtUIOp::create(b, loc, memory, value);
  LLVM::StoreOp::create(b, loc, value, pointer, alignmentOf(memory));
}

Value KernelEmitter::loadLanes(Value pointer, Type element) {
  Type memory = memoryType(element), type = lanesOf(memory);
  unsigned alignment = alignmentOf(memory);
  Value value =
      mask ? LLVM::MaskedLoadOp::create(b, loc, type, pointer, mask,
                                        splat(type, 0), alignment)
                 .getResult()
           : LLVM::LoadOp::create(b, loc, type, pointer, alignment).getResult();
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                               splat(type, 0));
}

void KernelEmitter::storeLanes(Value value, Value pointer) {
  Type memory = memoryType(elementOf(value));
  if (memory != elementOf(value))
    value = arith::ExtUIOp::create(b, loc, lanesOf(memory), value);
  if (mask)
    LLVM::MaskedStoreOp::create(b, loc, value, pointer, mask,
                                alignmentOf(memory));
  else
    LLVM::StoreOp::create(b, loc, value, pointer, alignmentOf(memory));
}

/// Lanes that lie `stride` elements apart.
Value KernelEmitter::gather(Value pointer, Type element, int64_t stride) {
  Type memory = memoryType(element), type = lanesOf(memory);
  llvm::SmallVector<int64_t> numbers;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    numbers.push_back(lane * stride);
  Value index = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<ShapedType>(lanesOf(b.getI64Type())),
                             llvm::ArrayRef<int64_t>(numbers)));
  Value pointers =
      LLVM::GEPOp::create(b, loc, lanesOf(pointer.getType()), memory, pointer,
                          llvm::ArrayRef<LLVM::GEPArg>{index});
  Value all = mask ? mask : splat(lanesOf(b.getI1Type()), 1);
  Value value = LLVM::masked_gather::create(b, loc, type, pointers, all,
                                            ValueRange{splat(type, 0)},
                                            alignmentOf(memory));
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                               splat(type, 0));
}

/// A buffer on the stack of the function.
Value KernelEmitter::scratch(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::AllocaOp::create(b, loc, pointer, memoryType(element),
                                constant(count), /*alignment=*/64);
}

Value KernelEmitter::load(const ExternalUse &use) {
  ValueDepth depth = layout.getDepth(use.access);
  auto &cache = loaded[static_cast<int>(depth)];
  for (auto &[other, value] : cache)
    if (other->base == use.base && other->access == use.access)
      return value;
  Type element = getElementTypeOrSelf(use.base.getType());
  bool lanes = depth == ValueDepth::Lane;
  Value pointer =
      address(buffer(use.base), memoryType(element), use.access, lanes);
  int64_t stride = lanes ? use.access.strides.back() : 0;
  Value value = !lanes        ? loadScalar(pointer, element)
                : stride == 1 ? loadLanes(pointer, element)
                              : gather(pointer, element, stride);
  cache.push_back({&use, value});
  return value;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value KernelEmitter::toLanes(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, loc, lanesOf(value.getType()), value);
}

/// The splat constant behind `value`, seen through views of it.
Value KernelEmitter::getConstant(Value value, bool lanes) {
  Operation *op = value.getDefiningOp();
  while (op && isViewOp(op))
    op = op->getOperand(0).getDefiningOp();
  if (!op || !isSplatConstant(op))
    return nullptr;
  auto attr = cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
  auto element = attr.getSplatValue<TypedAttr>();
  if (!lanes)
    return arith::ConstantOp::create(b, loc, element);
  auto type = cast<ShapedType>(lanesOf(element.getType()));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, element));
}

Value KernelEmitter::getMember(Value value, bool lanes) {
  Value result = known[static_cast<int>(layout.getDepth(value))].lookup(value);
  return lanes ? toLanes(result) : result;
}

Value KernelEmitter::getOperand(OpOperand &operand, bool lanes) {
  if (const ExternalUse *use = space.getUse(operand)) {
    Value value = load(*use);
    return lanes ? toLanes(value) : value;
  }
  if (Value value = getConstant(operand.get(), lanes))
    return value;
  return getMember(operand.get(), lanes);
}

static bool isHalf(Value value) {
  return elementOf(value).isF16() || elementOf(value).isBF16();
}

/// `value` with another float element type.
static Value castFloat(OpBuilder &b, Location loc, Value value, Type element) {
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.cloneWith(std::nullopt, element);
  if (elementOf(value).getIntOrFloatBitWidth() <
      element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

/// Computes the result of an op at its own depth. 16-bit floats are computed in
/// f32 and rounded after each op.
void KernelEmitter::evaluate(Operation *op) {
  Value result = op->getResult(0);
  ValueDepth depth = layout.getDepth(result);
  bool lanes = depth == ValueDepth::Lane;
  Values scalars;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = getOperand(operand, lanes);
    if (isHalf(value) && !isa<CastOp>(op))
      value = castFloat(b, loc, value, b.getF32Type());
    scalars.push_back(value);
  }
  Value value = scalars.front();
  if (!isa<ReshapeOp, ReduceOp>(op))
    value = cast<ScalarBodyOpInterface>(op).buildScalarBody(b, op->getLoc(),
                                                            scalars);
  Type element = getElementTypeOrSelf(result.getType());
  if (elementOf(value) != element)
    value = castFloat(b, loc, value, element);
  known[static_cast<int>(depth)][result] = value;
}

} // namespace weft
