//===- Outline.cpp - From a cluster to kernels and their calls ------------===//

#include "KernelOutliner.h"
#include "weft/Analysis/KernelLayout.h"

using namespace mlir;
using namespace weft;

namespace {

using Ops = SmallVector<Operation *>;

/// Outlines a cluster as one kernel or, if one kernel cannot write all results,
/// as several. The inputs of a cluster are computed before its last op, and
/// users of its results come after that op. All its kernels therefore run
/// there, in the order of their dependences.
class ClusterOutliner {
public:
  ClusterOutliner(Cluster &cluster, KernelPool &pool)
      : cluster(cluster), pool(pool), place(cluster.ops.back()->getNextNode()) {
    for (Operation *op : cluster.ops)
      if (cluster.space.isMember(op->getResult(0)))
        members.insert(op);
  }

  FailureOr<SmallVector<CallOp>> run();

private:
  LogicalResult call(KernelOutliner &outliner);
  LogicalResult outlinePart(ArrayRef<Operation *> part);
  void copyBroadcasts();
  Operation *repeat(Operation *broadcast, const DenseSet<Operation *> &users);
  void cut(ArrayRef<Operation *> part, const DenseSet<Operation *> &first);
  void cutBefore(ArrayRef<Operation *> part, size_t index);
  void moveToPlace(ArrayRef<Operation *> part);
  bool hasMember(ArrayRef<Operation *> part) const {
    return llvm::any_of(part,
                        [&](Operation *op) { return members.contains(op); });
  }

  Cluster &cluster;
  KernelPool &pool;
  Operation *place;
  /// Ops that the cluster computes. Its other ops are views and constants,
  /// which any part may read through.
  SmallPtrSet<Operation *, 8> members;
  SmallVector<CallOp> calls;
  Ops made;               // copies and repeated broadcasts
  std::vector<Ops> parts; // the next one to run is the last
};

/// The ops of the part that `value` depends on, including its own op.
DenseSet<Operation *> getSlice(Value value, ArrayRef<Operation *> part) {
  DenseSet<Operation *> slice = {value.getDefiningOp()};
  for (Operation *op : llvm::reverse(part))
    if (slice.contains(op))
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp())
          slice.insert(def);
  return slice;
}

/// Clones a broadcast for the ops in `users`. The clone reads its operand from
/// another part.
Operation *ClusterOutliner::repeat(Operation *broadcast,
                                   const DenseSet<Operation *> &users) {
  OpBuilder builder(broadcast->getContext());
  builder.setInsertionPointAfter(broadcast);
  Operation *clone = builder.clone(*broadcast);
  broadcast->getResult(0).replaceUsesWithIf(
      clone->getResult(0),
      [&](OpOperand &use) { return users.contains(use.getOwner()); });
  members.insert(clone);
  made.push_back(clone);
  return clone;
}

/// Replaces a part by two: first the ops of `first`, which read no others, then
/// the others. Both parts include the views that they read.
void ClusterOutliner::cut(ArrayRef<Operation *> part,
                          const DenseSet<Operation *> &first) {
  Ops before, after;
  DenseSet<Operation *> needed;
  auto addAfter = [&](Operation *op) {
    after.push_back(op);
    needed.insert(op);
  };
  for (Operation *op : llvm::reverse(part)) {
    bool isNeeded = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return needed.contains(user); });
    if (!first.contains(op)) {
      addAfter(op);
      continue;
    }
    if (isNeeded && !members.contains(op))
      addAfter(op);
    else if (isNeeded && isa<BroadcastOp>(op))
      addAfter(repeat(op, needed));
    if (!op->use_empty())
      before.push_back(op);
  }
  std::reverse(before.begin(), before.end());
  std::reverse(after.begin(), after.end());
  parts.push_back(std::move(after));
  parts.push_back(std::move(before));
}

