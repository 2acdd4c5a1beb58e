//===- FusionCluster.cpp - Clusters of ops that become one kernel ---------===//

#include "Fusion.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "weft-fuse"

using namespace mlir;
using namespace weft;

/// How far back an op looks for a kernel that reads the same values, in ops
/// that do work.
static constexpr unsigned kSiblingDistance = 64;
/// Leaves free numbers before and after each op for copies: see copyOperand and
/// materialize.
static constexpr unsigned kOrderStep = 3;

/// Whether the op takes time, unlike views, constants, iotas and reads.
static bool doesWork(Operation *op) {
  return !isViewOp(op) && !isa<ConstantOp, IotaOp, ReadOp>(op);
}

ClusterBuilder::ClusterBuilder(Block &block, FusionLimits limits,
                               const Formulas &formulas)
    : block(block), limits(limits) {
  for (auto &[number, update] : formulas.repeated)
    repeated.insert(number);
  places.reserve(block.getOperations().size());
  unsigned index = 0, work = 0;
  for (Operation &op : block) {
    places[&op] = {kOrderStep * index++, work};
    work += doesWork(&op);
    // Entries of erased ops are not copied.
    if (auto update = formulas.updates.find(&op);
        update != formulas.updates.end())
      updates.insert(*update);
  }
}

bool ClusterBuilder::comesBefore(Operation *x, Operation *y) const {
  return places.lookup(x).order < places.lookup(y).order;
}

Cluster *ClusterBuilder::clusterOf(Value value) const {
  Operation *op = value.getDefiningOp();
  return op ? owner.lookup(op) : nullptr;
}

/// Ops that need no kernel but may be inside of one.
static bool isAlias(Operation *op) {
  return renames(op) || isa<BroadcastOp, IotaOp>(op);
}

static bool isNumber(Operation *op) {
  return !isa<ReduceOp>(op) && getShape(op->getResult(0)).empty();
}

/// Whether the cluster computes only single numbers.
static bool hasNumbersOnly(const Cluster &cluster) {
  return llvm::all_of(cluster.ops, [](Operation *op) {
    return llvm::all_of(getShape(op->getResult(0)),
                        [](int64_t size) { return size == 1; });
  });
}

static bool isCompute(Operation *op) {
  return isa<ReduceOp>(op) || (isa<ScalarBodyOpInterface>(op) && !isAlias(op));
}

LogicalResult ClusterBuilder::run() {
  for (Operation &op : block.without_terminator()) {
    if (auto reduce = dyn_cast<ReduceOp>(op);
        reduce && failed(copyOperand(reduce)))
      return failure();
    if (failed(visit(&op)))
      return failure();
  }
  if (!limits.apart)
    mergeApart();
  return success();
}

/// Whether the op only widens a value from outside for one op that computes,
/// and becomes part of that op's kernel.
bool ClusterBuilder::waitsForReader(Operation *op) const {
  if (!limits.widenInReaders || owner.lookup(op) || !isWideningCast(op) ||
      !op->hasOneUse() || !isCompute(*op->user_begin()))
    return false;
  Cluster *producer = clusterOf(op->getOperand(0));
  return !producer || !producer->open || !fitsWithSum(op, *producer);
}

LogicalResult ClusterBuilder::visit(Operation *op) {
  if (waitsForReader(op))
    return success();
  if ((isCompute(op) || isAlias(op)) && failed(place(op)))
    return failure();
  if (isa<BroadcastOp, IotaOp>(op))
    materialize(op);
  for (Value operand : op->getOperands()) {
    Cluster *producer = clusterOf(operand);
    if (producer && producer != owner.lookup(op))
      producer->open = false;
  }
  return success();
}

bool weft::readsThroughBroadcast(Operation *user) {
  return isCompute(user) || isa<BroadcastOp>(user);
}

LogicalResult ClusterBuilder::place(Operation *op) {
  SmallVector<Cluster *> producers = findProducers(op);
  if (producers.size() > 1 && joinAll(op, producers))
    return success();
  for (Cluster *producer : producers)
    if (join(op, *producer))
      return success();
  if (isAlias(op))
    return success(); // a view for whoever uses it
  if (Cluster *sibling = limits.apart ? nullptr : findSibling(op))
    if (join(op, *sibling))
      return success();
  if (!reportMissed(op, producers) && op->getContext()->getRemarkEngine())
    explainApart(op);
  clusters.push_back(std::make_unique<Cluster>(limits.sumsInRows));
  if (join(op, *clusters.back()))
    return success();
  return op->emitOpError("has no generated kernel for its shapes: ")
         << op->getOperandTypes();
}

