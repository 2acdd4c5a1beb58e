//===- Recompute.cpp - Recomputation of forward values --------------------===//

#include "weft/Autodiff/Passes.h"

#include "SavedOps.h"

#include "weft/Abi/Names.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/MapVector.h"

namespace weft {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// The segments of marked ops.
class Marks : public RewriterBase::Listener {
public:
  /// Takes the marks off the ops.
  explicit Marks(Block &body) {
    for (Operation &op : body)
      if (Attribute segment = op.removeAttr(WeftDialect::kRecomputeAttr))
        segments[&op] = cast<StringAttr>(segment);
  }

  /// The segment of an op, or null.
  StringAttr lookup(Operation *op) const { return segments.lookup(op); }
  void notifyOperationErased(Operation *op) override { segments.erase(op); }

private:
  llvm::DenseMap<Operation *, StringAttr> segments;
};

/// A program that is split into a forward and a backward part.
struct SplitProgram {
  Block &body;
  Operation *lastForward;

  /// The terminator keeps its operands, as a forward op does.
  bool isBackward(Operation *op) const {
    return lastForward->isBeforeInBlock(op) &&
           !op->hasTrait<OpTrait::IsTerminator>();
  }
};

/// One segment: its ops in order, and the uses of their results by the backward
/// part.
class RecomputedSegment {
public:
  explicit RecomputedSegment(StringAttr name) : name(name) {}

  void add(Operation *op) { ops.insert(op); }
  void findUses(const SplitProgram &program, const Marks &marks);
  void build();

private:
  llvm::SetVector<Operation *> findNeeded() const;
  Operation *findFirstUser() const;

  StringAttr name;
  llvm::SetVector<Operation *> ops;
  SmallVector<OpOperand *> uses;
};
} // namespace

/// Results that other segments of the forward part read are kept anyway, since
/// later segments start from them. Unmarked ops of the same block do not count
/// as another segment.
void RecomputedSegment::findUses(const SplitProgram &program,
                                 const Marks &marks) {
  auto isElsewhere = [&](Operation *user) {
    return !ops.contains(user) && !program.isBackward(user) &&
           (marks.lookup(user) || getSegment(user) != name.getValue());
  };
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::none_of(result.getUsers(), isElsewhere))
        for (OpOperand &use : result.getUses())
          if (program.isBackward(use.getOwner()))
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

void RecomputedSegment::build() {
  if (uses.empty())
    return;
  OpBuilder builder(findFirstUser());
  IRMapping copies;
  for (Operation *op : findNeeded())
    builder.clone(*op, copies);
  for (OpOperand *use : uses)
    use->set(copies.lookup(use->get()));
}

/// The last op that makes an output: backward ops follow it, since outputs do
/// not depend on them. Null if the program has no backward part.
static Operation *findLastForward(ProgramOp program) {
  BlockArgument seed = program.findInput(names::kLossSeed);
  Operation *last = nullptr;
  if (seed && !seed.use_empty())
    for (Value output : program.getTerminator().getOutputs())
      if (Operation *maker = output.getDefiningOp();
          maker && (!last || last->isBeforeInBlock(maker)))
        last = maker;
  return last;
}

/// Merges equal ops, which neither marks nor `weft.saved` must keep apart.
static void mergeOps(ProgramOp program, Marks &marks) {
  for (Operation &op : program.getBody().front())
    op.removeDiscardableAttr(kSavedAttr);
  IRRewriter rewriter(program->getContext(), &marks);
  DominanceInfo dominance(program);
  eliminateCommonSubExpressions(rewriter, dominance, program);
}

/// Forward ops that only the replaced uses needed.
static void eraseDeadForwardOps(const SplitProgram &program) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program.body)))
    if (!program.isBackward(&op) && isOpTriviallyDead(&op))
      op.erase();
}

static void recomputeMarked(const SplitProgram &program, const Marks &marks) {
  llvm::MapVector<StringAttr, RecomputedSegment> segments;
  for (Operation &op : program.body)
    if (StringAttr segment = marks.lookup(&op);
        segment && !program.isBackward(&op))
      segments.try_emplace(segment, segment).first->second.add(&op);
  // Find all uses before the first copy: copies read the inputs of their
  // segment.
  for (auto &[name, segment] : segments)
    segment.findUses(program, marks);
  for (auto &[name, segment] : segments)
    segment.build();
}

namespace {
struct RecomputePass : weft::impl::RecomputePassBase<RecomputePass> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    Block &body = program.getBody().front();
    Marks marks(body);
    mergeOps(program, marks);
    Operation *lastForward = findLastForward(program);
    if (!lastForward)
      return;
    SplitProgram parts{body, lastForward};
    recomputeMarked(parts, marks);
    eraseDeadForwardOps(parts);
    markSaved(body, [&](Operation *op) { return parts.isBackward(op); });
  }
};
} // namespace
