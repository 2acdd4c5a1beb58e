//===- RepeatedUpdates.cpp - Updates that share kernels -------------------===//

#include "Fusion.h"

#include "weft/Analysis/Implementations.h"
#include "weft/Base/CountText.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace weft;

/// Parameter, states and gradient: the operands that differ between updates.
static OperandRange getTensors(OptimizerOpInterface op) {
  return op->getOperands().take_front(op.getStates().size() + 2);
}

/// The operands that equal updates share: coefficient, skip, step and numbers.
static OperandRange getShared(OptimizerOpInterface op) {
  return op->getOperands().drop_front(op.getStates().size() + 2);
}

/// The terminator operands that are the results, or nothing if the terminator
/// does not use one of them.
static std::optional<SmallVector<int64_t>> findWrittenResults(Operation *op) {
  Operation *end = op->getBlock()->getTerminator();
  SmallVector<int64_t> numbers;
  for (Value result : op->getResults()) {
    auto use = llvm::find_if(result.getUses(), [&](OpOperand &each) {
      return each.getOwner() == end;
    });
    if (use == result.use_end())
      return std::nullopt;
    numbers.push_back(use->getOperandNumber());
  }
  return numbers;
}

/// The reason why an update cannot share kernels with other updates, or null. A
/// kernel reads any whole state at its offset. A view might be read through
/// instead, and its numbers would be part of the kernel. A state that is read
/// twice is a single operand of a kernel.
static const char *findReason(OptimizerOpInterface update) {
  SmallPtrSet<Attribute, 8> states;
  for (Value tensor : getTensors(update)) {
    auto read = tensor.getDefiningOp<ReadOp>();
    if (!read)
      return "it reads a computed value, not a state";
    if (cast<RankedTensorType>(tensor.getType()).getNumElements() == 1)
      return "one element is a number, which shares a kernel with others";
    if (!states.insert(read.getSourceAttr()).second)
      return "it reads a state twice";
  }
  return nullptr;
}

/// Everything that determines the results of an op, except its operands.
static std::vector<const void *> getContent(Operation *op) {
  std::vector<const void *> content = {
      op->getName().getAsOpaquePointer(),
      op->getPropertiesAsAttribute().getAsOpaquePointer()};
  for (Type type : op->getOperandTypes())
    content.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    content.push_back(type.getAsOpaquePointer());
  return content;
}

/// Everything that determines the formula of an update, except its tensors.
static std::vector<const void *> getKey(OptimizerOpInterface op) {
  std::vector<const void *> key = getContent(op);
  for (Value shared : getShared(op))
    key.push_back(shared.getAsOpaquePointer());
  return key;
}

llvm::MapVector<Operation *, RepeatedUpdate>
weft::findRepeatedUpdates(ProgramOp program) {
  llvm::MapVector<Operation *, RepeatedUpdate> updates;
  std::map<std::vector<const void *>, Operation *> firsts;
  for (Operation &op : program.getBody().front()) {
    auto update = dyn_cast<OptimizerOpInterface>(op);
    if (!update || !getImplementation(&op).empty())
      continue;
    std::optional<SmallVector<int64_t>> results = findWrittenResults(&op);
    const char *reason = results ? findReason(update)
                                 : "a result of it does not leave the program";
    if (reason) {
      remark::missed(op.getLoc(),
                     remark::RemarkOpts::name("alone").category("fusion"))
          << remark::add("this update shares no kernels with others: {0}",
                         reason);
      continue;
    }
    auto [first, isNew] = firsts.try_emplace(getKey(update), &op);
    RepeatedUpdate &entry = updates[first->second];
    if (!isNew) {
      entry.repeats.push_back(update);
      continue;
    }
    for (Value tensor : getTensors(update))
      entry.states.push_back(tensor.getDefiningOp<ReadOp>().getSourceAttr());
    entry.results = std::move(*results);
  }
  updates.remove_if([](auto &entry) { return entry.second.repeats.empty(); });
  return updates;
}

bool weft::isByElement(OptimizerOpInterface update,
                       ArrayRef<Operation *> formula) {
  OperandRange tensors = getTensors(update);
  DenseSet<Value> own(tensors.begin(), tensors.end());
  for (Operation *op : formula) {
    if (llvm::none_of(op->getOperands(),
                      [&](Value operand) { return own.contains(operand); }))
      continue;
    if (!isa<ScalarBodyOpInterface>(op) || renames(op))
      return false;
    own.insert(op->getResult(0));
  }
  return true;
}

Value EqualValues::insert(Operation *op, int64_t update) {
  std::vector<const void *> content = getContent(op);
  for (Value operand : op->getOperands())
    content.push_back(find(operand).getAsOpaquePointer());
  Value result = op->getResult(0);
  if (getShape(result).empty() || isa<ReadOp>(op))
    update = kNoUpdate;
  auto entry = known.try_emplace({update, std::move(content)}, result).first;
  return firsts[result] = entry->second;
}

/// The start of an error on a repeat of the update that begins with `first`.
static InFlightDiagnostic reject(OptimizerOpInterface repeat,
                                 Operation *first) {
  InFlightDiagnostic error = repeat->emitOpError("expects ");
  error.attachNote(first->getLoc()) << "the update that it repeats begins here";
  return error;
}

