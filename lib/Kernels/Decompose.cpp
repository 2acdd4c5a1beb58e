//===- Decompose.cpp - Write composite ops out as primitives --------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Kernels/Passes.h"
#include "weft/Weft/Precision.h"

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "weft/Kernels/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// accumulate == 0 ? value : old + value
static Value expandAccumulate(AccumulateOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  auto scalar = cast<RankedTensorType>(op.getAccumulate().getType());
  Value zero = ConstantOp::create(
      b, loc, scalar, DenseElementsAttr::get(scalar, b.getF32FloatAttr(0.0)));
  Value first = CompareOp::create(b, loc, scalar.clone(b.getI1Type()),
                                  Predicate::EQ, op.getAccumulate(), zero);
  Value sum = AddOp::create(b, loc, type, op.getOld(), op.getValue());
  return SelectOp::create(b, loc, type, first, op.getValue(), sum);
}

/// The formula of an op that is one and that no routine runs, else nothing.
static FailureOr<llvm::SmallVector<Value>> expand(Operation *op,
                                                  OpBuilder &builder) {
  if (!getImplementation(op).empty())
    return llvm::SmallVector<Value>();
  if (auto composite = dyn_cast<CompositeOpInterface>(op))
    return composite.decompose(builder);
  if (auto accumulate = dyn_cast<AccumulateOp>(op))
    return llvm::SmallVector<Value>{expandAccumulate(accumulate, builder)};
  return llvm::SmallVector<Value>();
}

void weft::renameTrivialReduces(ProgramOp program) {
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    if (!isTrivialReduce(&op))
      continue;
    OpBuilder builder(&op);
    auto reduce = cast<ReduceOp>(op);
    auto renamed = ReshapeOp::create(builder, op.getLoc(), reduce.getType(),
                                     reduce.getOperand());
    copyScope(&op, renamed);
    op.replaceAllUsesWith(renamed);
    op.erase();
  }
}

void weft::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult weft::decomposeProgram(ProgramOp program) {
  if (failed(checkAutocastIsDone(program)))
    return failure();
  llvm::SmallVector<Operation *> work;
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (failed(verifyClaim(&op)))
      return failure();
    work.push_back(&op);
  }
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    FailureOr<llvm::SmallVector<Value>> values = expand(op, builder);
    if (failed(values))
      return failure();
    if (values->empty())
      continue;
    Operation *made = before ? before->getNextNode() : &op->getBlock()->front();
    for (; made != op; made = made->getNextNode()) {
      copyScope(op, made);
      work.push_back(made);
    }
    op->replaceAllUsesWith(*values);
    op->erase();
  }
  renameTrivialReduces(program);
  return success();
}

namespace {
struct DecomposePass : weft::impl::DecomposePassBase<DecomposePass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<WeftDialect>();
  }
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(decomposeProgram(program)))
        return signalPassFailure();
  }
};
} // namespace
