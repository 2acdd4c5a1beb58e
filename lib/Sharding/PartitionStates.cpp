//===- PartitionStates.cpp - Programs over slices of states ---------------===//

#include "PartitionStates.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <functional>

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult declareSlice(OpT state, int64_t ranks) {
  RankedTensorType type = state.getTensorType();
  if (!state.isSegmented() || type.getNumElements() % ranks != 0)
    return state.emitOpError("expects a flat state of ")
           << ranks << " equal slices (weft-bucket), but got " << type;
  state.setTypeAttr(TypeAttr::get(RankedTensorType::get(
      {type.getNumElements() / ranks}, type.getElementType())));
  state.setSlices(ranks);
  return success();
}

FailureOr<llvm::DenseSet<StringAttr>> declareSlices(ModuleOp module,
                                                    dist::MeshOp mesh) {
  llvm::DenseSet<StringAttr> sharded;
  for (Operation &op : *module.getBody()) {
    dist::LayoutAttr layout = dist::getLayout(&op);
    if (!layout || !layout.isSharded())
      continue;
    if (layout.getAxis() != mesh.getAxes()[mesh.getAxes().size() - 1])
      return op.emitOpError("expects slices along the last axis of the mesh, "
                            "but got ")
             << layout.getAxis();
    const int64_t ranks = mesh.getSizes().back();
    auto param = dyn_cast<ParamOp>(op);
    if (failed(param ? declareSlice(param, ranks)
                     : declareSlice(cast<StateOp>(op), ranks)))
      return failure();
    sharded.insert(SymbolTable::getSymbolName(&op));
  }
  return sharded;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {

class StatePartition {
public:
  StatePartition(ProgramOp program, const MeshCollectives &mesh,
                 const llvm::DenseSet<StringAttr> &sharded, Slices known,
                 bool reshard)
      : program(program), mesh(mesh), sharded(sharded),
        builder(program.getContext()), slices(std::move(known)),
        reshard(reshard) {
    for (auto [whole, slice] : slices)
      kept.insert_range(ArrayRef{whole.getDefiningOp(), slice.getDefiningOp()});
  }

  void run();

private:
  void readSlices();
  Value getSlice(Value full);
  Value sliceConstant(ConstantOp op);
  bool isMadeOfSlices(Value full) const;
  void dropOldGradients();
  Value reduce(StringAttr gradient, Value full);
  void sliceElementwise(Operation *op);
  void writeSlices();

  Operation *findLoss();
  void gatherReads();
  void gather(ReadOp read, Value slice, ArrayRef<OpOperand *> uses);
  void eraseDead();

  ProgramOp program;
  const MeshCollectives &mesh;
  const llvm::DenseSet<StringAttr> &sharded;
  OpBuilder builder;
  /// By the whole value.
  Slices slices;
  bool reshard;
  /// Makers of what the caller knows, and asks about again.
  llvm::DenseSet<Operation *> kept;
  /// What says whether the gradients so far count, by the state.
  llvm::DenseMap<StringAttr, Value> flags;
  /// Of whole states, and of their slices in the same places.
  SmallVector<ReadOp> reads, ownReads;
};

} // namespace

void StatePartition::readSlices() {
  for (auto read : program.getBody().front().getOps<ReadOp>())
    if (sharded.contains(read.getSourceAttr().getAttr()) &&
        !kept.contains(read))
      reads.push_back(read);
  for (ReadOp read : reads) {
    builder.setInsertionPoint(read);
    ownReads.push_back(ReadOp::create(builder, read.getLoc(),
                                      mesh.getSliceType(read.getType()),
                                      read.getSourceAttr()));
    slices[read] = ownReads.back();
  }
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static bool isGradient(ProgramOp program, StringAttr name) {
  auto state = SymbolTable::lookupNearestSymbolFrom<StateOp>(
      program, FlatSymbolRefAttr::get(name));
  return state && state.getKind() == StateKind::Gradient;
}

/// Parts of gradients in slices begin anew in each micro-step: what was there
/// before is added to the slice of their mean.
void StatePartition::dropOldGradients() {
  if (program.getKind() != ProgramKind::Micro)
    return;
  for (auto op : llvm::make_early_inc_range(
           program.getBody().front().getOps<AccumulateOp>())) {
    auto read = skipViews(op.getOld()).getDefiningOp<ReadOp>();
    if (!read || !llvm::is_contained(reads, read) ||
        !isGradient(program, read.getSourceAttr().getAttr()))
      continue;
    flags[read.getSourceAttr().getAttr()] = op.getAccumulate();
    op.getResult().replaceAllUsesWith(op.getValue());
    op.erase();
  }
}

/// The slice of the mean over all ranks, added to what the slice was. It stands
/// behind the last part, so that the whole need not be kept.
Value StatePartition::reduce(StringAttr gradient, Value full) {
  Operation *op = full.getDefiningOp();
  if (auto concat = dyn_cast_or_null<ConcatOp>(op)) {
    Operation *last = nullptr;
    for (Value part : concat.getInputs())
      if (Operation *made = part.getDefiningOp();
          made && !isa<ConstantOp>(made) &&
          (!last || last->isBeforeInBlock(made)))
        last = made;
    if (last) {
      for (Value part : concat.getInputs())
        if (auto gap = part.getDefiningOp<ConstantOp>())
          gap->moveAfter(last);
      Operation *behind = last;
      while (isa<ConstantOp>(behind->getNextNode()))
        behind = behind->getNextNode();
      concat->moveAfter(behind);
    }
  }
  builder.setInsertionPointAfterValue(full);
  Value slice = mesh.reduceMean(builder, full.getLoc(), full);
  Value flag = flags.lookup(gradient);
  if (!flag)
    return slice;
  Value old;
  for (ReadOp read : ownReads)
    if (read.getSourceAttr().getAttr() == gradient)
      old = read;
  return AccumulateOp::create(builder, full.getLoc(), old, slice, flag);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// The same value everywhere, or null.
Value StatePartition::sliceConstant(ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return {};
  builder.setInsertionPoint(op);
  return ConstantOp::create(
      builder, op.getLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(
          mesh.getSliceType(op.getType()), splat.getSplatValue<Attribute>())));
}

/// The same op for slices of all that has the shape of its results.
void StatePartition::sliceElementwise(Operation *op) {
  Type shape = op->getResult(0).getType();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isWhole = cast<RankedTensorType>(operand.getType()).getShape() ==
                   cast<RankedTensorType>(shape).getShape();
    operands.push_back(isWhole ? getSlice(operand) : operand);
  }
  builder.setInsertionPoint(op);
  Operation *own = builder.clone(*op);
  own->setOperands(operands);
  for (auto [result, slice] : llvm::zip(op->getResults(), own->getResults())) {
    slice.setType(mesh.getSliceType(result.getType()));
    slices[result] = slice;
  }
}

Value StatePartition::getSlice(Value full) {
  if (Value known = slices.lookup(full))
    return known;
  Operation *op = full.getDefiningOp();
  if (isa_and_nonnull<CastOp, OptimizerOpInterface>(op)) {
    sliceElementwise(op);
    return slices[full];
  }
  Value slice;
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    slice = sliceConstant(constant);
  if (!slice) {
    builder.setInsertionPointAfterValue(full);
    slice = mesh.takeOwn(builder, full.getLoc(), full);
    if (op)
      copyScope(op, slice.getDefiningOp());
  }
  return slices[full] = slice;
}

/// Whether elementwise ops make it of a state in slices.
bool StatePartition::isMadeOfSlices(Value full) const {
  Operation *op = full.getDefiningOp();
  return isa_and_nonnull<CastOp, OptimizerOpInterface>(op) &&
         (slices.contains(full) || slices.contains(op->getOperand(0)) ||
          isMadeOfSlices(op->getOperand(0)));
}

void StatePartition::writeSlices() {
  ReturnOp end = program.getTerminator();
  SmallVector<Value> values(end.getValues());
  for (auto [target, value] : llvm::zip(end.getTargets(), values)) {
    StringAttr state = cast<FlatSymbolRefAttr>(target).getAttr();
    if (sharded.contains(state) && isGradient(program, state)) {
      value = reduce(state, value);
    } else if (sharded.contains(state)) {
      value = getSlice(value);
    } else if (isMadeOfSlices(value)) {
      Value slice = getSlice(value);
      builder.setInsertionPointAfterValue(slice);
      auto full = mesh.gather(builder, value.getLoc(), slice);
      copyScope(slice.getDefiningOp(), full);
      value = full;
    }
  }
  end.getValuesMutable().assign(values);
}

//===----------------------------------------------------------------------===//
// Reads of wholes
//===----------------------------------------------------------------------===//

/// The op that makes the loss of a program with a backward pass, or null.
Operation *StatePartition::findLoss() {
  if (program.getKind() != ProgramKind::Micro)
    return nullptr;
  ReturnOp end = program.getTerminator();
  return end.getOutputs().empty() ? nullptr
                                  : end.getOutputs().front().getDefiningOp();
}

/// The uses of a value by ops that are no views, through views.
static void findUses(Value value, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses())
    if (isViewOp(use.getOwner()))
      findUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
}