void ClusterOutliner::cutBefore(ArrayRef<Operation *> part, size_t index) {
  ArrayRef<Operation *> before = part.take_front(index);
  cut(part, DenseSet<Operation *>(before.begin(), before.end()));
}

/// A broadcast of another part's result is a view, which no kernel writes.
/// Users that read its elements from memory get a copy.
void ClusterOutliner::copyBroadcasts() {
  Ops all;
  for (Operation *op : cluster.ops) {
    all.push_back(op);
    auto broadcast = dyn_cast<BroadcastOp>(op);
    auto isReadFromMemory = [&](Operation *user) {
      return !cluster.contains(user) || !readsThroughBroadcast(user);
    };
    if (!broadcast || !members.contains(op) ||
        llvm::none_of(op->getUsers(), isReadFromMemory))
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    MaterializeOp copy = copyBroadcast(broadcast, builder);
    broadcast.getResult().replaceUsesWithIf(copy, [&](OpOperand &use) {
      return use.getOwner() != copy && isReadFromMemory(use.getOwner());
    });
    all.push_back(copy);
    made.push_back(copy);
    members.insert(copy);
  }
  parts.push_back(std::move(all));
}

/// Moves the members before `place`, so that remaining renaming ops come after
/// their operands.
void ClusterOutliner::moveToPlace(ArrayRef<Operation *> part) {
  for (Operation *op : part)
    if (members.contains(op))
      op->moveBefore(place);
}

LogicalResult ClusterOutliner::outlinePart(ArrayRef<Operation *> part) {
  KernelSpace space(cluster.space.mayHaveSums());
  for (auto [index, op] : llvm::enumerate(part)) {
    if (space.add(op))
      continue;
    if (!hasMember(part.take_front(index)))
      return op->emitOpError("does not fit the kernel chosen for it");
    cutBefore(part, index);
    return success();
  }
  KernelOutliner outliner(part, space, pool);
  SmallVector<Value> outputs = outliner.findOutputs(), rejected;
  if (!KernelLayout::canWrite(space, outputs, rejected)) {
    DenseSet<Operation *> slice = getSlice(rejected.front(), part);
    bool isAll = llvm::all_of(part, [&](Operation *op) {
      return slice.contains(op) || !members.contains(op);
    });
    isAll ? cutBefore(part, part.size() - 1) : cut(part, slice);
    return success();
  }
  moveToPlace(part);
  return outputs.empty() ? success() : call(outliner);
}

LogicalResult ClusterOutliner::call(KernelOutliner &outliner) {
  FailureOr<CallOp> made = outliner.outline(place);
  if (succeeded(made))
    calls.push_back(*made);
  return made;
}

/// Erases what only ops of the list use.
void eraseUnused(Ops ops) {
  std::reverse(ops.begin(), ops.end());
  size_t before;
  do {
    before = ops.size();
    llvm::erase_if(ops, [](Operation *op) {
      if (!op->use_empty())
        return false;
      op->erase();
      return true;
    });
  } while (ops.size() != before);
}

FailureOr<SmallVector<CallOp>> ClusterOutliner::run() {
  KernelOutliner whole(cluster.ops, cluster.space, pool);
  SmallVector<Value> outputs = whole.findOutputs(), rejected;
  if (outputs.empty())
    return std::move(calls);
  if (KernelLayout::canWrite(cluster.space, outputs, rejected)) {
    if (failed(call(whole)))
      return failure();
    eraseUnused(cluster.ops);
    return std::move(calls);
  }
  copyBroadcasts();
  while (!parts.empty()) {
    Ops part = std::move(parts.back());
    parts.pop_back();
    if (failed(outlinePart(part)))
      return failure();
  }
  made.append(cluster.ops);
  eraseUnused(made);
  return std::move(calls);
}

} // namespace

FailureOr<SmallVector<CallOp>> weft::outlineCluster(Cluster &cluster,
                                                    KernelPool &pool) {
  return ClusterOutliner(cluster, pool).run();
}
