//===- PartitionStates.cpp - Programs over sharded states -----------------===//

#include "PartitionApply.h"

#include "PassUses.h"
#include "SlicedStates.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <functional>

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {

class StatePartition {
public:
  StatePartition(ProgramOp program, const MeshCollectives &mesh,
                 const SlicedStates &states, Slices known,
                 const Reshard &reshard)
      : program(program), mesh(mesh), states(states),
        builder(program.getContext()), slices(std::move(known)),
        reshard(reshard) {
    for (auto [whole, slice] : slices)
      kept.insert_range(ArrayRef{whole.getDefiningOp(), slice.getDefiningOp()});
  }

  void run();

private:
  void readKept();
  void readSlices();
  Value readSlice(ReadOp read);
  Value getSlice(Value full);
  Value sliceConstant(ConstantOp op);
  Value drawSlice(Value full);
  bool isMadeOfSlices(Value full) const;
  void dropOldGradients();
  Value reduce(StringAttr gradient, Value full);
  void sliceElementwise(Operation *op);
  void dropCopies();
  void writeSlices();

  void gatherReads();
  Value gather(ReadOp read, Value slice, ArrayRef<OpOperand *> uses);
  void eraseDead();

  ProgramOp program;
  const MeshCollectives &mesh;
  const SlicedStates &states;
  OpBuilder builder;
  /// The shards, by the full value.
  Slices slices;
  const Reshard &reshard;
  /// The number of the shard that this rank owns, if it is needed.
  Value number;
  /// Ops that define `known` values. They stay, because the caller still uses
  /// them.
  llvm::DenseSet<Operation *> kept;
  /// The accumulate flag of each gradient state: whether its old value counts.
  llvm::DenseMap<StringAttr, Value> flags;
  /// The reads of full states, and this rank's shard for each.
  SmallVector<ReadOp> reads;
  SmallVector<Value> own;
};

} // namespace

/// Makes a later micro-step read the values that the first one has gathered.
void StatePartition::readKept() {
  if (!names::isLaterMicro(program.getSymName()))
    return;
  for (auto read :
       llvm::make_early_inc_range(program.getBody().front().getOps<ReadOp>())) {
    StringAttr kept = states.kept.lookup(read.getSourceAttr().getAttr());
    if (!kept || read->use_empty())
      continue;
    builder.setInsertionPoint(read);
    read.replaceAllUsesWith(ReadOp::create(builder, read.getLoc(),
                                           read.getType(),
                                           FlatSymbolRefAttr::get(kept))
                                .getResult());
    read.erase();
  }
}

/// Reads the shard of a state. For a copy, rounds the shard of its parameter.
Value StatePartition::readSlice(ReadOp read) {
  builder.setInsertionPoint(read);
  Location loc = read.getLoc();
  auto copy = states.copies.find(read.getSourceAttr().getAttr());
  RankedTensorType type = mesh.getSliceType(read.getType());
  if (copy == states.copies.end())
    return ReadOp::create(builder, loc, type, read.getSourceAttr());
  auto param = SymbolTable::lookupNearestSymbolFrom<ParamOp>(
      program, copy->second.param);
  Value slice = ReadOp::create(builder, loc, param.getTensorType(),
                               FlatSymbolRefAttr::get(copy->second.param));
  auto rounded = CastOp::create(builder, loc, type, slice);
  if (StringAttr scope = param.getScopeAttr())
    setScope(rounded, scope);
  return rounded;
}

