//===- GpuElements.cpp - The bodies of a kernel, element by element -------===//

#include "GpuEmitter.h"
#include "weft/Lowering/Linalg/PhiloxNumbers.h"
#include "weft/Weft/KernelOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// i32 if no element of the space or of an operand is beyond it.
void GpuEmitter::chooseIndexType() {
  // Room for the last block of a grid.
  constexpr int64_t kMost = int64_t(1) << 30;
  int64_t points = 1, farthest = 0;
  for (int64_t size : shape.getSizes())
    points *= size;
  for (const KernelNest &nest : kernel.getNests())
    for (const auto *operands : {&nest.inputs, &nest.outputs})
      for (const NestOperand &operand : *operands) {
        int64_t last = operand.access.offset;
        for (auto [size, stride] :
             llvm::zip(shape.getSizes(), operand.access.strides))
          last += (size - 1) * stride;
        farthest = std::max(farthest, last);
      }
  indexType =
      std::max(points, farthest) < kMost ? b.getI32Type() : b.getI64Type();
}

Value GpuEmitter::constant(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(indexType, value));
}

static bool isZero(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : nullptr;
  return number && number.getValue().isZero();
}

Value GpuEmitter::add(Value x, Value y) {
  if (isZero(x))
    return y;
  return isZero(y) ? x : arith::AddIOp::create(b, loc, x, y).getResult();
}

Value GpuEmitter::multiply(Value x, int64_t factor) {
  if (factor == 1)
    return x;
  return arith::MulIOp::create(b, loc, x, constant(factor));
}

Value GpuEmitter::divide(Value x, int64_t divisor) {
  if (divisor == 1)
    return x;
  return arith::DivUIOp::create(b, loc, x, constant(divisor));
}

Value GpuEmitter::remainder(Value x, int64_t divisor) {
  if (divisor == 1)
    return constant(0);
  return arith::RemUIOp::create(b, loc, x, constant(divisor));
}

Value GpuEmitter::isLess(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
}

Value GpuEmitter::asIndex(Value value) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}

/// Sets the indices of the dimensions of these roles, the fastest first, from
/// their joint index.
void GpuEmitter::decode(Value linear, ArrayRef<DimRole> roles) {
  SmallVector<unsigned> dims;
  for (DimRole role : roles)
    for (unsigned d = indices.size(); d-- > 0;)
      if (shape.getRole(d) == role)
        dims.push_back(d);
  decode(linear, dims);
}

/// Sets the indices of the dimensions, the fastest first.
void GpuEmitter::decode(Value linear, ArrayRef<unsigned> dims) {
  for (unsigned d : dims) {
    bool isLast = d == dims.back();
    int64_t size = shape.getSizes()[d];
    indices[d] = isLast ? linear : remainder(linear, size);
    if (!isLast)
      linear = divide(linear, size);
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A value of a nest's body for one lane.
Value GpuEmitter::getValue(const KernelNest &nest, Value value, int64_t lane) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(b, loc, constant.getValue());
  if (auto known = assumed.find(value); known != assumed.end())
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(known->second));
  switch (nest.depths.lookup(value)) {
  case ValueDepth::Outer:
    return outerValues.lookup(value);
  case ValueDepth::Inner:
    return laneValues.lookup(value).front();
  case ValueDepth::Lane:
    return laneValues.lookup(value)[lane];
  }
  llvm_unreachable("covered switch");
}

/// The index of a dimension, for a lane of a chunk.
Value GpuEmitter::numberOf(unsigned dim, Type element, int64_t lane) {
  Value index = indices[dim];
  if (shape.getRole(dim) == DimRole::Lane)
    index = add(index, constant(lane));
  if (index.getType() == element)
    return index;
  if (element.isInteger(32))
    return arith::TruncIOp::create(b, loc, element, index);
  return arith::ExtUIOp::create(b, loc, element, index);
}

/// The op on the numbers of one lane.
static Value cloneOp(OpBuilder &b, Location loc, Operation *op,
                     IRMapping &numbers) {
  auto draw = dyn_cast<DrawOp>(op);
  if (!draw)
    return b.clone(*op, numbers)->getResult(0);
  return buildPhiloxNumber(
      b, loc, draw.getKind(), numbers.lookup(draw.getKey()),
      numbers.lookup(draw.getRow()), numbers.lookup(draw.getElement()));
}

/// The op's value for one lane.
Value GpuEmitter::evaluateOnce(const KernelNest &nest, Operation *op,
                               int64_t lane) {
  Type type = op->getResult(0).getType();
  if (std::optional<unsigned> dim = nest.getIndexDim(op))
    return numberOf(*dim, type, lane);
  if (softmax.sum)
    if (arith::SubFOp exponent = getExponent(nest, op)) {
      const bool isLow = isLowExponent(exponent);
      Value y = getValue(nest, exponent.getRhs(), lane);
      return emitExponential(getValue(nest, exponent.getLhs(), lane),
                             emitExponentBase(y, isLow), isLow);
    }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getValue(nest, operand, lane));
  return cloneOp(b, loc, op, mapping);
}

/// Computes the op for each lane, or once if it is the same for all.
void GpuEmitter::evaluate(const KernelNest &nest, Operation *op) {
  if (isa<linalg::IndexOp>(op))
    return;
  Value result = op->getResult(0);
  ValueDepth depth = nest.depths.lookup(result);
  int64_t copies = depth == ValueDepth::Lane ? lanes : 1;
  Values elements;
  for (int64_t lane = 0; lane < copies; ++lane)
    elements.push_back(evaluateOnce(nest, op, lane));
  if (depth == ValueDepth::Outer)
    outerValues[result] = elements.front();
  else
    laneValues[result] = elements;
}

