//===- KernelElements.cpp - Loads, stores and bodies of a kernel ----------===//

#include "KernelEmitter.h"
#include "Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

/// Type in memory: a byte for i1, the bits of f16 and bf16. LLVM would take a
/// masked access of these apart into calls of conversions that libgcc may lack
/// where the target has no such instructions.
static Type memoryType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (element.isF16() || element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return element;
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

Value KernelEmitter::splat(Type type, double value) {
  return createSplat(b, loc, type, value);
}

/// 0, 1, 2 and so on.
Value KernelEmitter::laneNumbers(Type element) {
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    numbers.push_back(b.getIntegerAttr(element, lane));
  auto type = cast<ShapedType>(lanesOf(element));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, numbers));
}

/// Lanes 0 .. left-1.
Value KernelEmitter::tailMask(Value left) {
  Type type = lanesOf(b.getI64Type());
  Value lanes = laneNumbers(b.getI64Type());
  Value limit = vector::BroadcastOp::create(b, loc, type, left);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lanes, limit);
}

void KernelEmitter::enter(ValueDepth depth) {
  for (int d = static_cast<int>(depth); d <= 2; ++d)
    known[d].clear();
}

/// The memory of an argument or of a temporary.
Value KernelEmitter::buffer(Value base) {
  if (auto argument = dyn_cast<BlockArgument>(base))
    return buffers[argument.getArgNumber()];
  return stack.lookup(base);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelEmitter::offset(Value pointer, Type memory, Value index) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), memory, pointer,
                             ArrayRef<LLVM::GEPArg>{index});
}

/// Address of an access at the current indices; with `lanes`, of lane 0.
Value KernelEmitter::address(Value buffer, Type memory,
                             const SpaceAccess &access, bool lanes) {
  Value sum = constant(access.offset);
  for (unsigned d = 0; d < access.strides.size(); ++d) {
    bool lane = shape.getRole(d) == DimRole::Lane;
    if (!access.dependsOn(d) || (lane && !lanes))
      continue;
    Value term = indices[d];
    if (access.strides[d] != 1)
      term = arith::MulIOp::create(b, loc, term, constant(access.strides[d]));
    sum = arith::AddIOp::create(b, loc, sum, term);
  }
  return offset(buffer, memory, sum);
}

/// Converts a loaded value from its memory type to its element type.
Value KernelEmitter::fromMemory(Value value, Type element) {
  Type memory = elementOf(value);
  if (element == memory)
    return value;
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                 splat(value.getType(), 0));
  Type type = isa<VectorType>(value.getType()) ? lanesOf(element) : element;
  return arith::BitcastOp::create(b, loc, type, value);
}

Value KernelEmitter::toMemory(Value value) {
  Type element = elementOf(value), memory = memoryType(element);
  if (element == memory)
    return value;
  Type type = isa<VectorType>(value.getType()) ? lanesOf(memory) : memory;
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::BitcastOp::create(b, loc, type, value);
}

Value KernelEmitter::loadScalar(Value pointer, Type element) {
  Type memory = memoryType(element);
  return fromMemory(
      LLVM::LoadOp::create(b, loc, memory, pointer, alignmentOf(memory)),
      element);
}

void KernelEmitter::storeScalar(Value value, Value pointer) {
  value = toMemory(value);
  LLVM::StoreOp::create(b, loc, value, pointer, alignmentOf(value.getType()));
}

Value KernelEmitter::loadLanes(Value pointer, Type element) {
  Type memory = memoryType(element), type = lanesOf(memory);
  unsigned alignment = alignmentOf(memory);
  Value value =
      mask ? LLVM::MaskedLoadOp::create(b, loc, type, pointer, mask,
                                        splat(type, 0), alignment)
                 .getResult()
           : LLVM::LoadOp::create(b, loc, type, pointer, alignment).getResult();
  return fromMemory(value, element);
}

void KernelEmitter::storeLanes(Value value, Value pointer) {
  value = toMemory(value);
  unsigned alignment = alignmentOf(elementOf(value));
  if (mask)
    LLVM::MaskedStoreOp::create(b, loc, value, pointer, mask, alignment);
  else
    LLVM::StoreOp::create(b, loc, value, pointer, alignment);
}

/// Lanes that lie `stride` elements apart.
Value KernelEmitter::gather(Value pointer, Type element, int64_t stride) {
  Type memory = memoryType(element), type = lanesOf(memory);
  SmallVector<int64_t> numbers;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    numbers.push_back(lane * stride);
  Value index = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<ShapedType>(lanesOf(b.getI64Type())),
                             ArrayRef<int64_t>(numbers)));
  Value pointers =
      LLVM::GEPOp::create(b, loc, lanesOf(pointer.getType()), memory, pointer,
                          ArrayRef<LLVM::GEPArg>{index});
  Value all = mask ? mask : splat(lanesOf(b.getI1Type()), 1);
  Value value = LLVM::masked_gather::create(b, loc, type, pointers, all,
                                            ValueRange{splat(type, 0)},
                                            alignmentOf(memory));
  return fromMemory(value, element);
}

