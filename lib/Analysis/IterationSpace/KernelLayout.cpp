//===- KernelLayout.cpp - The loops of a generated kernel -----------------===//

#include "weft/Analysis/KernelLayout.h"

#include "weft/Base/CountText.h"
#include "weft/Weft/KernelFacts.h"

using namespace llvm;

using namespace mlir;
using namespace weft;

static int64_t elementBytes(Value value) {
  Type type = cast<RankedTensorType>(value.getType()).getElementType();
  return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
}

static bool isReduction(Operation *op) {
  return isa<ReduceOp>(op) && !isTrivialReduce(op);
}

/// Whether computing the op again costs more than keeping its result.
static bool isHeavyOp(Operation *op) {
  return isa<ExpOp, LogOp, Log1pOp, SqrtOp, RsqrtOp, ReciprocalOp, TanhOp,
             ErfOp, SinOp, CosOp, PowOp, DivOp, PhiloxOp>(op);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

bool KernelLayout::canWrite(const KernelSpace &space, ArrayRef<Value> outputs,
                            SmallVectorImpl<Value> &rejected) {
  const SpaceAccess *rows = nullptr; // of the partial outputs so far
  for (Value output : outputs) {
    if (space.isFull(output) && !space.hasReduction())
      continue;
    if (space.hasReduction()) {
      if (!space.isFull(output) && !space.isReducedLevel(output) &&
          !space.isSum(output))
        rejected.push_back(output);
      continue;
    }
    const SpaceAccess &access = space.getAccess(output);
    bool last = access.strides.back() != 0;
    if (last || (rows && !(*rows == access))) {
      rejected.push_back(output);
      continue;
    }
    rows = &access;
  }
  return rejected.empty();
}

bool KernelLayout::isOuterOutput(unsigned index) const {
  if (space.isSum(outputs[index]))
    return false;
  const SpaceAccess &access = space.getAccess(outputs[index]);
  bool inner = false;
  for (unsigned d = 0; d < shape.getRank(); ++d) {
    bool loop = shape.getKind() == KernelKind::Columns
                    ? shape.getRole(d) == DimRole::Inner
                    : shape.getRole(d) != DimRole::Outer;
    inner |= loop && access.dependsOn(d);
  }
  return !inner;
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// The kind of the kernel, and its space with as few dimensions as it needs.
bool KernelLayout::findShape() {
  unsigned rank = space.getSizes().size();
  SmallVector<bool> outer(rank, false);
  bool partial = any_of(outputs, [&](Value v) { return !space.isFull(v); });
  for (unsigned d = 0; d < rank; ++d) {
    if (space.hasReduction()) {
      outer[d] = !space.isReduced(d);
      continue;
    }
    for (Value output : outputs)
      if (!space.isFull(output))
        outer[d] |= space.getAccess(output).dependsOn(d);
  }
  int64_t lanes = space.reducesLast() ? space.findRowLanes(outputs) : 0;
  if (space.reducesLast() && lanes == 0)
    return false;
  space.collapse(outputs, outer, lanes);
  KernelKind kind = KernelKind::Elementwise;
  if (space.hasReduction() && !space.reducesLast())
    kind = KernelKind::Columns;
  else if (space.hasReduction() || partial)
    kind = KernelKind::Rows;
  SmallVector<int64_t> over, sums;
  for (unsigned d = 0, e = outer.size(); d < e; ++d) {
    if (kind != KernelKind::Elementwise && !outer[d])
      over.push_back(d);
    if (space.isSummed(d))
      sums.push_back(d);
  }
  shape = KernelShape(kind, space.getSizes(), over, sums);
  return true;
}

//===----------------------------------------------------------------------===//
// Depths
//===----------------------------------------------------------------------===//

void KernelLayout::findDepths(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    Value result = op.getResult(0);
    if (!space.isMember(result))
      continue;
    ValueDepth depth = ValueDepth::Outer;
    bool isHeavyCone = isHeavyOp(&op);
    for (OpOperand &operand : op.getOpOperands()) {
      ValueDepth own = depths.lookup(operand.get());
      if (const ExternalUse *use = space.getUse(operand))
        own = shape.getDepth(use->access);
      else if (own != ValueDepth::Outer)
        isHeavyCone |= isHeavy(operand.get());
      depth = std::max(depth, own);
    }
    if (isReduction(&op))
      depth = shape.getKind() == KernelKind::Columns || space.isSum(result)
                  ? ValueDepth::Lane
                  : ValueDepth::Outer;
    depths[result] = depth;
    if (isHeavyCone)
      heavy.insert(result);
  }
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Finds the phase in which each value is known and the roots of each phase.
void KernelLayout::findPhases(KernelOp kernel) {
  phases.resize(1);
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!space.isMember(op.getResult(0)))
      continue;
    unsigned phase = 0;
    for (Value operand : op.getOperands())
      phase = std::max(phase, ready.lookup(operand));
    if (space.isSum(op.getResult(0))) {
      sumOps.push_back(&op);
      if (isReduction(&op))
        phases[phase].sums.push_back(cast<ReduceOp>(op));
    } else if (isReduction(&op)) {
      if (phases.size() < phase + 2)
        phases.resize(phase + 2);
      phases[phase].reduces.push_back(cast<ReduceOp>(op));
      ++phase;
    }
    ready[op.getResult(0)] = phase;
  }
  for (unsigned i = 0; i < outputs.size(); ++i) {
    unsigned phase = ready.lookup(outputs[i]);
    if (shape.getKind() == KernelKind::Columns)
      phase = isOuterOutput(i) ? 1 : 0;
    else if (isOuterOutput(i) || space.isSum(outputs[i]))
      continue;
    phases[phase].stores.push_back(i);
  }
  placeOuterOps(kernel);
  for (unsigned phase = phases.size(); phase-- > 0;)
    fillPhase(phase, kernel);
}