void StatePartition::readSlices() {
  for (auto read : program.getBody().front().getOps<ReadOp>())
    if (states.isGathered(read.getSourceAttr().getAttr()) &&
        !kept.contains(read))
      reads.push_back(read);
  for (ReadOp read : reads)
    slices[read] = own.emplace_back(readSlice(read));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static bool isGradient(ProgramOp program, StringAttr name) {
  auto state = SymbolTable::lookupNearestSymbolFrom<StateOp>(
      program, FlatSymbolRefAttr::get(name));
  return state && state.getKind() == StateKind::Gradient;
}

/// The segments of a sharded gradient are computed without the old gradient in
/// each micro-step. The old gradient is added to the shard of the mean instead.
void StatePartition::dropOldGradients() {
  if (program.getKind() != ProgramKind::Micro)
    return;
  for (auto op : llvm::make_early_inc_range(
           program.getBody().front().getOps<AccumulateOp>())) {
    auto read = skipViews(op.getOld()).getDefiningOp<ReadOp>();
    if (!read || !llvm::is_contained(reads, read) ||
        !isGradient(program, read.getSourceAttr().getAttr()))
      continue;
    flags[read.getSourceAttr().getAttr()] = op.getAccumulate();
    op.getResult().replaceAllUsesWith(op.getValue());
    op.erase();
  }
}

/// The shard of the mean over all ranks, added to the old shard. It is reduced
/// right after its last segment, so that the full gradient is not kept.
Value StatePartition::reduce(StringAttr gradient, Value full) {
  Operation *op = full.getDefiningOp();
  if (auto concat = dyn_cast_or_null<ConcatOp>(op)) {
    Operation *last = nullptr;
    for (Value part : concat.getInputs())
      if (Operation *made = part.getDefiningOp();
          made && !isa<ConstantOp>(made) &&
          (!last || last->isBeforeInBlock(made)))
        last = made;
    if (last) {
      for (Value part : concat.getInputs())
        if (auto gap = part.getDefiningOp<ConstantOp>())
          gap->moveAfter(last);
      Operation *behind = last;
      while (isa<ConstantOp>(behind->getNextNode()))
        behind = behind->getNextNode();
      concat->moveAfter(behind);
    }
  }
  builder.setInsertionPointAfterValue(full);
  Value slice = mesh.reduceMean(builder, full.getLoc(), full);
  Value flag = flags.lookup(gradient);
  if (!flag)
    return slice;
  Value old;
  for (auto [read, slice] : llvm::zip(reads, own))
    if (ReadOp(read).getSourceAttr().getAttr() == gradient)
      old = slice;
  return AccumulateOp::create(builder, full.getLoc(), old, slice, flag);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// The shard of a splat constant, or null.
Value StatePartition::sliceConstant(ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return {};
  builder.setInsertionPoint(op);
  return ConstantOp::create(
      builder, op.getLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(
          mesh.getSliceType(op.getType()), splat.getSplatValue<Attribute>())));
}

/// The initial values of only this rank's shard, or null.
Value StatePartition::drawSlice(Value full) {
  std::optional<FlatDraws> draws = findDraws(full);
  if (!draws)
    return {};
  if (!number) {
    builder.setInsertionPointToStart(&program.getBody().front());
    number = mesh.tellSlice(builder, program.getLoc());
  }
  Operation *op = full.getDefiningOp();
  builder.setInsertionPointAfter(op);
  auto slice = RandomSliceOp::create(
      builder, op->getLoc(), mesh.getSliceType(full.getType()), draws->seed,
      number, builder.getArrayAttr(draws->draws));
  copyScope(op, slice);
  return slice;
}

/// Clones an elementwise op for shards. Operands with the shape of its results
/// are replaced by their shards.
void StatePartition::sliceElementwise(Operation *op) {
  Type shape = op->getResult(0).getType();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isWhole = cast<RankedTensorType>(operand.getType()).getShape() ==
                   cast<RankedTensorType>(shape).getShape();
    operands.push_back(isWhole ? getSlice(operand) : operand);
  }
  builder.setInsertionPoint(op);
  Operation *own = builder.clone(*op);
  own->setOperands(operands);
  for (auto [result, slice] : llvm::zip(op->getResults(), own->getResults())) {
    slice.setType(mesh.getSliceType(result.getType()));
    slices[result] = slice;
  }
}

Value StatePartition::getSlice(Value full) {
  if (Value known = slices.lookup(full))
    return known;
  Operation *op = full.getDefiningOp();
  if (isa_and_nonnull<CastOp, OptimizerOpInterface>(op)) {
    sliceElementwise(op);
    return slices[full];
  }
  Value slice = drawSlice(full);
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    slice = sliceConstant(constant);
  if (!slice) {
    builder.setInsertionPointAfterValue(full);
    slice = mesh.takeOwn(builder, full.getLoc(), full);
    if (op)
      copyScope(op, slice.getDefiningOp());
  }
  return slices[full] = slice;
}

/// Rebuilds an update without its working copy, the last result.
static void dropWorking(Operation *update, OpBuilder &builder) {
  builder.setInsertionPoint(update);
  ValueRange kept = update->getResults().drop_back();
  OperationState state(update->getLoc(), update->getName().getStringRef(),
                       update->getOperands(), TypeRange(kept),
                       update->getAttrs());
  Operation *made = builder.create(state);
  for (auto [old, result] : llvm::zip(kept, made->getResults()))
    old.replaceAllUsesWith(result);
  update->erase();
}

