//===- GpuMemory.cpp - Reads and writes of a kernel's buffers -------------===//
//
// Elements that lie one after the other are read and written together, up to 16
// bytes, where offset and strides promise an address that allows it.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace weft;

/// The widest access of a thread, in bytes.
static constexpr int64_t kAccessBytes = 16;

/// Type in memory: a byte for i1.
static Type memoryType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

static int64_t bytesOf(Type memory) {
  return memory.getIntOrFloatBitWidth() / 8;
}

/// Whether an operand in memory has elements of its own for the lanes.
bool GpuEmitter::isPerLane(const NestOperand &operand) const {
  return !indices.empty() && operand.access.dependsOn(indices.size() - 1);
}

/// Elements that one access takes.
int64_t GpuEmitter::getWidth(const NestOperand &operand) const {
  auto argument = dyn_cast<BlockArgument>(operand.base);
  if (!argument || !isPerLane(operand) || operand.access.strides.back() != 1)
    return 1;
  int64_t bytes = bytesOf(
      memoryType(cast<MemRefType>(operand.base.getType()).getElementType()));
  // The largest power of two that every address is a multiple of.
  uint64_t places = alignments[argument.getArgNumber()];
  places |= operand.access.offset * bytes;
  for (int64_t stride : ArrayRef(operand.access.strides).drop_back())
    places |= stride * bytes;
  int64_t aligned = places & (~places + 1);
  int64_t width = std::min(aligned, kAccessBytes) / bytes;
  return std::clamp<int64_t>(width, 1, chunk);
}

bool GpuEmitter::hasWideAccess(const KernelNest &nest) const {
  auto isWide = [&](const NestOperand &operand) {
    return getWidth(operand) > 1;
  };
  return llvm::any_of(nest.inputs, isWide) ||
         llvm::any_of(nest.outputs, isWide);
}

/// Address of the element for a lane, at the current indices.
Value GpuEmitter::address(const NestOperand &operand, int64_t lane) {
  const SpaceAccess &access = operand.access;
  int64_t fixed = access.offset;
  if (isPerLane(operand))
    fixed += lane * access.strides.back();
  Value sum = constant(fixed);
  for (unsigned d = 0; d < access.strides.size(); ++d)
    if (access.dependsOn(d))
      sum = add(sum, multiply(indices[d], access.strides[d]));
  unsigned number = cast<BlockArgument>(operand.base).getArgNumber();
  Type element = cast<MemRefType>(operand.base.getType()).getElementType();
  Value buffer = function.getArgument(number);
  return LLVM::GEPOp::create(b, loc, buffer.getType(), memoryType(element),
                             buffer, ArrayRef<LLVM::GEPArg>{sum});
}

Value GpuEmitter::fromMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(value.getType(), 0));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

Value GpuEmitter::toMemory(Value value) {
  Type memory = memoryType(value.getType());
  return memory == value.getType()
             ? value
             : arith::ExtUIOp::create(b, loc, memory, value).getResult();
}

GpuEmitter::Values GpuEmitter::loadVector(Value pointer, Type element,
                                          int64_t width) {
  Type memory = memoryType(element);
  unsigned alignment = width * bytesOf(memory);
  if (width == 1)
    return {fromMemory(LLVM::LoadOp::create(b, loc, memory, pointer, alignment),
                       element)};
  Value vector = LLVM::LoadOp::create(b, loc, VectorType::get({width}, memory),
                                      pointer, alignment);
  Values elements;
  for (int64_t i = 0; i < width; ++i)
    elements.push_back(fromMemory(
        vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{i}),
        element));
  return elements;
}

void GpuEmitter::storeVector(Value pointer, ArrayRef<Value> elements) {
  Values values;
  for (Value element : elements)
    values.push_back(toMemory(element));
  Type memory = values.front().getType();
  Value whole = values.front();
  int64_t width = values.size();
  if (width > 1)
    whole = vector::FromElementsOp::create(
        b, loc, VectorType::get({width}, memory), values);
  LLVM::StoreOp::create(b, loc, whole, pointer, width * bytesOf(memory));
}
