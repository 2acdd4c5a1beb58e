//===- ClusterLimits.cpp - Which kernels are not worth while --------------===//

#include "Fusion.h"
#include "weft/Analysis/RowSums.h"

using namespace mlir;
using namespace weft;

/// Spaces of at least this many points are not fused if that leaves too few
/// independent parts. Another pass over the data then costs less.
static constexpr int64_t kLargeSpace = 8192;
static constexpr int64_t kMinRows = 16;
static constexpr int64_t kMinColumns = 128;

unsigned weft::countBuffers(const KernelSpace &space) {
  llvm::SmallDenseSet<Value, 16> bases;
  for (auto &[operand, use] : space.getUses())
    if (!use.base.getDefiningOp<IotaOp>())
      bases.insert(use.base);
  return bases.size();
}

bool weft::hasMoreBuffers(const KernelSpace &space, unsigned limit) {
  return space.getNumUses() > limit && countBuffers(space) > limit;
}

static bool escapes(const Cluster &cluster, Operation *except) {
  for (Operation *op : cluster.ops) {
    if (!cluster.space.isMember(op->getResult(0)))
      continue;
    for (Operation *user : op->getUsers())
      if (user != except && !cluster.contains(user))
        return true;
  }
  return false;
}

/// Whether a space of reductions is cut into too few parts to compute anything
/// large beside them.
bool weft::isNarrow(const KernelSpace &space) {
  if (!space.hasReduction() || space.getNumPoints() < kLargeSpace)
    return false;
  int64_t parts = 1;
  for (auto [d, size] : llvm::enumerate(space.getSizes()))
    if (!space.isReduced(d))
      parts *= size;
  return parts < (space.reducesLast() ? kMinRows : kMinColumns);
}

/// Why blocks of a device cannot add up the rows of the space, to which `op`
/// was added; null if they can.
static const char *refuseSums(Operation *op, const KernelSpace &space) {
  if (space.isSum(op->getResult(0)) &&
      getElementTypeOrSelf(op->getResult(0).getType()).isF64())
    return "blocks add up rows in f32";
  int64_t elements = 1;
  for (auto [d, size] : llvm::enumerate(space.getSizes()))
    if (space.isReduced(d))
      elements *= size;
  const int64_t rows = space.getSummedRows();
  if (rows > getMostSummedRows(elements))
    return "a block cannot add up so many rows";
  if (space.getNumPoints() / (rows * elements) < kMinRows)
    return "both together have too few parts for threads";
  if (space.getNumSums() * getTotalsPerThread(elements) > kMostTotals)
    return "its sums over rows do not fit into registers";
  return nullptr;
}

/// Why it is not worth while that `op` joins the cluster, whose space becomes
/// `after`; null if it is.
const char *ClusterBuilder::refuse(Operation *op, const Cluster &cluster,
                                   const KernelSpace &after,
                                   int64_t pointsBefore,
                                   bool reducedBefore) const {
  if (cluster.ops.empty())
    return nullptr;
  if (hasMoreBuffers(after, limits.maxBuffers))
    return "both together have too many buffers";
  if (!after.keepsOrder())
    return "its loops would add up in another order";
  bool grows = after.getNumPoints() > pointsBefore;
  if (grows && escapes(cluster, op))
    return "every row of the larger loop would write its results again";
  if (const char *reason = after.hasSums() ? refuseSums(op, after) : nullptr)
    return reason;
  if (!isNarrow(after))
    return nullptr;
  bool joins =
      reducedBefore ? !after.isFull(op->getResult(0)) : !escapes(cluster, op);
  return joins ? nullptr : "both together have too few parts for threads";
}

/// Whether the kernel that computes a cast's operand can contain the sum over
/// rows that alone reads the cast. Otherwise it would store the widened copy.
bool ClusterBuilder::fitsWithSum(Operation *cast,
                                 const Cluster &producer) const {
  Operation *sum = *cast->user_begin();
  if (!limits.sumsInRows || !isSumOverRows(sum))
    return true;
  KernelSpace space = producer.space;
  return space.add(cast) && space.add(sum) &&
         !refuse(sum, producer, space, producer.space.getNumPoints(),
                 producer.space.hasReduction());
}

/// Whether a kernel reads the operands of the op under their first names: the
/// rows of a sum are reshaped to groups.
bool ClusterBuilder::readsThroughNames(Operation *op) const {
  return waitsForReader(op) || (limits.sumsInRows && isSumOverRows(op));
}

/// The value that a kernel reads for the operand of the op.
Value ClusterBuilder::findSource(Operation *op, Value operand) const {
  bool skipsNames = readsThroughNames(op);
  if (Operation *def = operand.getDefiningOp(); def && waitsForReader(def)) {
    operand = def->getOperand(0);
    skipsNames = true;
  }
  while (skipsNames && renames(operand.getDefiningOp()))
    operand = operand.getDefiningOp()->getOperand(0);
  return operand;
}
