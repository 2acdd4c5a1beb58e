//===- RepeatedUpdates.cpp - Updates that share kernels -------------------===//

#include "RepeatedUpdates.h"

#include "weft/Analysis/Implementations.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include <map>

using namespace mlir;

namespace weft {

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
  llvm::SmallPtrSet<Attribute, 8> states;
  for (Value tensor : getTensors(update)) {
    auto read = tensor.getDefiningOp<ReadOp>();
    if (!read)
      return "it reads what is computed, not a state";
    if (cast<RankedTensorType>(tensor.getType()).getNumElements() == 1)
      return "one element is a number, which shares a kernel with others";
    if (!states.insert(read.getSourceAttr()).second)
      return "it reads a state twice";
  }
  return nullptr;
}

/// Everything that determines the formula of an update, except its tensors.
static std::vector<const void *> getKey(OptimizerOpInterface op) {
  std::vector<const void *> key = {
      op->getName().getAsOpaquePointer(),
      op->getPropertiesAsAttribute().getAsOpaquePointer()};
  for (Type type : op->getOperandTypes())
    key.push_back(type.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  for (Value shared : getShared(op))
    key.push_back(shared.getAsOpaquePointer());
  return key;
}

llvm::MapVector<Operation *, RepeatedUpdate>
findRepeatedUpdates(ProgramOp program) {
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

bool isByElement(OptimizerOpInterface update, ArrayRef<Operation *> formula) {
  OperandRange tensors = getTensors(update);
  llvm::DenseSet<Value> own(tensors.begin(), tensors.end());
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

unsigned callForRepeats(RepeatedUpdate &update) {
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

} // namespace weft
