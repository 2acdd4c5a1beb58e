//===- PrepareProgram.cpp - What lowering must know ahead -----------------===//

#include "PrepareProgram.h"

#include "weft/Analysis/Implementations.h"
#include "weft/Formats/Names.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {

Value skipReshapes(Value value) {
  while (renames(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

int64_t ProgramFacts::getLastUse(Value value) const {
  return lastUses.lookup(skipViews(value));
}

/// Operands that the kernel lists for that result.
static SmallVector<unsigned> getKernelReuse(CallOp call, unsigned index,
                                            const SymbolTable &symbols) {
  auto kernel = symbols.lookup<KernelOp>(call.getKernelAttr().getAttr());
  auto lists = kernel->getAttrOfType<ArrayAttr>("weft.inplace");
  if (!lists)
    return {};
  auto list = cast<DenseI64ArrayAttr>(lists[index]);
  return SmallVector<unsigned>(list.asArrayRef().begin(),
                               list.asArrayRef().end());
}

SmallVector<unsigned> getReusableOperands(Operation *op, unsigned index,
                                          const SymbolTable &symbols) {
  // Results that are the new contents of the operand of the same number.
  auto getOwn = [&](unsigned numStates) {
    return index < numStates ? SmallVector<unsigned>{index}
                             : SmallVector<unsigned>();
  };
  return llvm::TypeSwitch<Operation *, SmallVector<unsigned>>(op)
      .Case([&](CallOp call) { return getKernelReuse(call, index, symbols); })
      .Case([&](AccumulateOp) { return SmallVector<unsigned>{0, 1}; })
      .Case([&](CrossEntropyGradOp) { return SmallVector<unsigned>{1}; })
      .Case<DropoutOp, StepIncrementOp>(
          [&](Operation *) { return SmallVector<unsigned>{0}; })
      .Case([&](OptimizerOpInterface optimizer) {
        return getOwn(1 + optimizer.getOptimizer().states.size());
      })
      .Case([&](ScalerUpdateOp) { return getOwn(2); })
      .Default([](Operation *) { return SmallVector<unsigned>(); });
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
  if (!isFolded(accumulate))
    return;
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

/// Last read of the old contents of each state.
static llvm::DenseMap<StringAttr, int64_t>
getLastReads(ProgramOp program, const ProgramFacts &facts) {
  llvm::DenseMap<StringAttr, int64_t> lastReads;
  for (ReadOp read : program.getBody().front().getOps<ReadOp>()) {
    int64_t use = facts.getLastUse(read.getResult());
    auto [entry, isNew] =
        lastReads.try_emplace(read.getSourceAttr().getAttr(), use);
    entry->second = std::max(entry->second, use);
  }
  return lastReads;
}

static bool isReadOf(Value value, StringAttr state) {
  auto read = skipReshapes(value).getDefiningOp<ReadOp>();
  return read && read.getSourceAttr().getAttr() == state;
}

/// Whether the op that makes `result` may write it over the old contents of
/// the state, which it still reads through `operand`s.
static bool mayWriteOver(OpResult result, StringAttr state,
                         const SymbolTable &symbols) {
  Operation *op = result.getOwner();
  SmallVector<unsigned> reusable =
      getReusableOperands(op, result.getResultNumber(), symbols);
  for (OpOperand &operand : op->getOpOperands()) {
    auto read = skipViews(operand.get()).getDefiningOp<ReadOp>();
    if (!read || read.getSourceAttr().getAttr() != state)
      continue;
    if (!isReadOf(operand.get(), state) ||
        !llvm::is_contained(reusable, operand.getOperandNumber()))
      return false;
  }
  return true;
}

/// Values from the first to the last that pass through the bytes of the state
/// when `written` is computed there: a chain of accumulations.
static SmallVector<OpResult> getStateChain(Value written) {
  SmallVector<OpResult> chain;
  Value value = skipReshapes(written);
  while (auto result = dyn_cast<OpResult>(value)) {
    if (isa<ReadOp, ConstantOp, ConcatOp>(result.getOwner()) ||
        isViewOp(result.getOwner()))
      return {};
    chain.push_back(result);
    auto accumulate = dyn_cast<AccumulateOp>(result.getOwner());
    if (!accumulate || !accumulate.getOld().hasOneUse() ||
        !accumulate.getOld().getDefiningOp<AccumulateOp>())
      break;
    value = accumulate.getOld();
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

static void collectStateValues(ProgramOp program, const SymbolTable &symbols,
                               ProgramFacts &facts) {
  llvm::DenseMap<StringAttr, int64_t> lastReads = getLastReads(program, facts);
  ReturnOp terminator = program.getTerminator();
  for (auto [value, target] :
       llvm::zip(terminator.getValues(), terminator.getTargets())) {
    StringAttr state = cast<FlatSymbolRefAttr>(target).getAttr();
    SmallVector<OpResult> chain = getStateChain(value);
    if (chain.empty() || facts.stateValues.count(chain.back()))
      continue;
    auto found = lastReads.find(state);
    int64_t lastRead = found == lastReads.end() ? -1 : found->second;
    int64_t firstWrite = facts.positions.lookup(chain.front().getOwner());
    if (lastRead > firstWrite || (lastRead == firstWrite &&
                                  !mayWriteOver(chain.front(), state, symbols)))
      continue;
    for (OpResult result : chain)
      facts.stateValues[result] = state;
  }
}

static bool readsState(Operation *op, StringAttr state) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto read = skipViews(operand).getDefiningOp<ReadOp>();
    return read && read.getSourceAttr().getAttr() == state;
  });
}

/// A folded accumulation adds in the bytes of its state if the old contents are
/// there and its producer does not read them; else to a copy of them.
static void collectFolded(ProgramOp program, ProgramFacts &facts) {
  for (auto accumulate : program.getBody().front().getOps<AccumulateOp>()) {
    if (!isFolded(accumulate))
      continue;
    Operation *producer = findFoldableProducer(accumulate);
    facts.folded.insert(producer);
    StringAttr state = facts.stateValues.lookup(accumulate.getResult());
    bool oldIsThere =
        state && (isReadOf(accumulate.getOld(), state) ||
                  facts.stateValues.lookup(accumulate.getOld()) == state);
    if (!oldIsThere || readsState(producer, state))
      facts.stateValues.erase(accumulate.getResult());
  }
}

/// Results that their op can write with strides.
static bool canWriteStrides(OpResult result) {
  if (isa<AttentionOp>(result.getOwner()))
    return result.getResultNumber() == 0;
  return isa<MatmulOp, AttentionGradOp>(result.getOwner());
}

static void collectPieces(ProgramOp program, ProgramFacts &facts) {
  for (auto concat : program.getBody().front().getOps<ConcatOp>())
    for (auto [index, input] : llvm::enumerate(concat.getInputs())) {
      auto result = dyn_cast<OpResult>(skipReshapes(input));
      if (result && canWriteStrides(result) &&
          !facts.folded.contains(result.getOwner()) &&
          !facts.stateValues.count(result))
        facts.pieces.try_emplace(result, concat, index);
    }
}

ProgramFacts prepareProgram(ProgramOp program, const SymbolTable &symbols) {
  orderProgram(program.getBody().front());
  ProgramFacts facts;
  collectPositions(program, facts);
  collectStateValues(program, symbols, facts);
  collectFolded(program, facts);
  collectPieces(program, facts);
  return facts;
}

} // namespace weft
