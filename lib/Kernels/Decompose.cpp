//===- Decompose.cpp - Write composite ops out as primitives --------------===//

#include "Fusion.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Kernels/Passes.h"
#include "weft/Weft/IndexInputs.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Precision.h"

#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "weft/Kernels/Passes.h.inc"
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

/// Notes on the module what the metadata says of a formula: which optimizer it
/// came from, or how the loss scale changes.
static void noteUpdate(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  if (auto scaler = dyn_cast<ScalerUpdateOp>(op))
    module->setAttr(WeftDialect::kScalerAttr, scaler.getScaler());
  auto update = dyn_cast<OptimizerOpInterface>(op);
  if (!update)
    return;
  llvm::SetVector<Attribute> names;
  if (auto known = module->getAttrOfType<ArrayAttr>(kOptimizersAttr))
    names.insert(known.begin(), known.end());
  names.insert(StringAttr::get(op->getContext(), update.getOptimizer().name));
  module->setAttr(kOptimizersAttr,
                  ArrayAttr::get(op->getContext(), names.getArrayRef()));
}

/// Notes on the module which classes an input of a loss may name.
static void noteClasses(Operation *op) {
  auto loss = dyn_cast<CrossEntropyOp>(op);
  if (!loss)
    return;
  Value targets = loss.getTargets();
  while (auto reshape = targets.getDefiningOp<ReshapeOp>())
    targets = reshape.getOperand();
  auto argument = dyn_cast<BlockArgument>(targets);
  if (!argument)
    return;
  auto program = op->getParentOfType<ProgramOp>();
  StringRef name = program.getInputName(argument.getArgNumber());
  auto module = op->getParentOfType<ModuleOp>();
  Builder b(op->getContext());
  Attribute note = b.getDictionaryAttr(
      {b.getNamedAttr("ignore", b.getI64IntegerAttr(loss.getIgnoreIndex())),
       b.getNamedAttr("limit",
                      b.getI64IntegerAttr(getShape(loss.getLogits()).back())),
       b.getNamedAttr("name", b.getStringAttr(name))});
  llvm::SetVector<Attribute> notes;
  if (auto known = module->getAttrOfType<ArrayAttr>(kIndexInputsAttr))
    notes.insert(known.begin(), known.end());
  notes.insert(note);
  module->setAttr(kIndexInputsAttr, b.getArrayAttr(notes.getArrayRef()));
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
  UpdateNumbers updates;
  unsigned numUpdates = 0;

  LogicalResult replace(Operation *op);
};
} // namespace

LogicalResult Decomposer::replace(Operation *op) {
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  FailureOr<llvm::SmallVector<Value>> values = expand(op, builder);
  if (failed(values) || values->empty())
    return failure(failed(values));
  Operation *made = before ? before->getNextNode() : &op->getBlock()->front();
  for (; made != op; made = made->getNextNode()) {
    copyScope(op, made);
    work.push_back(made);
    if (isa<OptimizerOpInterface>(op))
      updates[made] = numUpdates;
  }
  numUpdates += isa<OptimizerOpInterface>(op);
  noteUpdate(op);
  noteClasses(op);
  op->replaceAllUsesWith(*values);
  updates.erase(op);
  op->erase();
  return success();
}

FailureOr<UpdateNumbers> weft::decomposeProgram(ProgramOp program) {
  if (failed(checkAutocastIsDone(program)))
    return failure();
  Decomposer decomposer;
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (failed(verifyClaim(&op)))
      return failure();
    decomposer.work.push_back(&op);
  }
  while (!decomposer.work.empty())
    if (failed(decomposer.replace(decomposer.work.pop_back_val())))
      return failure();
  renameTrivialReduces(program);
  shareNumbers(program.getBody().front(), decomposer.updates);
  return std::move(decomposer.updates);
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
