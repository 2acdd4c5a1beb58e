//===- CloneCasts.cpp - Widen f16 and bf16 in each kernel -----------------===//
//
// A kernel widens an element that it reads at no cost in memory. If one cast
// has readers in several kernels, one of them has to store the f32 values, with
// twice the bytes of the source, and the others read them.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Fusion/Passes.h"
#include "weft/Weft/Precision.h"

namespace weft {
#define GEN_PASS_DEF_CLONECASTSPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

bool weft::isWideningCast(Operation *op) {
  auto cast = dyn_cast_or_null<CastOp>(op);
  return cast && getElementTypeOrSelf(cast.getResult()).isF32() &&
         isLowPrecision(getElementTypeOrSelf(cast.getOperand()));
}

namespace {

/// Readers of a cast that one kernel can contain, in program order.
using Readers = SmallVector<Operation *>;

struct CloneCastsPass : weft::impl::CloneCastsPassBase<CloneCastsPass> {
  using CloneCastsPassBase::CloneCastsPassBase;

  void runOnOperation() override {
    Block &block = getOperation().getBody().front();
    SmallVector<CastOp> casts;
    DenseMap<Operation *, unsigned> barriers; // barriers before each op
    unsigned count = 0;
    for (Operation &op : block) {
      barriers[&op] = count;
      count += isFusionBarrier(&op);
      if (isWideningCast(&op))
        casts.push_back(cast<CastOp>(op));
    }
    for (CastOp cast : casts)
      clone(cast, barriers);
  }

  void clone(CastOp cast, const DenseMap<Operation *, unsigned> &barriers);
};

} // namespace

bool weft::isFusionBarrier(Operation *op) {
  StringRef impl = getImplementation(op);
  return (!impl.empty() && impl != kFoldedImpl) ||
         !isa<WeftDialect>(op->getDialect()) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

bool weft::isSumOverRows(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || !getImplementation(op).empty())
    return false;
  return !llvm::is_contained(
      reduce.getDims(),
      cast<RankedTensorType>(reduce.getOperand().getType()).getRank() - 1);
}

/// Whether a kernel may contain the op, so that it can read a cast's operand in
/// place of its result.
static bool isComputed(Operation *op) {
  return !isFusionBarrier(op) && !isViewOp(op) && !needsNoChoice(op);
}

/// Groups the readers of a cast by kernel: sums over rows are alone, and no
/// kernel reaches across a barrier.
static SmallVector<Readers>
groupReaders(CastOp cast, const DenseMap<Operation *, unsigned> &barriers) {
  Readers readers;
  for (Operation *user : cast->getUsers())
    if (!llvm::is_contained(readers, user))
      readers.push_back(user);
  llvm::sort(readers,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  SmallVector<Readers> groups;
  DenseMap<unsigned, unsigned> groupOf; // by the number of barriers before
  for (Operation *reader : readers) {
    if (isSumOverRows(reader)) {
      groups.push_back({reader});
      continue;
    }
    auto [group, isNew] =
        groupOf.try_emplace(barriers.lookup(reader), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[group->second].push_back(reader);
  }
  return groups;
}

/// A reader that needs the f32 values in memory keeps the cast as it is.
void CloneCastsPass::clone(CastOp cast,
                           const DenseMap<Operation *, unsigned> &barriers) {
  if (!llvm::all_of(cast->getUsers(), isComputed))
    return;
  SmallVector<Readers> groups = groupReaders(cast, barriers);
  if (groups.size() < 2)
    return;
  for (const Readers &readers : groups) {
    OpBuilder builder(readers.front());
    Operation *copy = builder.clone(*cast);
    for (Operation *reader : readers)
      reader->replaceUsesOfWith(cast, copy->getResult(0));
  }
  numCloned += groups.size() - 1;
  cast->erase();
}