/// Values that do not change inside the loops are computed once, as soon as
/// they are known.
void KernelLayout::placeOuterOps(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    Value result = op.getResult(0);
    if (!space.isMember(result) || isReduction(&op) ||
        getDepth(result) != ValueDepth::Outer)
      continue;
    phases[ready.lookup(result)].outerOps.push_back(&op);
  }
}

/// Collects the ops to evaluate in a phase. A value of an earlier phase is
/// either computed again or, if that is costly, kept from there.
void KernelLayout::fillPhase(unsigned index, KernelOp kernel) {
  KernelPhase &phase = phases[index];
  llvm::DenseSet<Value> needed;
  auto need = [&](Value value) {
    if (!space.isMember(value) || getDepth(value) == ValueDepth::Outer)
      return;
    bool reduced = isReduction(value.getDefiningOp());
    if (reduced || !needed.insert(value).second)
      return;
    unsigned known = ready.lookup(value);
    if (shape.getKind() != KernelKind::Rows || known >= index ||
        !isHeavy(value) || getDepth(value) != ValueDepth::Lane)
      return;
    int64_t bytes = elementBytes(value) * shape.getCount(DimRole::Inner) *
                    shape.getLaneSize();
    bool saved = is_contained(phases[known].saves, value);
    if (!saved && savedBytes + bytes > kMaxSavedBytes)
      return;
    phase.restored.insert(value);
    if (saved)
      return;
    savedBytes += bytes;
    phases[known].saves.push_back(value);
  };
  for (ReduceOp reduce : phase.reduces)
    need(reduce.getOperand());
  for (ReduceOp sum : phase.sums)
    need(sum.getOperand());
  for (unsigned output : phase.stores)
    need(outputs[output]);
  for (Value value : phase.saves)
    need(value);
  for (Operation &op : reverse(kernel.getBody().front().without_terminator())) {
    Value result = op.getResult(0);
    if (!needed.contains(result) || phase.restored.contains(result))
      continue;
    phase.ops.push_back(&op);
    for (Value operand : op.getOperands())
      need(operand);
  }
  std::reverse(phase.ops.begin(), phase.ops.end());
}

//===----------------------------------------------------------------------===//
// Pitches
//===----------------------------------------------------------------------===//