/// Repeats come after the ops of their update. They differ in their tensors
/// alone.
static LogicalResult checkAlike(const RepeatedUpdate &update,
                                ArrayRef<Operation *> ops) {
  OptimizerOpInterface first = update.repeats.front();
  Attribute link = first->getAttr(WeftDialect::kRepeatsAttr);
  for (OptimizerOpInterface repeat : update.repeats) {
    if (repeat->isBeforeInBlock(ops.back()))
      return reject(repeat, ops.front()) << "all ops of its update before it";
    if (const char *reason = findReason(repeat))
      return reject(repeat, ops.front()) << "no weft.repeats: " << reason;
    if (getKey(repeat) != getKey(first) ||
        repeat->getAttr(WeftDialect::kRepeatsAttr) != link)
      return reject(repeat, ops.front())
             << "to differ from the first repeat only in its tensors";
  }
  const size_t tensors = getTensors(first).size();
  if (update.states.size() == tensors &&
      update.results.size() == first->getNumResults())
    return success();
  return reject(first, ops.front())
         << countText(tensors, "state") << " and "
         << countText(first->getNumResults(), "result")
         << " in weft.repeats, but got " << link;
}

/// Builds the formula of the repeats again, on the states that they list. The
/// program must have its ops and results.
static LogicalResult checkFormula(const RepeatedUpdate &update, int64_t number,
                                  Operation *first, EqualValues &values) {
  OptimizerOpInterface repeat = update.repeats.front();
  Block block;
  OpBuilder builder(repeat->getContext());
  builder.setInsertionPointToEnd(&block);
  auto model = cast<OptimizerOpInterface>(builder.clone(*repeat));
  for (auto [tensor, state] : llvm::zip(model->getOpOperands(), update.states))
    tensor.set(ReadOp::create(builder, repeat.getLoc(), tensor.get().getType(),
                              cast<FlatSymbolRefAttr>(state)));
  FailureOr<SmallVector<Value>> results =
      cast<CompositeOpInterface>(*model).decompose(builder);
  if (failed(results))
    return failure();
  for (Operation &op : llvm::drop_begin(block))
    if (values.insert(&op, number) == op.getResult(0))
      return reject(repeat, first)
             << "the formula of " << repeat->getAttr(WeftDialect::kRepeatsAttr)
             << " in the program, but got no " << op.getName() << " of it";
  auto formula = llvm::to_vector(llvm::make_pointer_range(
      llvm::drop_begin(block, 1 + update.states.size())));
  if (!isByElement(model, formula))
    return reject(repeat, first)
           << "a formula that computes each element separately";
  OperandRange outputs = repeat->getBlock()->getTerminator()->getOperands();
  for (auto [result, place] : llvm::zip(*results, update.results))
    if (place >= int64_t(outputs.size()) ||
        values.find(outputs[place]) != values.find(result))
      return reject(repeat, first) << "a result of its update as operand "
                                   << place << " of the terminator";
  return success();
}

LogicalResult weft::checkRepeats(ProgramOp program, const Formulas &formulas) {
  if (formulas.repeated.empty())
    return success();
  EqualValues values;
  std::map<int64_t, SmallVector<Operation *>> updates;
  for (Operation &op : program.getBody().front()) {
    const int64_t update =
        formulas.updates.lookup_or(&op, EqualValues::kNoUpdate);
    updates[update].push_back(&op);
    if (op.getNumResults() == 1 && op.getNumRegions() == 0 && isPure(&op))
      values.insert(&op, update);
  }
  for (auto &[number, update] : formulas.repeated) {
    ArrayRef<Operation *> ops = updates[number];
    if (ops.empty())
      return update.repeats.front()->emitOpError("expects an op of update ")
             << number << ", whose kernels it calls, but got none";
    if (failed(checkAlike(update, ops)) ||
        failed(checkFormula(update, number, ops.front(), values)))
      return failure();
  }
  return success();
}

/// Maps the tensors of the first update to the tensors of the repeat.
static IRMapping mapTensors(const RepeatedUpdate &update,
                            OptimizerOpInterface repeat) {
  IRMapping mapping;
  for (CallOp call : update.calls)
    for (Value operand : call.getOperands())
      if (auto read = operand.getDefiningOp<ReadOp>()) {
        const auto *state = llvm::find(update.states, read.getSourceAttr());
        if (state != update.states.end())
          mapping.map(operand,
                      getTensors(repeat)[state - update.states.begin()]);
      }
  return mapping;
}

unsigned weft::callForRepeats(RepeatedUpdate &update) {
  assert(!update.calls.empty() && "checkRepeats has found its ops");
  // Clusters are ordered by their first ops, but calls by their last ops.
  llvm::sort(update.calls,
             [](CallOp x, CallOp y) { return x->isBeforeInBlock(y); });
  for (OptimizerOpInterface repeat : update.repeats) {
    OperandRange outputs = repeat->getBlock()->getTerminator()->getOperands();
    OpBuilder builder(repeat);
    IRMapping mapping = mapTensors(update, repeat);
    for (CallOp call : update.calls) {
      Operation *clone = builder.clone(*call, mapping);
      clone->setLoc(repeat.getLoc());
      clone->removeDiscardableAttr(WeftDialect::kScopeAttr);
      copyScope(repeat, clone);
    }
    for (auto [result, place] :
         llvm::zip_equal(repeat->getResults(), update.results))
      result.replaceAllUsesWith(mapping.lookupOrDefault(outputs[place]));
    repeat->erase();
  }
  return update.repeats.size() * update.calls.size();
}
