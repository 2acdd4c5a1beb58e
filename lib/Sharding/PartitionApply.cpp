//===- PartitionApply.cpp - Gradients and norms of all ranks --------------===//

#include "PartitionApply.h"

#include <cmath>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// The gradient state that the op reads, or null.
static StateOp findGradient(ReadOp read) {
  auto state =
      SymbolTable::lookupNearestSymbolFrom<StateOp>(read, read.getSourceAttr());
  return state && state.getKind() == StateKind::Gradient ? state : StateOp();
}

/// Reduces replicated gradients. Sharded gradients are already reduced by
/// micro-steps.
LogicalResult ApplyPartition::reduceGradients() {
  SmallVector<ReadOp> reads;
  for (auto read : program.getBody().front().getOps<ReadOp>()) {
    StateOp state = findGradient(read);
    if (!state)
      continue;
    if (dist::getLayout(state).isSharded()) {
      reads.push_back(read);
      continue;
    }
    RankedTensorType type = state.getTensorType();
    if (!state.isSegmented() || !mesh.canDivide(type))
      return state.emitOpError("expects gradients in flat states of ")
             << mesh.countRanks() << " equal shards (weft-bucket), but got "
             << type;
    builder.setInsertionPointAfter(read);
    Value shard = mesh.reduceMean(builder, read.getLoc(), read);
    for (Operation *op = read->getNextNode();; op = op->getNextNode()) {
      copyScope(read, op);
      if (op == shard.getDefiningOp())
        break;
    }
    gradients.insert({read, {read, shard, read->getNextNode()}});
  }
  for (ReadOp read : reads) {
    builder.setInsertionPointAfter(read);
    gradients.insert({read,
                      {read,
                       ReadOp::create(builder, read.getLoc(),
                                      findGradient(read).getTensorType(),
                                      read.getSourceAttr()),
                       nullptr}});
  }
  return success();
}

/// The first op that reads a gradient as a whole, or null.
static Operation *findFirstUser(ReducedGradient &reduced) {
  Operation *first = nullptr;
  for (Operation *user : reduced.read->getUsers())
    if (user != reduced.reduction && (!first || user->isBeforeInBlock(first)))
      first = user;
  return first;
}