/// Reads the operands and computes the values of the outer loops, or all
/// others.
void GpuEmitter::emitValues(const KernelNest &nest, bool outer) {
  auto isHere = [&](Value value) {
    return (nest.depths.lookup(value) == ValueDepth::Outer) == outer;
  };
  for (auto [i, input] : llvm::enumerate(nest.inputs)) {
    Value argument = nest.getBody().getArgument(i);
    if (argument.use_empty() || !isHere(argument))
      continue;
    Values elements = load(input);
    if (outer)
      outerValues[argument] = elements.front();
    else
      laneValues[argument] = elements;
  }
  for (Operation &op : nest.getBody().without_terminator())
    if (!isa<arith::ConstantOp>(op) && !nest.isCombiner(&op) &&
        isHere(op.getResult(0)))
      evaluate(nest, &op);
}

/// Loads the elements of an operand at the current indices: one, or one per
/// lane.
GpuEmitter::Values GpuEmitter::load(const NestOperand &operand) {
  if (Value number = numbers.lookup(operand.base))
    return {number};
  if (auto totals = columnTotals.find(operand.base);
      totals != columnTotals.end())
    return totals->second;
  if (Value buffer = rowBuffers.lookup(operand.base))
    return loadSlots(buffer);
  KeptRow *kept = slot ? findKept(operand) : nullptr;
  if (!kept)
    return loadGlobal(operand);
  if (kept->isFilled)
    return loadSlots(kept->buffer);
  Values elements = loadGlobal(operand);
  storeSlots(kept->buffer, elements);
  return elements;
}

GpuEmitter::Values GpuEmitter::loadGlobal(const NestOperand &operand) {
  Values elements;
  read.insert(operand.base);
  Type element = cast<MemRefType>(operand.base.getType()).getElementType();
  int64_t count = isPerLane(operand) ? lanes : 1;
  int64_t width = count == 1 ? 1 : getWidth(operand);
  for (int64_t lane = 0; lane < count; lane += width)
    llvm::append_range(elements,
                       loadVector(address(operand, lane), element, width));
  return elements;
}

void GpuEmitter::store(const NestOperand &operand, const Values &elements) {
  if (Value buffer = rowBuffers.lookup(operand.base))
    return storeSlots(buffer, elements);
  int64_t count = elements.size();
  int64_t width = count == 1 ? 1 : getWidth(operand);
  for (int64_t lane = 0; lane < count; lane += width)
    storeVector(address(operand, lane),
                ArrayRef<Value>(elements).slice(lane, width));
}

void GpuEmitter::storeNest(const KernelNest &nest) {
  for (auto [i, output] : llvm::enumerate(nest.outputs)) {
    if (nest.totals[i].combiner)
      continue;
    Values elements;
    bool perLane = isPerLane(output) || rowBuffers.contains(output.base);
    for (int64_t lane = 0; lane < (perLane ? lanes : 1); ++lane)
      elements.push_back(getValue(nest, nest.getResult(i), lane));
    store(output, elements);
  }
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// The nest for `count` elements from the current indices on. Element i is
/// added to the i-th of the partial sums of its total.
GpuEmitter::Values GpuEmitter::emitChunk(const KernelNest &nest, int64_t count,
                                         Values sums) {
  lanes = count;
  laneValues.clear();
  emitValues(nest, /*outer=*/false);
  SmallVector<NestTotal> totals = totalsOf(nest);
  for (auto [i, total] : llvm::enumerate(totals))
    for (int64_t lane = 0; lane < count; ++lane) {
      Value &sum = sums[i * count + lane];
      Value element = getValue(nest, total.getElement(), lane);
      sum = total.combine(b, sum, element);
    }
  addToRowTotals(nest, count);
  storeNest(nest);
  return sums;
}

/// The elements of a chunk that exist, one by one.
GpuEmitter::Values GpuEmitter::emitSingly(const KernelNest &nest, Values sums) {
  Value first = indices.back(), firstSlot = slot;
  Value size = constant(shape.getLaneSize());
  for (int64_t lane = 0; lane < chunk; ++lane) {
    Values own;
    for (size_t i = lane; i < sums.size(); i += chunk)
      own.push_back(sums[i]);
    indices.back() = add(first, constant(lane));
    Value exists = isLess(indices.back(), size);
    own = emitIf(exists, own, [&] {
      if (firstSlot)
        slot = add(firstSlot, constant(lane));
      return emitChunk(nest, 1, own);
    });
    for (auto [i, sum] : llvm::enumerate(own))
      sums[i * chunk + lane] = sum;
  }
  indices.back() = first;
  slot = firstSlot;
  return sums;
}

/// The nest for the chunk that begins at the current indices.
GpuEmitter::Values GpuEmitter::emitPiece(const KernelNest &nest, Values sums) {
  int64_t size = shape.getLaneSize();
  if (size % chunk == 0)
    return emitChunk(nest, chunk, std::move(sums));
  if (!hasWideAccess(nest))
    return emitSingly(nest, std::move(sums));
  Value isWhole = isLess(indices.back(), constant(size - chunk + 1));
  auto types = TypeRange(ValueRange(sums));
  auto branch = scf::IfOp::create(b, loc, types, isWhole, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Block *block, function_ref<Values()> body) {
    b.setInsertionPointToStart(block);
    Values results = body();
    if (!results.empty())
      scf::YieldOp::create(b, loc, results);
  };
  fill(branch.thenBlock(), [&] { return emitChunk(nest, chunk, sums); });
  fill(branch.elseBlock(), [&] { return emitSingly(nest, sums); });
  return Values(branch.getResults());
}