/// Spreads the rows of ports that have a pitch. Returns the first port that is
/// not read or written row by row.
std::optional<unsigned> KernelLayout::applyPitches(KernelOp kernel) {
  auto arguments = kernel.getBody().getArguments();
  SmallDenseMap<Value, int64_t> written;
  for (unsigned port = 0; port < arguments.size() + outputs.size(); ++port) {
    bool isRead = port < arguments.size();
    Value value = isRead ? arguments[port] : outputs[port - arguments.size()];
    int64_t pitch = kernel.getPitch(port);
    // A value that is two results is written in one way.
    bool isNew = isRead || written.try_emplace(value, pitch).second;
    bool fits = isNew || written.lookup(value) == pitch;
    if (int64_t columns = pitch ? weft::getShape(value).back() : 0;
        columns && isNew)
      fits = isRead ? space.spreadReads(value, columns, pitch)
                    : space.spreadWrites(value, columns, pitch);
    if (!fits)
      return port;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

FailureOr<KernelLayout> KernelLayout::findSpace(KernelOp kernel) {
  KernelLayout layout;
  layout.space = KernelSpace(/*allowsSums=*/true);
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    if (!layout.space.add(&op))
      return op.emitOpError("does not fit the loops of its kernel");
  for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
    if (!layout.space.isMember(operand.get()))
      return body.getTerminator()->emitOpError(
                 "expects values computed in the kernel, but got operand ")
             << operand.getOperandNumber();
    layout.outputs.push_back(operand.get());
  }
  SmallVector<Value> rejected;
  if (!canWrite(layout.space, layout.outputs, rejected))
    return rejected.front().getDefiningOp()->emitOpError(
        "does not have the extent of its kernel's outputs");
  return layout;
}

/// Whether loops of the kernel add up in the order of whole rows.
bool KernelLayout::findLoops(KernelOp kernel) {
  if (!findShape())
    return false;
  findDepths(kernel);
  findPhases(kernel);
  return true;
}

FailureOr<KernelLayout> KernelLayout::compute(KernelOp kernel) {
  FailureOr<KernelLayout> layout = findSpace(kernel);
  if (failed(layout))
    return failure();
  if (std::optional<unsigned> port = layout->applyPitches(kernel)) {
    const unsigned inputs = kernel.getNumArguments();
    Type type = *port < inputs ? kernel.getArgumentTypes()[*port]
                               : kernel.getResultTypes()[*port - inputs];
    return kernel.emitOpError("expects ports with a pitch to be read and "
                              "written row by row, but got ")
           << type << " as port " << *port;
  }
  if (!layout->findLoops(kernel))
    return kernel.emitOpError("expects loops that add up complete rows in "
                              "order, but got steps of ")
           << countText(layout->space.getSizes().back(), "element");
  return layout;
}

SmallVector<int64_t> KernelLayout::getInPlaceInputs(KernelOp kernel,
                                                    unsigned index) const {
  Value output = outputs[index];
  // Blocks add up rows in turn, and write their sums last.
  if (space.isSum(output))
    return {};
  const SpaceAccess &target = space.getAccess(output);
  unsigned written = phases.size();
  for (unsigned p = 0; p < phases.size(); ++p)
    if (is_contained(phases[p].stores, index))
      written = p;
  SmallVector<int64_t> inputs;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    bool fits =
        !argument.use_empty() && getElementTypeOrSelf(argument.getType()) ==
                                     getElementTypeOrSelf(output.getType());
    for (auto &[operand, use] : space.getUses()) {
      if (use.base != argument)
        continue;
      fits &= use.access == target;
      for (unsigned p = written + 1; p < phases.size(); ++p)
        fits &= !is_contained(phases[p].ops, operand->getOwner()) &&
                !is_contained(phases[p].reduces, operand->getOwner()) &&
                !is_contained(phases[p].sums, operand->getOwner());
    }
    if (fits)
      inputs.push_back(argument.getArgNumber());
  }
  return inputs;
}

/// An edited kernel may list less in `inplace` than there is.
LogicalResult KernelLayout::checkFacts(KernelOp kernel) const {
  KernelShape recorded = KernelShape::get(kernel);
  if (!(recorded == shape))
    return kernel.emitOpError("expects ")
           << shape.spell() << ", which its body runs over, but got "
           << recorded.spell();
  for (unsigned i = 0; i < outputs.size(); ++i) {
    SmallVector<int64_t> inputs = getInPlaceInputs(kernel, i);
    for (int64_t input : kernel.getInPlaceInputs(i))
      if (!is_contained(inputs, input))
        return kernel.emitOpError(describeReadAfterWrite(i, input));
  }
  return success();
}

FailureOr<KernelLayout> KernelLayout::get(KernelOp kernel) {
  FailureOr<KernelLayout> layout = compute(kernel);
  if (failed(layout) || failed(layout->checkFacts(kernel)))
    return failure();
  return layout;
}

void KernelLayout::record(KernelOp kernel) const {
  shape.set(kernel);
  Builder builder(kernel.getContext());
  SmallVector<Attribute> inPlace;
  for (unsigned i = 0; i < outputs.size(); ++i)
    inPlace.push_back(
        builder.getDenseI64ArrayAttr(getInPlaceInputs(kernel, i)));
  kernel.setInplaceAttr(builder.getArrayAttr(inPlace));
}

LogicalResult KernelLayout::recordFacts(KernelOp kernel) {
  FailureOr<KernelLayout> layout = compute(kernel);
  if (failed(layout))
    return failure();
  layout->record(kernel);
  return success();
}

FailureOr<bool> KernelLayout::recordPitchedFacts(KernelOp kernel) {
  FailureOr<KernelLayout> layout = findSpace(kernel);
  if (failed(layout))
    return failure();
  if (layout->applyPitches(kernel) || !layout->findLoops(kernel))
    return false;
  layout->record(kernel);
  return true;
}