/// Whether the op computes elements of an update whose kernels others call.
bool ClusterBuilder::isOfRepeated(Operation *op) const {
  auto update = updates.find(op);
  return update != updates.end() && repeated.count(update->second) &&
         !isNumber(op);
}

std::optional<int64_t>
ClusterBuilder::getRepeated(const Cluster &cluster) const {
  Operation *op = cluster.ops.back();
  return isOfRepeated(op) ? std::optional(updates.lookup(op)) : std::nullopt;
}

/// With `apart`, an op may only join the ops of its own update, because only
/// the results of an update are of interest. An update whose kernels are called
/// by others joins no other ops either. Single numbers of an update may share a
/// kernel with others.
bool ClusterBuilder::mayJoin(Operation *op, const Cluster &cluster) const {
  if (!limits.apart && !isOfRepeated(op) && !isOfRepeated(cluster.ops.back()))
    return true;
  auto own = updates.find(op), other = updates.find(cluster.ops.back());
  return own != updates.end() && other != updates.end() &&
         own->second == other->second && !isNumber(op) &&
         !isNumber(cluster.ops.back());
}

/// Open clusters that compute operands of `op` and that it may join, the latest
/// first.
SmallVector<Cluster *> ClusterBuilder::findProducers(Operation *op) {
  SmallVector<Cluster *> found;
  for (Value operand : op->getOperands()) {
    Cluster *cluster = clusterOf(operand);
    if (cluster && cluster->open && mayJoin(op, *cluster) &&
        !llvm::is_contained(found, cluster))
      found.push_back(cluster);
  }
  llvm::sort(found, [&](Cluster *x, Cluster *y) {
    return comesBefore(y->ops.back(), x->ops.back());
  });
  return found;
}

/// Whether few ops are between the cluster and `op`.
bool ClusterBuilder::isNear(Operation *op, const Cluster &cluster) const {
  return places.lookup(op).workBefore -
             places.lookup(cluster.ops.back()).workBefore <
         kSiblingDistance;
}

/// The cluster whose sums over rows the op adds up, if any.
Cluster *ClusterBuilder::findProducerOfSums(Operation *op) const {
  if (!isSumOverRows(op))
    return nullptr;
  Cluster *producer = clusterOf(op->getOperand(0));
  return producer && producer->space.isSum(op->getOperand(0)) ? producer
                                                              : nullptr;
}

