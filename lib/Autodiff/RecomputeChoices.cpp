//===- RecomputeChoices.cpp - Choose the saved values to recompute --------===//

#include "weft/Autodiff/RecomputeChoices.h"

#include "Differentiator.h"
#include "SavedOps.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Base/Flags.h"
#include "weft/Weft/Programs.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

std::optional<RecomputeRule> weft::parseRecomputeRule(StringRef text) {
  auto number = [](StringRef digits) -> std::optional<int64_t> {
    int64_t value = 0;
    if (digits.getAsInteger(10, value) || value < 1)
      return std::nullopt;
    return value;
  };
  if (text == "none")
    return RecomputeRule{};
  if (text == "blocks")
    return RecomputeRule{/*blocks=*/1, std::nullopt};
  if (text.consume_front("every:"))
    if (std::optional<int64_t> count = number(text))
      return RecomputeRule{*count, std::nullopt};
  if (int64_t bytes = 0; text.consume_front("bytes:"))
    if (parseByteCount(text.str(), bytes) && bytes >= 1)
      return RecomputeRule{/*blocks=*/0, bytes};
  return std::nullopt;
}

bool weft::mayRecompute(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         !isa<ReadOp>(op) && !op->hasTrait<OpTrait::ConstantLike>() &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

size_t RecomputeChoices::countFor(int64_t bytes) const {
  size_t count = 0;
  for (int64_t sum = 0; count < inOrder.size() && sum < bytes; ++count)
    sum += inOrder[count].bytes;
  return count;
}

/// Uses the default rates of a cost table. Only the order of the choices
/// depends on it, so relative costs suffice.
static double estimateMicroseconds(Operation *op) {
  if (renames(op))
    return 0;
  double flops = 0;
  if (auto costs = dyn_cast<CostOpInterface>(op))
    flops = costs.getFlops();
  int64_t bytes = 0;
  for (Value value : op->getOperands())
    bytes += getTensorBytes(value);
  for (Value value : op->getResults())
    bytes += getTensorBytes(value);
  return std::max(flops / 200e3, static_cast<double>(bytes) / 45e3);
}

namespace {
using GeluProducts =
    DenseMap<Operation *, SmallVector<Operation *, 3>>; // by gelu

/// Orders the saved ops of one differentiated program.
class Chooser {
public:
  /// `again`: ops that are recomputed in any case. `products`: the ops with
  /// which a gelu is recomputed.
  Chooser(SavedOps &saved, DenseSet<Operation *> again, GeluProducts products)
      : saved(saved), again(std::move(again)), products(std::move(products)) {}

  /// Drops the next op; null if none is left. `added` gets the additional ops
  /// to recompute, `bytes` the size of the results that are no longer kept.
  SavedOp *next(SetVector<Operation *> &added, int64_t &bytes);

private:
  void addProduct(Operation *op, SetVector<Operation *> &added) const;
  SetVector<Operation *> findAdded(const SavedOp &joining);
  SmallVector<SavedOp *> findDropped(const SavedOp &joining,
                                     const SetVector<Operation *> &added);
  double getCost(const SavedOp &joining);
  SavedOp *findCheapest(function_ref<bool(const SavedOp &)> mayDrop);

  SavedOps &saved;
  /// Estimated microseconds per byte. Dropping an op invalidates the costs of
  /// its segment.
  DenseMap<Operation *, double> costs;
  DenseSet<Operation *> again; // recomputed ops
  GeluProducts products;
};
} // namespace

/// Adds the forward ops that rename the results of an op.
static void addNames(Operation *op, const SavedOps &saved,
                     SetVector<Operation *> &added) {
  for (Operation *user : op->getUsers())
    if (renames(user) && saved.isForward(user) && mayRecompute(user) &&
        added.insert(user))
      addNames(user, saved, added);
}

/// Adds the product of a gelu even if it belongs to another segment.
void Chooser::addProduct(Operation *op, SetVector<Operation *> &added) const {
  if (auto found = products.find(op); found != products.end())
    for (Operation *part : found->second)
      if (!again.contains(part))
        added.insert(part);
}

/// The ops to recompute for `joining` that are not recomputed yet.
SetVector<Operation *> Chooser::findAdded(const SavedOp &joining) {
  SetVector<Operation *> added;
  added.insert(joining.op);
  addNames(joining.op, saved, added);
  for (size_t i = 0; i < added.size(); ++i) {
    addProduct(added[i], added);
    for (Value operand : added[i]->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (!maker || !mayRecompute(maker) || again.contains(maker) ||
          getSegment(maker) != joining.segment)
        continue;
      const SavedOp *kept = saved.find(maker);
      if (!kept || kept->isDropped)
        added.insert(maker);
    }
  }
  return added;
}

static double estimateMicroseconds(ArrayRef<Operation *> ops) {
  double us = 0;
  for (Operation *op : ops)
    us += estimateMicroseconds(op);
  return us;
}

/// The entries that are no longer kept, `joining` first.
SmallVector<SavedOp *>
Chooser::findDropped(const SavedOp &joining,
                     const SetVector<Operation *> &added) {
  SmallVector<SavedOp *> dropped;
  for (Operation *op : added) {
    SavedOp *entry = saved.find(op);
    if (entry && !entry->isDropped && entry->segment == joining.segment)
      dropped.push_back(entry);
  }
  return dropped;
}

static int64_t sumBytes(ArrayRef<SavedOp *> entries) {
  int64_t bytes = 0;
  for (const SavedOp *entry : entries)
    bytes += entry->bytes;
  return bytes;
}

double Chooser::getCost(const SavedOp &joining) {
  auto [cost, isNew] = costs.insert({joining.op, 0});
  if (isNew) {
    const SetVector<Operation *> added = findAdded(joining);
    cost->second = estimateMicroseconds(added.getArrayRef()) /
                   static_cast<double>(sumBytes(findDropped(joining, added)));
  }
  return cost->second;
}

/// Minimizes the cost per byte. Ties go to the first op of the program, whose
/// results are idle for longest.
SavedOp *Chooser::findCheapest(function_ref<bool(const SavedOp &)> mayDrop) {
  SavedOp *best = nullptr;
  double least = 0;
  for (SavedOp &entry : saved.get()) {
    if (entry.isDropped || entry.segment.empty() || !mayDrop(entry))
      continue;
    const double cost = getCost(entry);
    if (best && cost >= least)
      continue;
    best = &entry;
    least = cost;
  }
  return best;
}

SavedOp *Chooser::next(SetVector<Operation *> &added, int64_t &bytes) {
  const int64_t peak = saved.findPeak();
  auto isIdleThere = [&](const SavedOp &entry) {
    return entry.lastForward < peak && peak < saved.getSegmentStart(entry);
  };
  SavedOp *best = findCheapest(isIdleThere);
  if (!best)
    best = findCheapest([](const SavedOp &) { return true; });
  if (!best)
    return nullptr;
  added = findAdded(*best);
  again.insert(added.begin(), added.end());
  for (SavedOp &entry : saved.get())
    if (entry.segment == best->segment)
      costs.erase(entry.op);
  const SmallVector<SavedOp *> dropped = findDropped(*best, added);
  bytes = sumBytes(dropped);
  for (SavedOp *entry : dropped)
    saved.drop(*entry);
  return best;
}

static std::vector<Operation *> getOps(ProgramOp program) {
  std::vector<Operation *> ops;
  for (Operation &op : program.getBody().front().without_terminator())
    ops.push_back(&op);
  return ops;
}

bool weft::isComputedAgain(Operation *op) {
  Attribute segment = op->getAttr(WeftDialect::kRecomputeAttr);
  return segment && llvm::all_of(op->getUsers(), [&](Operation *user) {
           Attribute other = user->getAttr(WeftDialect::kRecomputeAttr);
           return other ? other == segment
                        : getSegment(user) ==
                              cast<StringAttr>(segment).getValue();
         });
}

/// Whether marks decide about the op: neither a marked op nor an op whose
/// results a marked op reads is a choice.
static bool isOfMarks(Operation *op) {
  auto isMarked = [](Operation *other) {
    return other->hasAttr(WeftDialect::kRecomputeAttr);
  };
  return isMarked(op) || llvm::any_of(op->getUsers(), isMarked);
}

std::optional<RecomputeChoices>
weft::findRecomputeChoices(ModuleOp module, bool geluWithProduct) {
  RecomputeChoices choices;
  FailureOr<ProgramOp> micro = findOnlyProgram(module, ProgramKind::Micro);
  if (failed(micro) || !*micro)
    return std::nullopt;
  // weft-autodiff reports the errors later.
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = module.clone();
  ProgramOp copied = *findOnlyProgram(*copy, ProgramKind::Micro);
  const std::vector<Operation *> ops = getOps(*micro), copies = getOps(copied);
  DenseMap<Operation *, Operation *> originals;
  DenseSet<Operation *> again;
  GeluProducts products;
  for (auto [original, other] : llvm::zip_equal(ops, copies)) {
    originals[other] = original;
    if (other->removeAttr(WeftDialect::kRecomputeAttr))
      again.insert(other);
    if (geluWithProduct)
      products[other] = findGeluProduct(other);
  }
  Differentiator differentiator(*copy, copied, {true, true});
  if (failed(differentiator.run()))
    return std::nullopt;
  auto describe = [&](const SavedOp &entry, int64_t bytes,
                      ArrayRef<Operation *> again) {
    RecomputeChoice choice;
    choice.op = originals.lookup(entry.op);
    if (!entry.segment.empty())
      choice.segment = getSegment(choice.op);
    choice.bytes = bytes;
    choice.us = estimateMicroseconds(again);
    for (Operation *op : again)
      choice.again.push_back(originals.lookup(op));
    return choice;
  };
  SavedOps saved(copied, copies.size());
  for (SavedOp &entry : saved.get()) {
    Operation *original = originals.lookup(entry.op);
    if (isOfMarks(original))
      entry.segment = {};
    entry.isDropped = isComputedAgain(original);
    if (entry.segment.empty())
      (entry.isDropped ? choices.marked : choices.kept)
          .push_back(describe(entry, entry.bytes, {}));
  }
  Chooser chooser(saved, std::move(again), std::move(products));
  SetVector<Operation *> added;
  int64_t bytes = 0;
  while (SavedOp *entry = chooser.next(added, bytes))
    choices.inOrder.push_back(describe(*entry, bytes, added.getArrayRef()));
  return choices;
}
