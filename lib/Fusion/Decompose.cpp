//===- Decompose.cpp - Write composite ops out as primitives --------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Fusion/Passes.h"
#include "weft/Weft/Precision.h"

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The formula of an op that is one and that no routine runs, else nothing.
static FailureOr<llvm::SmallVector<Value>> expand(Operation *op,
                                                  OpBuilder &builder) {
  if (!getImplementation(op).empty())
    return llvm::SmallVector<Value>();
  if (auto composite = dyn_cast<CompositeOpInterface>(op))
    return composite.decompose(builder);
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

/// Computes a number once that several updates need: it is the same for all
/// parameters of a group. `updates` are the ops of their formulas.
static void shareNumbers(Block &block, UpdateNumbers &updates) {
  std::map<std::vector<const void *>, Value> known;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!updates.contains(&op) || !isa<ScalarBodyOpInterface>(op) ||
        !getShape(op.getResult(0)).empty())
      continue;
    std::vector<const void *> key = {
        op.getName().getAsOpaquePointer(),
        op.getPropertiesAsAttribute().getAsOpaquePointer(),
        op.getResult(0).getType().getAsOpaquePointer()};
    for (Value operand : op.getOperands()) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      key.push_back(constant ? constant.getValue().getAsOpaquePointer()
                             : operand.getAsOpaquePointer());
    }
    auto [entry, isNew] = known.try_emplace(std::move(key), op.getResult(0));
    if (isNew)
      continue;
    op.getResult(0).replaceAllUsesWith(entry->second);
    updates.erase(&op);
    op.erase();
  }
}

void weft::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
/// Writes out the ops of a program, and what their formulas are made of.
struct Decomposer {
  llvm::SmallVector<Operation *> work;
  Formulas formulas;
  unsigned numUpdates = 0;
  /// By the first op of each, which is written out.
  llvm::MapVector<Operation *, RepeatedUpdate> repeated;
  llvm::DenseSet<Operation *> kept; // the others

  void keepRepeats(ProgramOp program, bool explain);
  LogicalResult replace(Operation *op);
  void addUpdate(Operation *op, llvm::ArrayRef<Operation *> formula);
};
} // namespace

void Decomposer::keepRepeats(ProgramOp program, bool explain) {
  repeated = findRepeatedUpdates(program, explain);
  for (auto &[first, update] : repeated)
    kept.insert(update.repeats.begin(), update.repeats.end());
}

/// Gives the update its number. Those like it are written out after all if its
/// kernels are no help to them.
void Decomposer::addUpdate(Operation *op, llvm::ArrayRef<Operation *> formula) {
  const unsigned number = numUpdates++;
  for (Operation *each : formula)
    formulas.updates[each] = number;
  auto found = repeated.find(op);
  if (found == repeated.end())
    return;
  RepeatedUpdate &update = found->second;
  if (isByElement(cast<OptimizerOpInterface>(op), formula)) {
    formulas.repeated.emplace(number, std::move(update));
    return;
  }
  for (OptimizerOpInterface repeat : update.repeats) {
    kept.erase(repeat);
    work.push_back(repeat);
  }
}

LogicalResult Decomposer::replace(Operation *op) {
  if (kept.contains(op))
    return success();
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  FailureOr<llvm::SmallVector<Value>> values = expand(op, builder);
  if (failed(values) || values->empty())
    return failure(failed(values));
  llvm::SmallVector<Operation *> formula;
  auto outer = formulas.names.find(op);
  OperationName name =
      outer == formulas.names.end() ? op->getName() : outer->second;
  Operation *made = before ? before->getNextNode() : &op->getBlock()->front();
  for (; made != op; made = made->getNextNode()) {
    copyScope(op, made);
    formulas.names.insert_or_assign(made, name);
    formula.push_back(made);
  }
  work.append(formula);
  if (isa<OptimizerOpInterface>(op))
    addUpdate(op, formula);
  op->replaceAllUsesWith(*values);
  formulas.updates.erase(op);
  formulas.names.erase(op);
  op->erase();
  return success();
}

FailureOr<Formulas> weft::decomposeProgram(ProgramOp program, Repeats repeats,
                                           bool explain) {
  if (failed(checkRegionsAreResolved(program)))
    return failure();
  Decomposer decomposer;
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (failed(verifyClaim(&op)))
      return failure();
    decomposer.work.push_back(&op);
  }
  if (repeats == Repeats::Kept)
    decomposer.keepRepeats(program, explain);
  while (!decomposer.work.empty())
    if (failed(decomposer.replace(decomposer.work.pop_back_val())))
      return failure();
  renameTrivialReduces(program);
  shareNumbers(program.getBody().front(), decomposer.formulas.updates);
  return std::move(decomposer.formulas);
}

namespace {
struct DecomposePass : weft::impl::DecomposePassBase<DecomposePass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<WeftDialect>();
  }
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (failed(decomposeProgram(program, Repeats::Written)))
        return signalPassFailure();
    }
  }
};
} // namespace
