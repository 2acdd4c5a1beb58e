//===- PrepareProgram.cpp - Facts that lowering needs in advance ----------===//

#include "PrepareProgram.h"

#include "weft/Abi/Names.h"
#include "weft/Analysis/Implementations.h"

using namespace mlir;
using namespace weft;

namespace {
class Placer {
public:
  Placer(const SymbolTable &symbols, const Positions &positions)
      : symbols(symbols), positions(positions) {}
  Placement run(ProgramOp program);

private:
  /// A read of the contents that a state had when the program began.
  struct Read {
    OpOperand *operand;
    Layout layout;
  };

  void collectReads(ProgramOp program);
  bool place(Value value, BufferPlace wanted);
  bool placeConcat(ConcatOp op, const BufferPlace &wanted);
  bool isFree(OpResult result, Operation *writer,
              const BufferPlace &wanted) const;
  bool mayUpdateInPlace(OpResult result, const Read &read,
                        const BufferPlace &wanted) const;
  bool mayLieAt(OpResult result, const BufferPlace &wanted) const;

  const SymbolTable &symbols;
  const Positions &positions;
  DenseMap<StringAttr, SmallVector<Read>> reads;
  Placement places;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reads of old contents
//===----------------------------------------------------------------------===//

/// The state behind a chain of views and the layout of the value in it; a view
/// that cannot share bytes reads all of its operand.
static std::pair<StringAttr, Layout> findRead(Value value) {
  SmallVector<ViewOpInterface> views;
  while (auto view = value.getDefiningOp<ViewOpInterface>()) {
    views.push_back(view);
    value = view->getOperand(0);
  }
  auto read = value.getDefiningOp<ReadOp>();
  if (!read)
    return {};
  Layout layout = Layout::getDense(getShape(value));
  for (ViewOpInterface view : llvm::reverse(views)) {
    std::optional<Layout> shared = view.apply(layout);
    if (!shared)
      break;
    layout = *shared;
  }
  return {read.getSourceAttr().getAttr(), layout};
}

void Placer::collectReads(ProgramOp program) {
  for (Operation &op : program.getBody().front())
    if (!isViewOp(&op))
      for (OpOperand &operand : op.getOpOperands())
        if (auto [state, layout] = findRead(operand.get()); state)
          reads[state].push_back({&operand, layout});
}

/// Whether the op that computes `result` may overwrite the operand that it
/// reads from that place.
bool Placer::mayUpdateInPlace(OpResult result, const Read &read,
                              const BufferPlace &wanted) const {
  auto destination = dyn_cast<DestinationOpInterface>(result.getOwner());
  return destination && read.operand->getOwner() == result.getOwner() &&
         llvm::is_contained(
             destination.getReusableOperands(result.getResultNumber(), symbols),
             read.operand->getOperandNumber()) &&
         isSamePlace(wanted.layout, read.layout);
}

/// Whether no op at or after `writer` reads the old contents of the state in
/// these bytes, apart from a read that the op itself may overwrite.
bool Placer::isFree(OpResult result, Operation *writer,
                    const BufferPlace &wanted) const {
  auto found = reads.find(wanted.state);
  if (!wanted.state || found == reads.end())
    return true;
  int64_t position = positions.lookup(writer);
  return llvm::all_of(found->second, [&](const Read &read) {
    return positions.lookup(read.operand->getOwner()) < position ||
           !read.layout.overlaps(wanted.layout) ||
           mayUpdateInPlace(result, read, wanted);
  });
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Whether the op that computes the result can write it with that layout.
static bool canWrite(OpResult result, const Layout &layout) {
  if (auto accumulate = dyn_cast<AccumulateOp>(result.getOwner()))
    result = findFoldableProducer(accumulate)->getResult(0);
  auto destination = dyn_cast<DestinationOpInterface>(result.getOwner());
  std::optional<Layout> shaped = layout.reshape(getShape(result));
  return destination && shaped &&
         destination.canWrite(result.getResultNumber(), *shaped);
}

/// The accumulations through which the same bytes go, the first one first.
static SmallVector<OpResult> getChain(OpResult result) {
  SmallVector<OpResult> chain = {result};
  while (auto accumulate = dyn_cast<AccumulateOp>(chain.back().getOwner())) {
    auto before = accumulate.getOld().getDefiningOp<AccumulateOp>();
    if (!before || !accumulate.getOld().hasOneUse())
      break;
    chain.push_back(cast<OpResult>(before.getResult()));
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

/// The old value of an accumulation, if an op computes it for this use only.
static OpResult findMadeOld(OpResult result) {
  auto accumulate = dyn_cast<AccumulateOp>(result.getOwner());
  if (!accumulate || !accumulate.getOld().hasOneUse())
    return {};
  return dyn_cast<OpResult>(accumulate.getOld());
}

/// Whether the op that computes the result may do it in those bytes.
bool Placer::mayLieAt(OpResult result, const BufferPlace &wanted) const {
  auto accumulate = dyn_cast<AccumulateOp>(result.getOwner());
  Operation *writer =
      accumulate ? findFoldableProducer(accumulate) : result.getOwner();
  return !places.count(result) && canWrite(result, wanted.layout) &&
         isFree(result, writer, wanted);
}

bool Placer::place(Value value, BufferPlace wanted) {
  while (renames(value.getDefiningOp())) {
    value = value.getDefiningOp()->getOperand(0);
    std::optional<Layout> layout = wanted.layout.reshape(getShape(value));
    if (!layout)
      return false;
    wanted.layout = *layout;
  }
  auto result = dyn_cast<OpResult>(value);
  if (!result || places.count(result) ||
      !isa<DestinationOpInterface>(result.getOwner()))
    return false;
  if (auto concat = dyn_cast<ConcatOp>(result.getOwner()))
    return placeConcat(concat, wanted);
  SmallVector<OpResult> chain = getChain(result);
  for (OpResult link : chain)
    if (!mayLieAt(link, wanted))
      return false;
  for (OpResult link : chain)
    places[link] = wanted;
  if (OpResult old = findMadeOld(chain.front()); old && mayLieAt(old, wanted))
    places[old] = wanted;
  return true;
}

/// Each piece is computed in its part of the whole if it can be, and copied
/// there at the concatenation otherwise.
bool Placer::placeConcat(ConcatOp op, const BufferPlace &wanted) {
  auto result = cast<OpResult>(op.getResult());
  if (wanted.state && !isFree(result, op, wanted))
    return false;
  if (wanted.whole != result)
    places[result] = wanted;
  BufferPlace piece = wanted;
  int64_t dim = op.getDim();
  for (Value input : op.getInputs()) {
    piece.layout.sizes[dim] = getShape(input)[dim];
    place(input, piece);
    piece.layout.offset += piece.layout.sizes[dim] * piece.layout.strides[dim];
  }
  return true;
}

Placement Placer::run(ProgramOp program) {
  collectReads(program);
  ReturnOp terminator = program.getTerminator();
  for (auto [value, target] :
       llvm::zip(terminator.getValues(), terminator.getTargets()))
    place(value, {cast<FlatSymbolRefAttr>(target).getAttr(), Value(),
                  Layout::getDense(getShape(value))});
  // The outer one of nested concatenations comes later in the program.
  SmallVector<ConcatOp> concats(program.getBody().front().getOps<ConcatOp>());
  for (ConcatOp concat : llvm::reverse(concats))
    if (!places.count(concat.getResult()))
      placeConcat(concat, {StringAttr(), concat.getResult(),
                           Layout::getDense(getShape(concat.getResult()))});
  return std::move(places);
}

Placement weft::computePlacement(ProgramOp program, const SymbolTable &symbols,
                                 const Positions &positions) {
  return Placer(symbols, positions).run(program);
}

int64_t LoweringFacts::getLastUse(Value value) const {
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

static void collectPositions(ProgramOp program, LoweringFacts &facts) {
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

LoweringFacts weft::prepareProgram(ProgramOp program,
                                   const SymbolTable &symbols) {
  orderProgram(program.getBody().front());
  LoweringFacts facts;
  collectPositions(program, facts);
  for (auto accumulate : program.getBody().front().getOps<AccumulateOp>())
    facts.folded.insert(findFoldableProducer(accumulate));
  facts.placement = computePlacement(program, symbols, facts.positions);
  return facts;
}