/// A buffer on the stack of the function.
Value KernelEmitter::scratch(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::AllocaOp::create(b, loc, pointer, memoryType(element),
                                constant(count), /*alignment=*/64);
}

/// The element of an operand at the current indices, or its lanes.
Value KernelEmitter::load(const NestOperand &operand) {
  if (Value number = numbers.lookup(operand.base))
    return number;
  Type element = elementOf(operand.base), memory = memoryType(element);
  Value from = buffer(operand.base);
  bool lanes = shape.getDepth(operand.access) == ValueDepth::Lane;
  if (lanes && tileIndex && !isa<BlockArgument>(operand.base))
    return loadLanes(offset(from, memory, tileIndex), element);
  Value pointer = address(from, memory, operand.access, lanes);
  if (!lanes)
    return loadScalar(pointer, element);
  int64_t stride = operand.access.strides.back();
  return stride == 1 ? loadLanes(pointer, element)
                     : gather(pointer, element, stride);
}

/// Loads the one element of an operand at the current indices, with the lane
/// index too.
Value KernelEmitter::loadElement(const NestOperand &operand) {
  Type element = elementOf(operand.base);
  Value pointer = address(buffer(operand.base), memoryType(element),
                          operand.access, /*lanes=*/true);
  return loadScalar(pointer, element);
}

void KernelEmitter::store(const NestOperand &operand, Value value) {
  bool lanes = shape.getDepth(operand.access) == ValueDepth::Lane;
  Type memory = memoryType(elementOf(operand.base));
  Value pointer = address(buffer(operand.base), memory, operand.access, lanes);
  if (lanes)
    storeLanes(toLanes(value), pointer);
  else
    storeScalar(value, pointer);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Broadcasts a scalar. 16-bit floats are broadcast as bits, as in memory.
Value KernelEmitter::toLanes(Value value) {
  Type element = value.getType();
  if (isa<VectorType>(element))
    return value;
  bool isLow = element.isF16() || element.isBF16();
  Value bits = isLow ? toMemory(value) : value;
  Value lanes =
      vector::BroadcastOp::create(b, loc, lanesOf(bits.getType()), bits);
  return isLow ? fromMemory(lanes, element) : lanes;
}

Value KernelEmitter::getConstant(Operation *op, bool lanes) {
  auto element = cast<TypedAttr>(cast<arith::ConstantOp>(op).getValue());
  if (!lanes)
    return arith::ConstantOp::create(b, loc, element);
  auto type = cast<ShapedType>(lanesOf(element.getType()));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, element));
}

/// A value of a nest's body, read now if it is an operand not read yet.
Value KernelEmitter::getScalar(const KernelNest &nest, Value value,
                               bool lanes) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return getConstant(constant, lanes);
  auto &values = known[static_cast<int>(nest.depths.lookup(value))];
  Value result = values.lookup(value);
  if (!result) {
    result = load(nest.inputs[cast<BlockArgument>(value).getArgNumber()]);
    values[value] = result;
  }
  return lanes ? toLanes(result) : result;
}

/// The index of a dimension as a number; a vector for the dimension of the
/// lanes.
Value KernelEmitter::numberOf(unsigned dim, Type element) {
  Value index = indices[dim];
  if (element.isInteger(32))
    index = arith::TruncIOp::create(b, loc, element, index);
  if (shape.getRole(dim) != DimRole::Lane)
    return index;
  return arith::AddIOp::create(b, loc, toLanes(index), laneNumbers(element));
}

/// Computes the results of an op at its own depth: the same op on scalars or on
/// vectors.
void KernelEmitter::evaluate(const KernelNest &nest, Operation *op) {
  if (isa<linalg::IndexOp>(op))
    return;
  if (std::optional<unsigned> dim = nest.getIndexDim(op)) {
    Value number = op->getResult(0);
    known[static_cast<int>(nest.depths.lookup(number))][number] =
        numberOf(*dim, number.getType());
    return;
  }
  ValueDepth depth = nest.depths.lookup(op->getResult(0));
  bool lanes = depth == ValueDepth::Lane;
  if (auto draw = dyn_cast<DrawOp>(op)) {
    known[static_cast<int>(depth)][draw] = drawNumbers(nest, draw);
    return;
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getScalar(nest, operand, lanes));
  Operation *clone = b.clone(*op, mapping);
  for (auto [from, to] : llvm::zip(op->getResults(), clone->getResults())) {
    if (lanes)
      to.setType(lanesOf(from.getType()));
    known[static_cast<int>(depth)][from] = to;
  }
}
