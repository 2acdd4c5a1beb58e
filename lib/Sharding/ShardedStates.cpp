//===- ShardedStates.cpp - Sharded states and their full values -----------===//

#include "ShardedStates.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult declareShard(OpT state, int64_t ranks) {
  RankedTensorType type = state.getTensorType();
  if (!state.isSegmented() || type.getNumElements() % ranks != 0)
    return state.emitOpError("expects a flat state of ")
           << ranks << " equal shards (weft-bucket), but got " << type;
  state.setTypeAttr(TypeAttr::get(RankedTensorType::get(
      {type.getNumElements() / ranks}, type.getElementType())));
  state.setSlices(ranks);
  return success();
}

/// Whether the state is partitioned. A single shard is the full state, except
/// for gradients, whose layout also says when they are reduced.
static bool isSharded(Operation &op, int64_t shards) {
  auto state = dyn_cast<StateOp>(op);
  return shards > 1 || (state && state.getKind() == StateKind::Gradient);
}

static LogicalResult verifyAxis(Operation &op, dist::MeshOp mesh) {
  StringAttr axis = dist::getLayout(&op).getAxis();
  if (axis == mesh.getAxes()[mesh.getAxes().size() - 1])
    return success();
  return op.emitOpError("expects shards along the last axis of the mesh, but "
                        "got ")
         << axis;
}

FailureOr<ShardedStates> weft::declareShards(ModuleOp module,
                                             dist::MeshOp mesh) {
  ShardedStates states;
  const int64_t shards = mesh.getSizes().back();
  for (Operation &op : *module.getBody()) {
    dist::LayoutAttr layout = dist::getLayout(&op);
    if (!layout || !layout.isSharded())
      continue;
    if (failed(verifyAxis(op, mesh)))
      return failure();
    if (!isSharded(op, shards))
      continue;
    auto param = dyn_cast<ParamOp>(op);
    if (failed(param ? declareShard(param, shards)
                     : declareShard(cast<StateOp>(op), shards)))
      return failure();
    states.sharded.insert(SymbolTable::getSymbolName(&op));
  }
  for (auto state : module.getOps<StateOp>())
    if (state.getKind() == StateKind::Working && state.getParamAttr() &&
        states.sharded.contains(state.getParamAttr().getAttr()) &&
        !states.sharded.contains(state.getSymNameAttr()))
      states.copies[state.getSymNameAttr()] = {state.getParamAttr().getAttr(),
                                               state.getTensorType()};
  return states;
}

StateOp weft::declareBeside(Operation *of, StringRef slot, StateKind kind,
                            RankedTensorType type, SymbolTable &symbols) {
  OpBuilder builder(of);
  builder.setInsertionPointAfter(of);
  StringAttr name = SymbolTable::getSymbolName(of);
  auto state = dyn_cast<StateOp>(of);
  std::string free = slot.str();
  for (unsigned number = 1;
       symbols.lookup((name.getValue() + "." + free).str()); ++number)
    free = (slot + "." + Twine(number)).str();
  auto made = StateOp::create(
      builder, of->getLoc(),
      builder.getStringAttr(name.getValue() + "." + free), TypeAttr::get(type),
      StateKindAttr::get(of->getContext(), kind),
      state ? state.getParamAttr() : FlatSymbolRefAttr::get(name),
      builder.getStringAttr(state ? *state.getSlot() + "." + free : free),
      state ? state.getSegmentsAttr() : cast<ParamOp>(of).getSegmentsAttr(),
      builder.getI64IntegerAttr(1));
  made->setAttr(dist::DistDialect::kLayoutAttr,
                dist::LayoutAttr::get(of->getContext(),
                                      dist::Placement::Replicated,
                                      StringAttr()));
  symbols.insert(made);
  return made;
}

//===----------------------------------------------------------------------===//
// Values that micro-steps keep
//===----------------------------------------------------------------------===//

/// Declares @fc.flat.gathered for the parameter @fc.flat, or
/// @fc.flat.f16.gathered for its copy.
static StateOp declareGathered(Operation *of, RankedTensorType type,
                               SymbolTable &symbols) {
  return declareBeside(of, "gathered", StateKind::Working, type, symbols);
}

void weft::declareKept(ModuleOp module, ProgramOp micro, ShardedStates &states,
                       bool hasLater) {
  SymbolTable symbols(module);
  for (auto read : micro.getBody().front().getOps<ReadOp>()) {
    StringAttr name = read.getSourceAttr().getAttr();
    Operation *of = symbols.lookup(name);
    auto state = dyn_cast<StateOp>(of);
    bool isParameter = !state || state.getKind() == StateKind::Working;
    if (!states.isGathered(name) || !isParameter || read->use_empty() ||
        states.kept.contains(name) ||
        !(hasLater || states.copies.contains(name)))
      continue;
    states.kept[name] =
        declareGathered(of, read.getType(), symbols).getSymNameAttr();
  }
}

//===----------------------------------------------------------------------===//
// Copies that programs compute
//===----------------------------------------------------------------------===//

static bool doesNothing(ProgramOp program) {
  return program.getKind() == ProgramKind::Refresh &&
         program.getTerminator().getTargets().empty();
}

void weft::eraseCopies(ModuleOp module, const ShardedStates &states) {
  for (auto state : llvm::make_early_inc_range(module.getOps<StateOp>()))
    if (states.copies.contains(state.getSymNameAttr()))
      state.erase();
  for (auto program : llvm::make_early_inc_range(module.getOps<ProgramOp>()))
    if (doesNothing(program))
      program.erase();
}
