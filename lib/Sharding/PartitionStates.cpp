//===- PartitionStates.cpp - Programs over sharded states -----------------===//

#include "Partition.h"

#include "PassUses.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <functional>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {

class StatePartition {
public:
  StatePartition(ProgramOp program, const MeshCollectives &mesh,
                 const ShardedStates &states, Shards known,
                 const Reshard &reshard)
      : program(program), mesh(mesh), states(states),
        builder(program.getContext()), shards(std::move(known)),
        reshard(reshard) {
    for (auto [whole, shard] : shards)
      kept.insert_range(ArrayRef{whole.getDefiningOp(), shard.getDefiningOp()});
  }

  void run();

private:
  void readKept();
  void readShards();
  Value readShard(ReadOp read);
  Value getShard(Value full);
  Value shardConstant(ConstantOp op);
  Value drawShard(Value full);
  bool isMadeOfShards(Value full) const;
  void dropOldGradients();
  Value reduce(StringAttr gradient, Value full);
  void shardElementwise(Operation *op);
  void dropCopies();
  void writeShards();

  void gatherReads();
  Value gather(ReadOp read, Value shard, ArrayRef<OpOperand *> uses);
  void eraseDead();

  ProgramOp program;
  const MeshCollectives &mesh;
  const ShardedStates &states;
  OpBuilder builder;
  /// The shards, by the full value.
  Shards shards;
  const Reshard &reshard;
  /// The number of the shard that this rank owns, if it is needed.
  Value number;
  /// Ops that define `known` values. They stay, because the caller still uses
  /// them.
  DenseSet<Operation *> kept;
  /// The accumulate flag of each gradient state: whether its old value counts.
  DenseMap<StringAttr, Value> flags;
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
Value StatePartition::readShard(ReadOp read) {
  builder.setInsertionPoint(read);
  Location loc = read.getLoc();
  auto copy = states.copies.find(read.getSourceAttr().getAttr());
  RankedTensorType type = mesh.getShardType(read.getType());
  if (copy == states.copies.end())
    return ReadOp::create(builder, loc, type, read.getSourceAttr());
  auto param = SymbolTable::lookupNearestSymbolFrom<ParamOp>(
      program, copy->second.param);
  Value shard = ReadOp::create(builder, loc, param.getTensorType(),
                               FlatSymbolRefAttr::get(copy->second.param));
  auto rounded = CastOp::create(builder, loc, type, shard);
  if (StringAttr scope = param.getScopeAttr())
    setScope(rounded, scope);
  return rounded;
}

void StatePartition::readShards() {
  for (auto read : program.getBody().front().getOps<ReadOp>())
    if (states.isGathered(read.getSourceAttr().getAttr()) &&
        !kept.contains(read))
      reads.push_back(read);
  for (ReadOp read : reads)
    shards[read] = own.emplace_back(readShard(read));
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
  Value shard = mesh.reduceMean(builder, full.getLoc(), full);
  Value flag = flags.lookup(gradient);
  if (!flag)
    return shard;
  Value old;
  for (auto [read, shard] : llvm::zip(reads, own))
    if (ReadOp(read).getSourceAttr().getAttr() == gradient)
      old = shard;
  return AccumulateOp::create(builder, full.getLoc(), old, shard, flag);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// The shard of a splat constant, or null.
Value StatePartition::shardConstant(ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return {};
  builder.setInsertionPoint(op);
  return ConstantOp::create(
      builder, op.getLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(
          mesh.getShardType(op.getType()), splat.getSplatValue<Attribute>())));
}

/// The initial values of only this rank's shard, or null.
Value StatePartition::drawShard(Value full) {
  std::optional<FlatDraws> draws = findDraws(full);
  if (!draws)
    return {};
  if (!number) {
    builder.setInsertionPointToStart(&program.getBody().front());
    number = mesh.getShardNumber(builder, program.getLoc());
  }
  Operation *op = full.getDefiningOp();
  builder.setInsertionPointAfter(op);
  auto shard = RandomSliceOp::create(
      builder, op->getLoc(), mesh.getShardType(full.getType()), draws->seed,
      number, builder.getArrayAttr(draws->draws));
  copyScope(op, shard);
  return shard;
}

/// Clones an elementwise op for shards. Operands with the shape of its results
/// are replaced by their shards.
void StatePartition::shardElementwise(Operation *op) {
  Type shape = op->getResult(0).getType();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isWhole = cast<RankedTensorType>(operand.getType()).getShape() ==
                   cast<RankedTensorType>(shape).getShape();
    operands.push_back(isWhole ? getShard(operand) : operand);
  }
  builder.setInsertionPoint(op);
  Operation *own = builder.clone(*op);
  own->setOperands(operands);
  for (auto [result, shard] : llvm::zip(op->getResults(), own->getResults())) {
    shard.setType(mesh.getShardType(result.getType()));
    shards[result] = shard;
  }
}

Value StatePartition::getShard(Value full) {
  if (Value known = shards.lookup(full))
    return known;
  Operation *op = full.getDefiningOp();
  if (isa_and_nonnull<CastOp, OptimizerOpInterface>(op)) {
    shardElementwise(op);
    return shards[full];
  }
  Value shard = drawShard(full);
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    shard = shardConstant(constant);
  if (!shard) {
    builder.setInsertionPointAfterValue(full);
    shard = mesh.takeOwn(builder, full.getLoc(), full);
    if (op)
      copyScope(op, shard.getDefiningOp());
  }
  return shards[full] = shard;
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

void StatePartition::writeShards() {
  Writes writes = getWrites(program);
  for (auto &[target, value] : writes) {
    StringAttr state = target.getAttr();
    if (states.sharded.contains(state))
      value =
          isGradient(program, state) ? reduce(state, value) : getShard(value);
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
Value StatePartition::gather(ReadOp read, Value shard,
                             ArrayRef<OpOperand *> uses) {
  if (uses.empty())
    return {};
  Operation *first = uses.front()->getOwner();
  for (OpOperand *use : uses)
    if (use->getOwner()->isBeforeInBlock(first))
      first = use->getOwner();
  builder.setInsertionPoint(first);
  Value full =
      mesh.gatherParam(builder, read.getLoc(), shard,
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
  for (auto [read, shard, passes] : llvm::zip(reads, own, uses)) {
    Value whole = gather(read, shard, passes.forward);
    gather(read, shard, passes.backward);
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
  readShards();
  dropOldGradients();
  writeShards();
  eraseDead();
  gatherReads();
  reads.clear();
  own.clear();
  eraseDead();
}

void weft::partitionStates(ProgramOp program, const MeshCollectives &mesh,
                           const ShardedStates &states, Shards known,
                           const Reshard &reshard) {
  StatePartition(program, mesh, states, std::move(known), reshard).run();
}