/// Drops the writes of copies, because each program computes its own.
void StatePartition::dropCopies() {
  Writes writes, dropped;
  for (const Write &write : getWrites(program))
    (states.copies.contains(write.state.getAttr()) ? dropped : writes)
        .push_back(write);
  if (dropped.empty())
    return;
  setWrites(program, writes);
  for (auto [state, value] : dropped)
    if (auto update = value.getDefiningOp<OptimizerOpInterface>();
        update && update.getWorking() == value && value.use_empty())
      dropWorking(update, builder);
}

void StatePartition::writeSlices() {
  Writes writes = getWrites(program);
  for (auto &[target, value] : writes) {
    StringAttr state = target.getAttr();
    if (states.sliced.contains(state))
      value =
          isGradient(program, state) ? reduce(state, value) : getSlice(value);
  }
  setWrites(program, writes);
}

//===----------------------------------------------------------------------===//
// Reads of full states
//===----------------------------------------------------------------------===//

/// Whether the state is a frozen parameter or its copy. Stages 1 and 2
/// replicate these, so stage 3 must not round them before a gather.
static bool isFrozen(ReadOp read) {
  FlatSymbolRefAttr source = read.getSourceAttr();
  if (auto state = SymbolTable::lookupNearestSymbolFrom<StateOp>(read, source))
    source = state.getParamAttr();
  auto param = source
                   ? SymbolTable::lookupNearestSymbolFrom<ParamOp>(read, source)
                   : ParamOp();
  return param && !param.getTrainable();
}

/// Gathers the full state for the uses, which are in one pass. Null if there
/// are none.
Value StatePartition::gather(ReadOp read, Value slice,
                             ArrayRef<OpOperand *> uses) {
  if (uses.empty())
    return {};
  Operation *first = uses.front()->getOwner();
  for (OpOperand *use : uses)
    if (use->getOwner()->isBeforeInBlock(first))
      first = use->getOwner();
  builder.setInsertionPoint(first);
  Value full =
      mesh.gatherParam(builder, read.getLoc(), slice,
                       /*rounds=*/!isFrozen(read), getScopeAttr(first));
  IRMapping views;
  views.map(read.getResult(), full);
  std::function<Value(Value)> viewOf = [&](Value value) -> Value {
    if (Value known = views.lookupOrNull(value))
      return known;
    viewOf(value.getDefiningOp()->getOperand(0));
    return builder.clone(*value.getDefiningOp(), views)->getResult(0);
  };
  for (OpOperand *use : uses)
    use->set(viewOf(use->get()));
  return full;
}

void StatePartition::gatherReads() {
  Operation *loss = reshard.isOn ? findLoss(program) : nullptr;
  Writes writes = getWrites(program);
  const size_t before = writes.size();
  SmallVector<PassUses> uses = findPassUses(reads, loss, reshard);
  for (auto [read, slice, passes] : llvm::zip(reads, own, uses)) {
    Value whole = gather(read, slice, passes.forward);
    gather(read, slice, passes.backward);
    StringAttr kept =
        states.kept.lookup(ReadOp(read).getSourceAttr().getAttr());
    if (whole && kept && program.getKind() == ProgramKind::Micro)
      writes.push_back({FlatSymbolRefAttr::get(kept), whole});
  }
  if (writes.size() != before)
    setWrites(program, writes);
}

/// Erases dead ops, except reads that may still be gathered.
void StatePartition::eraseDead() {
  auto isOwn = [&](Operation &op) {
    return llvm::any_of(op.getResults(), [&](Value result) {
      return llvm::is_contained(own, result);
    });
  };
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isOpTriviallyDead(&op) && !kept.contains(&op) &&
        !llvm::is_contained(reads, &op) && !isOwn(op))
      op.erase();
}

void StatePartition::run() {
  dropCopies();
  readKept();
  readSlices();
  dropOldGradients();
  writeSlices();
  eraseDead();
  gatherReads();
  reads.clear();
  own.clear();
  eraseDead();
}

void partitionStates(ProgramOp program, const MeshCollectives &mesh,
                     const SlicedStates &states, Slices known,
                     const Reshard &reshard) {
  StatePartition(program, mesh, states, std::move(known), reshard).run();
}

} // namespace weft