/// An open cluster nearby that reads a large operand of `op` anyway, or, if
/// `op` computes a number, that computes others.
Cluster *ClusterBuilder::findSibling(Operation *op) {
  if (isNumber(op) && numbers && numbers->open && isNear(op, *numbers) &&
      hasNumbersOnly(*numbers))
    return numbers;
  // One kernel adds up all sums over rows of a kernel.
  if (Cluster *producer = findProducerOfSums(op))
    if (Cluster *cluster = totals.lookup(producer);
        cluster && cluster->open && isNear(op, *cluster))
      return cluster;
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    Cluster *cluster = readers.lookup(findSource(op, operand));
    if (!cluster || !cluster->open || clusterOf(operand) == cluster ||
        !mayJoin(op, *cluster))
      continue;
    if (isNear(op, *cluster) &&
        type.getNumElements() == cluster->space.getNumPoints())
      return cluster;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Whether the elements of the result lie one after the other, as a parameter
/// does in a flat state: it is read where it lies, as a buffer of its own. A
/// view may lie anywhere.
static bool isDensePart(SliceOp slice) {
  if (Operation *source = slice.getOperand().getDefiningOp();
      source && isViewOp(source))
    return false;
  std::optional<Layout> layout =
      slice.apply(Layout::getDense(getShape(slice.getOperand())));
  return layout && layout->isDense();
}

/// Views of outside values that a kernel reads through instead of a copy.
static bool isInlined(Operation *view) {
  if (isSplatConstant(view) || isa<BroadcastOp, IotaOp>(view))
    return true;
  if (auto slice = dyn_cast<SliceOp>(view))
    return !isDensePart(slice);
  auto transpose = dyn_cast<TransposeOp>(view);
  // Without the last dimension in place, reads would not be contiguous.
  return transpose && !transpose.getPermutation().empty() &&
         transpose.getPermutation().back() ==
             static_cast<int64_t>(transpose.getPermutation().size()) - 1;
}

/// Adds `op`, after the constants and views it reads through.
/// If it does not fit, the space is broken: see rebuildSpace.
bool ClusterBuilder::append(Operation *op, Cluster &cluster,
                            SmallVectorImpl<Operation *> &added) const {
  SmallVector<Operation *> chain = {op};
  for (unsigned i = 0; i < chain.size(); ++i)
    for (Value operand : chain[i]->getOperands()) {
      Operation *def = operand.getDefiningOp();
      bool isRead = def && (isInlined(def) || waitsForReader(def) ||
                            (readsThroughNames(chain[i]) && renames(def)));
      if (isRead && !owner.lookup(def) && !cluster.contains(def) &&
          !llvm::is_contained(chain, def))
        chain.push_back(def);
    }
  // A view of a view may have been found before the view it reads.
  llvm::sort(chain,
             [&](Operation *x, Operation *y) { return comesBefore(x, y); });
  for (Operation *next : chain) {
    if (!cluster.space.add(next))
      return false;
    added.push_back(next);
  }
  return cluster.ops.empty() ||
         cluster.ops.size() + added.size() <= limits.maxOps;
}

void Cluster::rebuildSpace() {
  space = KernelSpace(space.mayHaveSums());
  for (Operation *op : ops)
    space.add(op);
}

bool ClusterBuilder::join(Operation *op, Cluster &cluster) {
  if (!tryJoin(op, cluster))
    return false;
  LDBG() << "op " << cluster.ops.size() << " of its kernel: " << *op;
  commit(op, cluster);
  return true;
}

/// Adds the op to the cluster, which is not yet its owner. Most ops that come
/// here fit: the space is changed in place.
bool ClusterBuilder::tryJoin(Operation *op, Cluster &cluster) {
  int64_t points = cluster.space.getNumPoints();
  bool reduced = cluster.space.hasReduction();
  SmallVector<Operation *> added;
  if (!append(op, cluster, added) ||
      refuse(op, cluster, cluster.space, points, reduced)) {
    cluster.rebuildSpace();
    return false;
  }
  cluster.add(added);
  return true;
}

/// Joins `op` and all candidates into the first of them.
bool ClusterBuilder::joinAll(Operation *op, ArrayRef<Cluster *> candidates) {
  SmallVector<Operation *> all;
  for (Cluster *candidate : candidates)
    all.append(candidate->ops.begin(), candidate->ops.end());
  if (all.size() >= limits.maxOps)
    return false;
  llvm::sort(all,
             [&](Operation *x, Operation *y) { return comesBefore(x, y); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  Cluster merged(limits.sumsInRows);
  for (Operation *next : all) {
    if (!merged.space.add(next))
      return false;
    merged.add(next);
  }
  for (Cluster *candidate : candidates) {
    const KernelSpace &own = candidate->space;
    // Numbers alone are no part of a loop that begins behind them.
    bool isBefore = own.getNumPoints() == 1 && candidate->contains(all[0]);
    if ((isBefore && merged.space.getNumPoints() > 1) ||
        (own.hasReduction() != merged.space.hasReduction() &&
         isNarrow(merged.space)))
      return false;
  }
  if (!tryJoin(op, merged))
    return false;
  *candidates.front() = std::move(merged);
  for (Operation *next : candidates.front()->ops)
    if (candidates.front()->space.isMember(next->getResult(0)))
      commit(next, *candidates.front());
  for (Cluster *candidate : candidates.drop_front())
    empty(*candidate, *candidates.front());
  return true;
}

/// Empties a cluster whose ops are in another one.
void ClusterBuilder::empty(Cluster &from, Cluster &to) {
  for (Operation *op : from.ops)
    if (owner.lookup(op) == &from)
      owner[op] = &to;
  from.ops.clear();
  from.set.clear();
  from.open = false;
}

void ClusterBuilder::commit(Operation *op, Cluster &cluster) {
  if (isNumber(op))
    numbers = &cluster;
  if (Cluster *producer = findProducerOfSums(op))
    totals[producer] = &cluster;
  for (Value operand : op->getOperands()) {
    if (clusterOf(operand) == &cluster)
      continue;
    readers[findSource(op, operand)] = &cluster;
    Operation *def = operand.getDefiningOp();
    if (!def || !waitsForReader(def))
      continue;
    owner[def] = &cluster;
    if (Cluster *producer = clusterOf(def->getOperand(0));
        producer && producer != &cluster)
      producer->open = false;
  }
  owner[op] = &cluster;
}