/// Makes all other users of a gradient read the mean of all ranks, gathered
/// right before the first user: one bucket at a time.
void ApplyPartition::gather() {
  for (auto &[read, reduced] : gradients) {
    if (Operation *first = findFirstUser(reduced)) {
      builder.setInsertionPoint(first);
      auto full = mesh.gather(builder, reduced.read.getLoc(), reduced.shard);
      copyScope(read, full);
      reduced.read.getResult().replaceUsesWithIf(
          full, [reduction = reduced.reduction](OpOperand &use) {
            return use.getOwner() != reduction;
          });
    }
    // A gradient that micro-steps have reduced is a shard, which has another
    // type.
    if (read->use_empty())
      read->erase();
  }
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The shard of the gradient that a value is a segment of.
FailureOr<Value> ApplyPartition::findShard(NormAndCheckOp op, Value grad) {
  auto known = gradients.find(skipViews(grad).getDefiningOp());
  if (known != gradients.end())
    return known->second.shard;
  return op.emitOpError("expects gradients that the program reads, but got ")
         << grad;
}

/// Creates the check of the shards that this rank owns.
FailureOr<ShardCheck> ApplyPartition::checkShards(NormAndCheckOp op) {
  llvm::SmallSetVector<Value, 8> shards;
  for (Value grad : op.getGrads()) {
    FailureOr<Value> shard = findShard(op, grad);
    if (failed(shard))
      return failure();
    shards.insert(*shard);
  }
  builder.setInsertionPoint(op);
  auto own = NormAndCheckOp::create(
      builder, op.getLoc(), op.getNorm().getType(), op.getFoundInf().getType(),
      shards.getArrayRef(), op.getPAttr(), builder.getUnitAttr());
  return ShardCheck{op, own.getNorm(), own.getFoundInf()};
}

/// Combines the results of all checks, and the presence of gradients, over all
/// ranks in one message.
void ApplyPartition::reduceChecks(MutableArrayRef<ShardCheck> checks,
                                  RankPresence &presence) {
  SmallVector<Value> numbers;
  SmallVector<int64_t> reductions;
  auto add = [&](Value number, RankReduction reduction) {
    numbers.push_back(number);
    reductions.push_back(static_cast<int64_t>(reduction));
  };
  for (ShardCheck &check : checks) {
    bool isMax = std::isinf(check.op.getP().convertToDouble());
    add(check.norm, isMax ? RankReduction::Max : RankReduction::Sum);
    add(check.foundInf, RankReduction::Or);
  }
  builder.setInsertionPoint(checks.back().op);
  for (Value answer : presence.ask(builder, mesh))
    add(answer, RankReduction::Or);
  auto all = mesh.join(builder, checks.back().op.getLoc(), numbers, reductions);
  for (auto [number, check] : llvm::enumerate(checks)) {
    check.norm = all.getReduced()[2 * number];
    check.foundInf = all.getReduced()[2 * number + 1];
  }
  presence.replace(all.getReduced().drop_front(2 * checks.size()));
}

/// Users of the norm get the root of the sum. A norm of several groups adds
/// their sums and takes one root.
void ApplyPartition::takeRoots(ShardCheck &check) {
  Value root;
  for (OpOperand &use :
       llvm::make_early_inc_range(check.op.getNorm().getUses())) {
    if (auto total = dyn_cast<TotalNormOp>(use.getOwner())) {
      total.setPowers(true);
      use.set(check.norm);
      continue;
    }
    if (!root) {
      builder.setInsertionPointAfterValue(check.norm);
      root =
          TotalNormOp::create(builder, check.op.getLoc(), check.norm.getType(),
                              check.norm, check.foundInf, /*scale=*/Value(),
                              check.op.getPAttr(), builder.getUnitAttr());
    }
    use.set(root);
  }
  check.op.getFoundInf().replaceAllUsesWith(check.foundInf);
}

/// The views through which an op reads gradients; a view precedes the view that
/// it reads.
static SetVector<Operation *> findViews(ValueRange grads) {
  SetVector<Operation *> views;
  for (Value grad : grads)
    for (Operation *op = grad.getDefiningOp(); isViewOp(op) && views.insert(op);
         op = op->getOperand(0).getDefiningOp())
      ;
  return views;
}

/// Erases unused views repeatedly, until all remaining views are used.
static void eraseUnread(SetVector<Operation *> views) {
  auto isUnread = [](Operation *op) { return op->use_empty(); };
  for (auto dead = llvm::find_if(views, isUnread); dead != views.end();
       dead = llvm::find_if(views, isUnread)) {
    Operation *op = *dead;
    views.remove(op);
    op->erase();
  }
}

/// One message, after the last check, combines the results of all checks: no
/// user of a result may come before it.
static LogicalResult verifyOrder(ArrayRef<ShardCheck> checks) {
  Operation *last = checks.back().op;
  for (ShardCheck check : checks)
    for (Operation *user : check.op->getUsers())
      if (user->isBeforeInBlock(last)) {
        InFlightDiagnostic error =
            user->emitOpError("expects all checks of gradients above the first "
                              "user of one of them");
        error.attachNote(last->getLoc()) << "a check below";
        return error;
      }
  return success();
}

LogicalResult ApplyPartition::checkShards() {
  std::vector<ShardCheck> checks;
  for (auto op : llvm::make_early_inc_range(
           program.getBody().front().getOps<NormAndCheckOp>())) {
    FailureOr<ShardCheck> check = checkShards(op);
    if (failed(check))
      return failure();
    checks.push_back(*check);
  }
  RankPresence presence(program);
  if (checks.empty() && presence.isEmpty())
    return success();
  if (checks.empty())
    return program.emitOpError("expects a check of gradients, whose message "
                               "carries presence, but got none");
  if (failed(verifyOrder(checks)) || failed(presence.verify(checks.back().op)))
    return failure();
  reduceChecks(checks, presence);
  for (ShardCheck &check : checks) {
    takeRoots(check);
    SetVector<Operation *> views = findViews(check.op.getGrads());
    check.op.erase();
    eraseUnread(views);
  }
  return success();
}

LogicalResult ApplyPartition::reduce() {
  return failed(reduceGradients()) ? failure() : checkShards();
}

Shards ApplyPartition::getShards() {
  Shards shards;
  for (auto &[read, reduced] : gradients)
    shards[reduced.read] = reduced.shard;
  return shards;
}
