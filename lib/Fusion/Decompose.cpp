//===- Decompose.cpp - Write composite ops out as primitives --------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Base/CountText.h"
#include "weft/Fusion/Passes.h"
#include "weft/Weft/ErrorWatch.h"
#include "weft/Weft/Precision.h"

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static LogicalResult checkFormula(Operation *op, ArrayRef<Value> values) {
  if (values.size() != op->getNumResults())
    return op->emitOpError("expects its formula to give ")
           << countText(op->getNumResults(), "value") << ", but got "
           << values.size();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
    if (value && value.getType() == result.getType())
      continue;
    InFlightDiagnostic error = op->emitOpError("expects its formula to give ")
                               << result.getType() << " for result "
                               << result.getResultNumber() << ", but got ";
    return value ? error << value.getType() : error << "no value";
  }
  return success();
}

/// The formula of an op that is one and that no routine runs, else nothing. A
/// failure without a message becomes an error of the op.
static FailureOr<llvm::SmallVector<Value>>
expand(Operation *op, OpBuilder &builder, const ErrorWatch &errors) {
  auto composite = dyn_cast<CompositeOpInterface>(op);
  if (!composite || !getImplementation(op).empty())
    return llvm::SmallVector<Value>();
  FailureOr<llvm::SmallVector<Value>> values = composite.decompose(builder);
  if (failed(values)) {
    if (!errors.hasErrors())
      op->emitOpError("expects decompose() to build its formula, but it failed "
                      "without a message");
    return failure();
  }
  if (failed(checkFormula(op, *values)))
    return failure();
  return values;
}

void weft::renameTrivialReduces(ProgramOp program) {
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    if (!isTrivialReduce(&op))
      continue;
    OpBuilder builder(&op);
    auto reduce = cast<ReduceOp>(op);
    auto renamed = ReshapeOp::create(builder, op.getLoc(), reduce.getType(),
                                     reduce.getOperand());
    copyOrigin(&op, renamed);
    op.replaceAllUsesWith(renamed);
    op.erase();
  }
}

void weft::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
/// Replaces the composite ops of a program by their formulas.
class Decomposer {
public:
  explicit Decomposer(MLIRContext *context) : errors(context) {}
  LogicalResult run(ProgramOp program);

private:
  void keepRepeats(ProgramOp program);
  LogicalResult replace(Operation *op);
  void addUpdate(Operation *op, llvm::ArrayRef<Operation *> formula);

  ErrorWatch errors;
  llvm::SmallVector<Operation *> work;
  int64_t numUpdates = 0;
  /// By the first op of each group, which is decomposed.
  llvm::MapVector<Operation *, RepeatedUpdate> repeated;
  llvm::DenseSet<Operation *> kept; // the others
};
} // namespace

void Decomposer::keepRepeats(ProgramOp program) {
  repeated = findRepeatedUpdates(program);
  for (auto &[first, update] : repeated)
    kept.insert(update.repeats.begin(), update.repeats.end());
}

/// Gives the update its number. The updates of its group are decomposed after
/// all if they cannot call its kernels.
void Decomposer::addUpdate(Operation *op, llvm::ArrayRef<Operation *> formula) {
  Builder builder(op->getContext());
  const int64_t number = numUpdates++;
  for (Operation *each : formula)
    each->setAttr(WeftDialect::kUpdateAttr, builder.getI64IntegerAttr(number));
  auto found = repeated.find(op);
  if (found == repeated.end())
    return;
  const RepeatedUpdate &update = found->second;
  const bool callsKernels =
      isByElement(cast<OptimizerOpInterface>(op), formula);
  auto link =
      RepeatsAttr::get(op->getContext(), number,
                       builder.getArrayAttr(update.states), update.results);
  for (OptimizerOpInterface repeat : update.repeats) {
    if (callsKernels) {
      repeat->setAttr(WeftDialect::kRepeatsAttr, link);
      continue;
    }
    kept.erase(repeat);
    work.push_back(repeat);
  }
}

LogicalResult Decomposer::replace(Operation *op) {
  if (kept.contains(op))
    return success();
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  FailureOr<llvm::SmallVector<Value>> values = expand(op, builder, errors);
  if (failed(values) || values->empty())
    return failure(failed(values));
  llvm::SmallVector<Operation *> formula;
  if (!op->hasAttr(WeftDialect::kFormulaAttr))
    op->setAttr(WeftDialect::kFormulaAttr,
                builder.getStringAttr(op->getName().stripDialect()));
  Operation *made = before ? before->getNextNode() : &op->getBlock()->front();
  for (; made != op; made = made->getNextNode()) {
    copyOrigin(op, made);
    formula.push_back(made);
  }
  work.append(formula);
  if (isa<OptimizerOpInterface>(op))
    addUpdate(op, formula);
  op->replaceAllUsesWith(*values);
  op->erase();
  return success();
}

LogicalResult Decomposer::run(ProgramOp program) {
  if (failed(checkRegionsAreResolved(program)))
    return failure();
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (failed(verifyClaim(&op)))
      return failure();
    work.push_back(&op);
  }
  keepRepeats(program);
  while (!work.empty())
    if (failed(replace(work.pop_back_val())))
      return failure();
  renameTrivialReduces(program);
  // Several updates need a number that is the same for all parameters.
  shareNumbers(program.getBody().front(), [](Operation *op) {
    return op->hasAttr(WeftDialect::kUpdateAttr);
  });
  return success();
}

namespace {
struct DecomposePass : weft::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    if (failed(Decomposer(&getContext()).run(getOperation())))
      signalPassFailure();
  }
};
} // namespace
