//===- Recompute.cpp - Recomputation of forward values --------------------===//

#include "Recompute.h"

#include "SavedOps.h"

#include "weft/Autodiff/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weft {

namespace {
/// One segment: its ops in order, and the uses of their results by the backward
/// part.
class RecomputedSegment {
public:
  explicit RecomputedSegment(StringRef name) : name(name) {}

  void add(Operation *op) { ops.insert(op); }
  void findUses(const BackwardOps &backward);
  void build(BackwardOps &backward, OpBuilder &builder);

private:
  llvm::SetVector<Operation *> findNeeded() const;
  Operation *findFirstUser() const;
  Value readOutside(Value value, OpBuilder &builder);

  StringRef name;
  llvm::SetVector<Operation *> ops;
  SmallVector<OpOperand *> uses;
  IRMapping copies;
};
} // namespace

/// Results that other segments of the forward part read are kept anyway, since
/// later segments start from them. Unmarked ops of the same block do not count
/// as another segment.
void RecomputedSegment::findUses(const BackwardOps &backward) {
  auto isElsewhere = [&](Operation *user) {
    return !ops.contains(user) && !backward.contains(user) &&
           (user->hasAttr(WeftDialect::kRecomputeAttr) ||
            getSegment(user) != name);
  };
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::none_of(result.getUsers(), isElsewhere))
        for (OpOperand &use : result.getUses())
          if (backward.contains(use.getOwner()))
            uses.push_back(&use);
}

/// The ops of the segment that the uses depend on, in segment order.
llvm::SetVector<Operation *> RecomputedSegment::findNeeded() const {
  llvm::DenseSet<Operation *> needed;
  for (OpOperand *use : uses)
    needed.insert(use->get().getDefiningOp());
  for (Operation *op : llvm::reverse(ops))
    if (needed.contains(op))
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp();
            maker && ops.contains(maker))
          needed.insert(maker);
  llvm::SetVector<Operation *> inOrder;
  for (Operation *op : ops)
    if (needed.contains(op))
      inOrder.insert(op);
  return inOrder;
}

Operation *RecomputedSegment::findFirstUser() const {
  Operation *first = uses.front()->getOwner();
  for (OpOperand *use : uses)
    if (use->getOwner()->isBeforeInBlock(first))
      first = use->getOwner();
  return first;
}

/// Parameters and constants need no fence, since they are always in memory.
Value RecomputedSegment::readOutside(Value value, OpBuilder &builder) {
  Operation *maker = value.getDefiningOp();
  if (copies.contains(value) ||
      (maker &&
       (isa<ReadOp>(maker) || maker->hasTrait<OpTrait::ConstantLike>())))
    return copies.lookupOrDefault(value);
  Value fence = FenceOp::create(builder, value.getLoc(), value);
  copies.map(value, fence);
  return fence;
}

void RecomputedSegment::build(BackwardOps &backward, OpBuilder &builder) {
  if (uses.empty())
    return;
  builder.setInsertionPoint(findFirstUser());
  for (Operation *op : findNeeded()) {
    backward.follow(op);
    for (Value operand : op->getOperands())
      readOutside(operand, builder);
    builder.clone(*op, copies)->removeAttr(WeftDialect::kRecomputeAttr);
  }
  for (OpOperand *use : uses)
    use->set(copies.lookup(use->get()));
}

void recomputeMarked(ArrayRef<Operation *> forward, BackwardOps &backward,
                     OpBuilder &builder) {
  llvm::MapVector<StringAttr, RecomputedSegment> segments;
  for (Operation *op : forward)
    if (auto segment =
            op->getAttrOfType<StringAttr>(WeftDialect::kRecomputeAttr))
      segments.try_emplace(segment, segment.getValue()).first->second.add(op);
  // Find all uses before the first copy: copies read the inputs of their
  // segment.
  for (auto &[name, segment] : segments)
    segment.findUses(backward);
  for (auto &[name, segment] : segments)
    segment.build(backward, builder);
  for (Operation *op : forward)
    op->removeAttr(WeftDialect::kRecomputeAttr);
}

} // namespace weft
