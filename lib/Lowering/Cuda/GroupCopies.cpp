//===- GroupCopies.cpp - Run copies of small buffers in one launch --------===//

#include "Grouper.h"
#include "weft/Analysis/KernelLayout.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/BufferBytes.h"
#include "weft/Support/TypeText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace weft {
#define GEN_PASS_DEF_GROUPCOPIESPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// Forms the groups of one program.
class CopyGrouper : public Grouper {
public:
  using Grouper::Grouper;

  LogicalResult run();

private:
  bool mayJoin(plan::CopyOp copy) const;
  bool conflicts(plan::CopyOp copy) const;
  LogicalResult visit(Operation &op);
  LogicalResult close();
  FailureOr<KernelOp> getKernel(plan::CopyOp copy);

  SmallVector<plan::CopyOp> open;
};

} // namespace

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Whether a routine may ask the host for a number that is copied: the flag of
/// a product that accumulates. The runtime finds the input by its copy.
static bool isFlagOfRoutine(plan::CopyOp copy) {
  const plan::BufferBytes target(copy.getTarget());
  const Value root = plan::getRoot(copy.getTarget());
  return llvm::any_of(plan::getUsers(root), [&](Operation *user) {
    return isa<plan::CommandOpInterface>(user) &&
           !isa<plan::LaunchOp, plan::CopyOp>(user) &&
           llvm::any_of(user->getOperands(), [&](Value operand) {
             auto type = cast<MemRefType>(operand.getType());
             return type.getElementType().isF32() &&
                    type.getNumElements() == 1 &&
                    plan::BufferBytes(operand).overlaps(target);
           });
  });
}

bool CopyGrouper::mayJoin(plan::CopyOp copy) const {
  auto source = cast<MemRefType>(copy.getSource().getType());
  auto target = cast<MemRefType>(copy.getTarget().getType());
  return !copy.getStreamAttr() && plan::getBufferBytes(source) <= mostBytes &&
         plan::Layout::get(source).isDense() &&
         plan::Layout::get(target).isDense() && !isFlagOfRoutine(copy);
}

/// Whether the copy has to run after one of the group.
bool CopyGrouper::conflicts(plan::CopyOp copy) const {
  const plan::BufferBytes source(copy.getSource()), target(copy.getTarget());
  return llvm::any_of(open, [&](plan::CopyOp other) {
    const plan::BufferBytes written(other.getTarget());
    return written.overlaps(source) || written.overlaps(target) ||
           plan::BufferBytes(other.getSource()).overlaps(target);
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The kernel that copies a buffer of that shape and type.
FailureOr<KernelOp> CopyGrouper::getKernel(plan::CopyOp copy) {
  auto buffer = cast<MemRefType>(copy.getSource().getType());
  auto type = RankedTensorType::get(buffer.getShape(), buffer.getElementType());
  const std::string text = "materialize " + getTypeText(type);
  const std::string name =
      "k_" + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                             /*Width=*/16);
  if (auto known = symbols.lookup<KernelOp>(name))
    return known;
  OpBuilder builder(program->getContext());
  builder.setInsertionPoint(program);
  auto kernel = KernelOp::create(
      builder, copy.getLoc(), builder.getStringAttr(name),
      TypeAttr::get(builder.getFunctionType(type, type)), /*kind=*/nullptr,
      /*sizes=*/nullptr, /*over=*/nullptr, /*sums=*/nullptr,
      /*inplace=*/nullptr, /*pitches=*/nullptr, /*arg_attrs=*/nullptr,
      /*res_attrs=*/nullptr);
  Block *body = builder.createBlock(&kernel.getBody(), {}, type, copy.getLoc());
  Value copied =
      MaterializeOp::create(builder, copy.getLoc(), body->getArgument(0));
  YieldOp::create(builder, copy.getLoc(), copied);
  if (failed(KernelLayout::recordFacts(kernel)))
    return failure();
  kernel->remove();
  symbols.insert(kernel);
  return kernel;
}

/// The sum of the estimates. A copy without one, as of an input, counts as 0,
/// as in the timeline. Null if no copy has one.
static FloatAttr addEstimates(ArrayRef<plan::CopyOp> copies) {
  double sum = 0;
  bool isKnown = false;
  for (plan::CopyOp copy : copies)
    if (FloatAttr us = plan::CopyOp(copy).getEstUsAttr()) {
      sum += us.getValueAsDouble();
      isKnown = true;
    }
  return isKnown ? Builder(copies.front()->getContext()).getF64FloatAttr(sum)
                 : FloatAttr();
}

LogicalResult CopyGrouper::close() {
  SmallVector<plan::CopyOp> copies = std::move(open);
  open.clear();
  if (copies.size() < 2)
    return success();
  SmallVector<GroupMember> members;
  for (plan::CopyOp copy : copies) {
    FailureOr<KernelOp> kernel = getKernel(copy);
    if (failed(kernel))
      return failure();
    ValueRange buffers = copy->getOperands();
    members.push_back(
        {copy, *kernel, buffers.take_front(), buffers.drop_front()});
  }
  replace(members, /*flops=*/IntegerAttr(), addEstimates(copies));
  return success();
}

LogicalResult CopyGrouper::visit(Operation &op) {
  auto copy = dyn_cast<plan::CopyOp>(op);
  if (!copy || conflicts(copy) ||
      static_cast<int64_t>(2 * open.size() + 2) > mostBuffers)
    if (failed(close()))
      return failure();
  if (copy && mayJoin(copy))
    open.push_back(copy);
  return success();
}

LogicalResult CopyGrouper::run() {
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
    if (isa<plan::CommandOpInterface>(op))
      if (failed(visit(op)))
        return failure();
  return close();
}

namespace {
struct GroupCopiesPass : weft::impl::GroupCopiesPassBase<GroupCopiesPass> {
  using GroupCopiesPassBase::GroupCopiesPassBase;

  void runOnOperation() override {
    if (failed(checkGroupBuffers(getOperation(), buffers)))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<plan::ProgramOp>()) {
      CopyGrouper grouper(program, symbols, bytes, buffers);
      if (failed(grouper.run()))
        return signalPassFailure();
      numGrouped += grouper.numGrouped;
      numGroups += grouper.numGroups;
    }
  }
};
} // namespace
