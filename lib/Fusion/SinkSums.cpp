//===- SinkSums.cpp - Sums over rows beside the kernels of their rows -----===//
//
// A kernel runs at the place of its last op and ends before the first use of
// its results. A gradient's sum between the ops of a chain, or behind the
// product that reads the chain's result, is such a use.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Fusion/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_SINKSUMSPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

using OpSet = llvm::SetVector<Operation *>;

struct SinkSumsPass : weft::impl::SinkSumsPassBase<SinkSumsPass> {
  using SinkSumsPassBase::SinkSumsPassBase;

  void runOnOperation() override {
    SmallVector<ReduceOp> sums;
    for (auto reduce : getOperation().getBody().front().getOps<ReduceOp>())
      if (isSumOverRows(reduce))
        sums.push_back(reduce);
    for (ReduceOp sum : sums)
      sink(sum);
  }

  void sink(ReduceOp sum);

  /// For each barrier that sums were moved to, the first op that reads one.
  DenseMap<Operation *, Operation *> firstReaders;
};

} // namespace

/// The ops that compute the operand from the value of a kernel and that only
/// the sum reads: reshapes and a widening cast, in program order, and the sum.
static SmallVector<Operation *> findChain(ReduceOp sum) {
  SmallVector<Operation *> chain = {sum};
  for (Value value = sum.getOperand(); value.hasOneUse();
       value = value.getDefiningOp()->getOperand(0)) {
    Operation *op = value.getDefiningOp();
    if (!op || (!renames(op) && !isWideningCast(op)))
      break;
    chain.insert(chain.begin(), op);
  }
  return chain;
}

/// The ops that depend on the sum.
static OpSet findDependents(ReduceOp sum) {
  OpSet dependents;
  dependents.insert_range(sum->getUsers());
  for (unsigned i = 0; i < dependents.size(); ++i)
    dependents.insert_range(dependents[i]->getUsers());
  return dependents;
}

/// Whether each dependent of the sum is as cheap as a gradient: no routine, and
/// no other reduction than of the sum's own elements.
static bool isGradientOnly(ReduceOp sum, const OpSet &dependents) {
  int64_t elements =
      cast<RankedTensorType>(sum.getResult().getType()).getNumElements();
  return llvm::all_of(dependents, [&](Operation *op) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return cast<RankedTensorType>(reduce.getOperand().getType())
                 .getNumElements() <= elements;
    return getImplementation(op).empty();
  });
}

/// The first barrier behind `op` that does not depend on the sum.
static Operation *findBarrier(Operation *op, const OpSet &dependents) {
  while ((op = op->getNextNode()))
    if (op->hasTrait<OpTrait::IsTerminator>() ||
        (isFusionBarrier(op) && !dependents.contains(op)))
      break;
  return op;
}

/// Moves the sum and its dependents in front of the first barrier behind
/// the op of a kernel that computes its operand, or behind the sum itself. All
/// sums there precede all their readers.
void SinkSumsPass::sink(ReduceOp sum) {
  SmallVector<Operation *> chain = findChain(sum);
  Operation *source = chain.front()->getOperand(0).getDefiningOp();
  if (!source || isa<ReadOp, ConstantOp, ReduceOp>(source))
    return;
  OpSet dependents = findDependents(sum);
  if (!isGradientOnly(sum, dependents))
    return;
  // The other readers of a routine's result may be anywhere behind it.
  const bool isOfRoutine = isFusionBarrier(source);
  Operation *barrier = findBarrier(isOfRoutine ? sum : source, dependents);
  SmallVector<Operation *> between;
  for (Operation *op : dependents)
    if (op->isBeforeInBlock(barrier))
      between.push_back(op);
  llvm::sort(between,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  Operation *&reader = firstReaders.try_emplace(barrier, barrier).first->second;
  Operation *place = source->isBeforeInBlock(reader) ? reader : barrier;
  for (Operation *op : chain)
    op->moveBefore(place);
  for (Operation *op : between)
    op->moveBefore(barrier);
  if (reader == barrier && !between.empty())
    reader = between.front();
  ++numMoved;
}
