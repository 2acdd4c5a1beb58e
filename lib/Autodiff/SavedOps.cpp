//===- SavedOps.cpp - Live ranges of saved forward values -----------------===//

#include "SavedOps.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Autodiff/RecomputeChoices.h"
#include "weft/Support/ModulePath.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace weft;

StringRef weft::getSegment(Operation *op) { return getUnit(getScope(op)); }

int64_t weft::getTensorBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * static_cast<int64_t>(llvm::divideCeil(
                                     type.getElementTypeBitWidth(), 8));
}

/// Parameters and constants are always in memory; ops that rename a value use
/// no bytes.
static bool takesBytes(Operation *op) {
  return !isa<ReadOp>(op) && !op->hasTrait<OpTrait::ConstantLike>() &&
         !op->hasTrait<OpTrait::IsTerminator>() && !renames(op);
}

/// The users of a value under all its names, except ops that only rename it.
static void collectUsers(Value value, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : value.getUsers()) {
    if (renames(user) && user->getOperand(0) == value)
      collectUsers(user->getResult(0), users);
    else
      users.push_back(user);
  }
}

SavedOps::SavedOps(ProgramOp program, size_t numForward)
    : numForward(static_cast<int64_t>(numForward)) {
  for (Operation &op : program.getBody().front())
    positions.insert({&op, static_cast<int64_t>(positions.size())});
  temporaries.resize(positions.size() + 1);
  for (Operation &op : program.getBody().front()) {
    if (!takesBytes(&op))
      continue;
    if (isForward(&op))
      addSaved(&op);
    addTemporaries(&op);
  }
}

bool SavedOps::isForward(Operation *op) const {
  auto found = positions.find(op);
  return found != positions.end() && found->second < numForward;
}

SavedOp *SavedOps::find(Operation *op) {
  auto found = index.find(op);
  return found == index.end() ? nullptr : &saved[found->second];
}

void SavedOps::addSaved(Operation *op) {
  SavedOp entry;
  entry.op = op;
  entry.made = entry.lastForward = positions.lookup(op);
  entry.firstBackward = entry.lastBackward = -1;
  entry.segment = mayRecompute(op) ? getSegment(op) : StringRef();
  for (Value result : op->getResults()) {
    SmallVector<Operation *> users;
    collectUsers(result, users);
    bool isRead = false;
    for (Operation *user : users) {
      const int64_t position = positions.lookup(user);
      // Returned values are always kept.
      if (user->hasTrait<OpTrait::IsTerminator>()) {
        entry.segment = {};
        continue;
      }
      if (isForward(user)) {
        entry.lastForward = std::max(entry.lastForward, position);
        if (getSegment(user) != entry.segment)
          entry.segment = {};
        continue;
      }
      isRead = true;
      entry.lastBackward = std::max(entry.lastBackward, position);
      if (entry.firstBackward < 0 || position < entry.firstBackward)
        entry.firstBackward = position;
    }
    entry.bytes += isRead ? getTensorBytes(result) : 0;
  }
  if (entry.bytes == 0)
    return;
  index[op] = saved.size();
  saved.push_back(entry);
}

static void addLife(MutableArrayRef<int64_t> changes, int64_t begin,
                    int64_t end, int64_t bytes) {
  changes[begin] += bytes;
  changes[end + 1] -= bytes;
}

/// A value with one reader is mostly a part of that reader's kernel.
void SavedOps::addTemporaries(Operation *op) {
  if (find(op))
    return;
  for (Value result : op->getResults()) {
    SmallVector<Operation *> users;
    collectUsers(result, users);
    if (users.size() < 2)
      continue;
    int64_t last = positions.lookup(op);
    for (Operation *user : users)
      if (!user->hasTrait<OpTrait::IsTerminator>())
        last = std::max(last, positions.lookup(user));
    addLife(temporaries, positions.lookup(op), last, getTensorBytes(result));
  }
}

int64_t SavedOps::getSegmentStart(const SavedOp &entry) const {
  auto start = starts.find(entry.segment);
  return start == starts.end() ? entry.firstBackward
                               : std::min(start->second, entry.firstBackward);
}

void SavedOps::drop(SavedOp &entry) {
  starts[entry.segment] = getSegmentStart(entry);
  entry.isDropped = true;
}

int64_t SavedOps::findPeak() const {
  std::vector<int64_t> changes = temporaries;
  for (const SavedOp &entry : saved) {
    if (!entry.isDropped) {
      addLife(changes, entry.made, entry.lastBackward, entry.bytes);
      continue;
    }
    addLife(changes, entry.made, entry.lastForward, entry.bytes);
    addLife(changes, getSegmentStart(entry), entry.lastBackward, entry.bytes);
  }
  std::partial_sum(changes.begin(), changes.end(), changes.begin());
  return std::max_element(changes.begin(), changes.end()) - changes.begin();
}

/// The value whose elements `value` has under another name.
static Value storageOf(Value value) {
  while (renames(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

std::vector<Value> weft::markSaved(Block &body,
                                   function_ref<bool(Operation *)> isBackward) {
  DenseSet<Value> read;
  for (Operation &op : body)
    if (!isBackward(&op))
      for (Value result : op.getResults())
        if (llvm::any_of(result.getUsers(), isBackward))
          read.insert(storageOf(result));
  std::vector<Value> saved;
  for (Operation &op : body) {
    op.removeDiscardableAttr(kSavedAttr);
    if (isBackward(&op) || isa<ReadOp>(op) ||
        op.hasTrait<OpTrait::ConstantLike>())
      continue;
    SmallVector<int64_t> numbers;
    for (OpResult result : op.getResults())
      if (read.contains(result)) {
        numbers.push_back(result.getResultNumber());
        saved.push_back(result);
      }
    if (!numbers.empty())
      op.setDiscardableAttr(kSavedAttr,
                            DenseI64ArrayAttr::get(op.getContext(), numbers));
  }
  return saved;
}