/// Gives the uses, which are in one pass, the whole of a state.
void StatePartition::gather(ReadOp read, Value slice,
                            ArrayRef<OpOperand *> uses) {
  if (uses.empty())
    return;
  Operation *first = uses.front()->getOwner();
  for (OpOperand *use : uses)
    if (use->getOwner()->isBeforeInBlock(first))
      first = use->getOwner();
  builder.setInsertionPoint(first);
  auto full = mesh.gather(builder, read.getLoc(), slice);
  copyScope(first, full);
  IRMapping views;
  views.map(read.getResult(), full.getFull());
  std::function<Value(Value)> viewOf = [&](Value value) -> Value {
    if (Value known = views.lookupOrNull(value))
      return known;
    viewOf(value.getDefiningOp()->getOperand(0));
    return builder.clone(*value.getDefiningOp(), views)->getResult(0);
  };
  for (OpOperand *use : uses)
    use->set(viewOf(use->get()));
}

void StatePartition::gatherReads() {
  Operation *loss = reshard ? findLoss() : nullptr;
  for (auto [read, slice] : llvm::zip(reads, ownReads)) {
    SmallVector<OpOperand *> uses, forward, backward;
    findUses(read, uses);
    for (OpOperand *use : uses) {
      bool isForward = !loss || !loss->isBeforeInBlock(use->getOwner());
      (isForward ? forward : backward).push_back(use);
    }
    gather(read, slice, forward);
    gather(read, slice, backward);
  }
}

/// What was for wholes alone, but for reads that may still be gathered.
void StatePartition::eraseDead() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isOpTriviallyDead(&op) && !kept.contains(&op) &&
        !llvm::is_contained(reads, &op) && !llvm::is_contained(ownReads, &op))
      op.erase();
}

void StatePartition::run() {
  readSlices();
  dropOldGradients();
  writeSlices();
  eraseDead();
  gatherReads();
  reads.clear();
  ownReads.clear();
  eraseDead();
}

void partitionStates(ProgramOp program, const MeshCollectives &mesh,
                     const llvm::DenseSet<StringAttr> &sharded, Slices known,
                     bool reshard) {
  StatePartition(program, mesh, sharded, std::move(known), reshard).run();
}

} // namespace weft
