//===- PrepareProgram.cpp - What lowering must know ahead -----------------===//

#include "PrepareProgram.h"

#include "weft/Abi/Names.h"
#include "weft/Analysis/Implementations.h"

using namespace mlir;

namespace weft {

int64_t ProgramFacts::getLastUse(Value value) const {
  return lastUses.lookup(skipViews(value));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Moves the op unless it is there: a move costs the block its op numbers,
/// which are counted again at the next comparison.
static void placeAfter(Operation *op, Operation *place) {
  if (op->getPrevNode() != place)
    op->moveAfter(place);
}

/// Moves the accumulation to right behind its latest operand, and the op that
/// performs it to right before it.
static void moveToGradient(AccumulateOp accumulate) {
  Operation *latest = nullptr;
  for (Value operand : accumulate.getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && (!latest || latest->isBeforeInBlock(producer)))
      latest = producer;
  }
  if (latest)
    placeAfter(accumulate, latest);
  Operation *producer = findFoldableProducer(accumulate);
  Operation *next = accumulate;
  for (Value value = accumulate.getValue();;
       value = value.getDefiningOp()->getOperand(0)) {
    Operation *op = value.getDefiningOp();
    if (op->getNextNode() != next)
      op->moveBefore(next);
    if (op == producer)
      return;
    next = op;
  }
}

static void orderProgram(Block &body) {
  SmallVector<Operation *> reads;
  SmallVector<AccumulateOp> accumulates;
  for (Operation &op : body) {
    if (isa<ReadOp>(op))
      reads.push_back(&op);
    if (auto accumulate = dyn_cast<AccumulateOp>(op))
      accumulates.push_back(accumulate);
  }
  for (Operation *read : llvm::reverse(reads))
    read->moveBefore(&body, body.begin());
  for (AccumulateOp accumulate : accumulates)
    moveToGradient(accumulate);
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static void collectPositions(ProgramOp program, ProgramFacts &facts) {
  BlockArgument seed = program.findInput(names::kLossSeed);
  Block &body = program.getBody().front();
  facts.backwardStart = body.getOperations().size();
  int64_t position = 0;
  for (Operation &op : body) {
    facts.positions[&op] = position;
    bool isBackward =
        seed && llvm::any_of(op.getOperands(), [&](Value operand) {
          return skipViews(operand) == seed;
        });
    if (isBackward && !isViewOp(&op))
      facts.backwardStart = std::min(facts.backwardStart, position);
    if (!isViewOp(&op))
      for (Value operand : op.getOperands()) {
        int64_t &last = facts.lastUses[skipViews(operand)];
        last = std::max(last, position);
      }
    ++position;
  }
}

ProgramFacts prepareProgram(ProgramOp program, const SymbolTable &symbols) {
  orderProgram(program.getBody().front());
  ProgramFacts facts;
  collectPositions(program, facts);
  for (auto accumulate : program.getBody().front().getOps<AccumulateOp>())
    facts.folded.insert(findFoldableProducer(accumulate));
  facts.placement = computePlacement(program, symbols, facts.positions);
  return facts;
}

} // namespace weft
