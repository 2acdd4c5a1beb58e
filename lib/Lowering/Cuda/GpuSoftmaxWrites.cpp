//===- GpuSoftmaxWrites.cpp - A pass that writes over a long row ----------===//
//
// No element is compared with the index of the row, as a target. The thread
// that owns the element at the index computes its result before it writes, and
// writes it last: the result may lie over the element that it is made of.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"
#include "weft/Lowering/Linalg/Picks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace weft;

/// The only number that the nest compares the index of an element with, or
/// null.
Value GpuEmitter::findHit(const KernelNest &nest) const {
  Value found;
  for (Operation &op : nest.getBody().without_terminator()) {
    Value number = getComparedNumber(shape, nest, &op);
    if (number && found && number != found)
      return nullptr;
    if (number)
      found = number;
  }
  return found;
}

/// Writes the nest's results for chunks that are all read before.
void GpuEmitter::writeChunks(const KernelNest &nest, ArrayRef<Value> firsts,
                             int64_t count) {
  lanes = count;
  SmallVector<llvm::DenseMap<Value, Values>> computed;
  for (Value first : firsts) {
    indices.back() = first;
    laneValues.clear();
    emitValues(nest, /*outer=*/false);
    computed.push_back(std::move(laneValues));
  }
  for (auto [first, values] : llvm::zip_equal(firsts, computed)) {
    indices.back() = first;
    laneValues = std::move(values);
    storeNest(nest);
  }
}

/// The results at the index that the nest compares with, in the thread that
/// owns it. They are computed before anything is written.
GpuEmitter::Hit GpuEmitter::computeHit(const KernelNest &nest, Value number,
                                       Value thread, int64_t threads) {
  Hit hit;
  number = getValue(nest, number, 0);
  hit.index = asLane(number);
  Value owns = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread,
                                     ownerOf(hit.index, threads));
  hit.isOwner = arith::AndIOp::create(b, loc, isInRow(number), owns);
  Values none;
  for (Value result : nest.getBody().getTerminator()->getOperands())
    none.push_back(
        arith::ConstantOp::create(b, loc, b.getZeroAttr(result.getType())));
  hit.results = emitIf(hit.isOwner, none, [&]() -> Values {
    lanes = 1;
    indices.back() = hit.index;
    laneValues.clear();
    emitValues(nest, /*outer=*/false);
    Values results;
    for (Value result : nest.getBody().getTerminator()->getOperands())
      results.push_back(getValue(nest, result, 0));
    return results;
  });
  return hit;
}

void GpuEmitter::writeHit(const KernelNest &nest, const Hit &hit) {
  emitIf(hit.isOwner, {}, [&]() -> Values {
    lanes = 1;
    indices.back() = hit.index;
    for (auto [output, value] : llvm::zip_equal(nest.outputs, hit.results))
      store(output, {value});
    return {};
  });
}

/// The chunks of a row.
void GpuEmitter::writeRow(const KernelNest &nest, Value thread,
                          int64_t threads) {
  emitChunks(
      thread, threads, {},
      [&](ArrayRef<Value> firsts, int64_t count, Values) -> Values {
        writeChunks(nest, firsts, count);
        return {};
      },
      [&](int64_t count, StepBody body, Values) {
        return emitLoop(constant(0), constant(count), {}, body);
      });
}

/// The only condition of a row by which the nest selects results, or null.
static Value findCondition(const KernelNest &nest) {
  Value found;
  for (auto select : nest.getBody().getOps<arith::SelectOp>()) {
    Value condition = select.getCondition();
    if (nest.depths.lookup(condition) != ValueDepth::Outer ||
        nest.depths.lookup(select) != ValueDepth::Lane)
      continue;
    if (found && condition != found)
      return nullptr;
    found = condition;
  }
  return found;
}

/// The pass as if no element had the index of a hit. The thread that owns that
/// element then overwrites it. A condition of the row chooses between two
/// passes.
void GpuEmitter::emitWritingPass(const KernelNest &nest, Value thread,
                                 int64_t threads) {
  emitValues(nest, /*outer=*/true);
  Value number = findHit(nest), condition = findCondition(nest);
  Hit hit;
  if (number)
    hit = computeHit(nest, number, thread, threads);
  for (Operation &op : nest.getBody().without_terminator())
    if (number && getComparedNumber(shape, nest, &op) == number)
      assumed[op.getResult(0)] = false;
  if (condition) {
    auto branch = scf::IfOp::create(b, loc, getValue(nest, condition, 0),
                                    /*withElseRegion=*/true);
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(block);
      assumed[condition] = block == branch.thenBlock();
      writeRow(nest, thread, threads);
    }
  } else {
    writeRow(nest, thread, threads);
  }
  assumed.clear();
  if (number)
    writeHit(nest, hit);
}
