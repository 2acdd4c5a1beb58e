//===- KernelQuads.cpp - Values that four neighbours share ----------------===//
//
// A block of random numbers serves four elements of a row (PhiloxBody.cpp).
// What depends on `element >> 2` alone is computed once for all four: a vector
// of it has a lane per block, for a group of four chunks, and each chunk takes
// the lanes of its own blocks four times. Chunks begin at multiples of kLanes,
// so that blocks do not straddle them.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weft {

/// Elements that share a value, and the shift that numbers them.
static constexpr int64_t kQuad = 4, kQuadShift = 2;

static std::optional<int64_t> getInteger(Value value) {
  llvm::APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

static bool isMultiple(Value value) {
  if (std::optional<int64_t> number = getInteger(value))
    return *number % kQuad == 0;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op))
    return llvm::any_of(op->getOperands(), isMultiple);
  return isa_and_nonnull<arith::AddIOp>(op) &&
         llvm::all_of(op->getOperands(), isMultiple);
}

/// Whether it counts lanes from a multiple of four on.
bool KernelEmitter::countsLanes(const KernelNest &nest, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (std::optional<unsigned> dim = nest.getIndexDim(op))
    return shape.getRole(*dim) == DimRole::Lane;
  if (!isa<arith::AddIOp>(op))
    return false;
  auto isStart = [&](Value term) {
    return nest.depths.lookup(term) != ValueDepth::Lane && isMultiple(term);
  };
  Value x = op->getOperand(0), y = op->getOperand(1);
  return (countsLanes(nest, x) && isStart(y)) ||
         (countsLanes(nest, y) && isStart(x));
}

/// The number of a block.
bool KernelEmitter::countsQuads(const KernelNest &nest, Operation *op) {
  auto shift = dyn_cast<arith::ShRUIOp>(op);
  return shift && shift.getType().isInteger(64) &&
         getInteger(shift.getRhs()) == kQuadShift &&
         countsLanes(nest, shift.getLhs());
}

void KernelEmitter::findQuads(const KernelNest &nest) {
  for (Operation &op : nest.getBody().without_terminator()) {
    if (op.getNumOperands() == 0 || nest.isCombiner(&op))
      continue;
    bool isQuad = countsQuads(nest, &op);
    bool dependsOnQuads = llvm::any_of(
        op.getOperands(), [&](Value x) { return quads.contains(x); });
    bool dependsOnLanes = llvm::any_of(op.getOperands(), [&](Value x) {
      return nest.depths.lookup(x) == ValueDepth::Lane && !quads.contains(x);
    });
    if (isQuad || (dependsOnQuads && !dependsOnLanes))
      quads.insert(op.result_begin(), op.result_end());
  }
}

bool KernelEmitter::hasQuads(const KernelNest &nest) const {
  return llvm::any_of(nest.getBody().without_terminator(), [&](Operation &op) {
    return op.getNumResults() != 0 && quads.contains(op.getResult(0));
  });
}

/// A number of a lane, at the first lane of a chunk.
Value KernelEmitter::firstOf(const KernelNest &nest, Value number) {
  if (nest.depths.lookup(number) != ValueDepth::Lane)
    return getScalar(nest, number, /*lanes=*/false);
  Operation *op = number.getDefiningOp();
  if (std::optional<unsigned> dim = nest.getIndexDim(op))
    return indices[*dim];
  Value x = firstOf(nest, op->getOperand(0));
  return arith::AddIOp::create(b, loc, x, firstOf(nest, op->getOperand(1)));
}

/// Computes the shared values of the group of chunks that begins at `index`.
void KernelEmitter::startQuads(const KernelNest &nest, Value index) {
  if (!hasQuads(nest))
    return;
  indices.back() = index;
  quadChunk = 0;
  for (Operation &op : nest.getBody().without_terminator()) {
    if (op.getNumResults() == 0 || !quads.contains(op.getResult(0)))
      continue;
    if (countsQuads(nest, &op)) {
      Value first = arith::ShRUIOp::create(
          b, loc, firstOf(nest, op.getOperand(0)), constant(kQuadShift));
      quadLanes[op.getResult(0)] = arith::AddIOp::create(
          b, loc, toLanes(first), laneNumbers(b.getI64Type()));
      continue;
    }
    IRMapping mapping;
    for (Value operand : op.getOperands())
      mapping.map(operand, quads.contains(operand)
                               ? quadLanes.lookup(operand)
                               : getScalar(nest, operand, /*lanes=*/true));
    Operation *clone = b.clone(op, mapping);
    for (auto [from, to] : llvm::zip(op.getResults(), clone->getResults())) {
      to.setType(lanesOf(from.getType()));
      quadLanes[from] = to;
    }
  }
  indices.back() = nullptr;
}

/// The lanes of this chunk's blocks, each four times.
Value KernelEmitter::spreadQuads(Value value) {
  llvm::SmallVector<int64_t> from;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    from.push_back((quadChunk * kLanes + lane) / kQuad);
  Value lanes = quadLanes.lookup(value);
  return vector::ShuffleOp::create(b, loc, lanes, lanes, from);
}

/// Bits of the number of a lane that all chunks have in common, as constants.
Value KernelEmitter::getLanePattern(const KernelNest &nest, Operation *op) {
  std::optional<int64_t> bits, shift = 0;
  if (isa<arith::AndIOp>(op))
    bits = getInteger(op->getOperand(1));
  Value number = bits ? op->getOperand(0) : Value();
  if (auto shifted =
          number ? number.getDefiningOp<arith::ShRUIOp>() : nullptr) {
    shift = getInteger(shifted.getRhs());
    number = shifted.getLhs();
  }
  if (auto narrow = number ? number.getDefiningOp<arith::TruncIOp>() : nullptr)
    number = narrow.getIn();
  if (!number || !shift || *bits < 0 || *shift < 0 || *bits >= kQuad ||
      *shift >= kQuadShift || *bits << *shift >= kQuad ||
      !countsLanes(nest, number))
    return nullptr;
  Type element = op->getResult(0).getType();
  llvm::SmallVector<Attribute> lanes;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    lanes.push_back(b.getIntegerAttr(element, lane >> *shift & *bits));
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<ShapedType>(lanesOf(element)), lanes));
}

/// Runs `body` for the whole chunks of [from, to), in groups where values are
/// shared.
KernelEmitter::Values KernelEmitter::emitChunks(
    const KernelNest &nest, Value from, Value to, const Values &args,
    llvm::function_ref<Values(Value, Values)> body, int32_t unroll) {
  if (!hasQuads(nest))
    return emitLoop(from, to, kLanes, args, body, unroll);
  constexpr int64_t kGroup = kQuad * kLanes;
  Value size = arith::SubIOp::create(b, loc, to, from);
  Value grouped = arith::AndIOp::create(b, loc, size, constant(-kGroup));
  Value middle = arith::AddIOp::create(b, loc, from, grouped);
  Values next =
      emitLoop(from, middle, kGroup, args, [&](Value first, Values values) {
        startQuads(nest, first);
        for (quadChunk = 0; quadChunk < kQuad; ++quadChunk) {
          Value offset = constant(quadChunk * kLanes);
          values = body(arith::AddIOp::create(b, loc, first, offset), values);
        }
        return values;
      });
  return emitLoop(middle, to, kLanes, next, [&](Value index, Values values) {
    startQuads(nest, index);
    return body(index, values);
  });
}

} // namespace weft
