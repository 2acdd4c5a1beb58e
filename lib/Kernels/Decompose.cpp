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

static FailureOr<llvm::SmallVector<Value>> expand(Operation *op,
                                                  OpBuilder &builder) {
  llvm::SmallVector<Value> values;
  if (auto composite = dyn_cast<CompositeOpInterface>(op))
    return composite.decompose(builder);
  if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
    if (!findFoldableProducer(accumulate))
      values.push_back(expandAccumulate(accumulate, builder));
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (isTrivialReduce(reduce))
      values.push_back(ReshapeOp::create(
          builder, op->getLoc(), reduce.getType(), reduce.getOperand()));
  }
  return values;
}

LogicalResult weft::decomposeProgram(ProgramOp program) {
  if (failed(checkAutocastIsDone(program)))
    return failure();
  llvm::SmallVector<Operation *> work;
  for (Operation &op : program.getBody().front().without_terminator())
    work.push_back(&op);
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
