//===- SlicedStates.cpp - Sharded states and their full values ------------===//

#include "SlicedStates.h"

#include "weft/Abi/MicroSteps.h"

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// Slices
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

/// Whether the state is partitioned. A single shard is the full state, except
/// for gradients, whose layout also says when they are reduced.
static bool isSliced(Operation &op, int64_t slices) {
  auto state = dyn_cast<StateOp>(op);
  return slices > 1 || (state && state.getKind() == StateKind::Gradient);
}

static LogicalResult verifyAxis(Operation &op, dist::MeshOp mesh) {
  StringAttr axis = dist::getLayout(&op).getAxis();
  if (axis == mesh.getAxes()[mesh.getAxes().size() - 1])
    return success();
  return op.emitOpError("expects slices along the last axis of the mesh, but "
                        "got ")
         << axis;
}

FailureOr<SlicedStates> declareSlices(ModuleOp module, dist::MeshOp mesh) {
  SlicedStates states;
  const int64_t slices = mesh.getSizes().back();
  for (Operation &op : *module.getBody()) {
    dist::LayoutAttr layout = dist::getLayout(&op);
    if (!layout || !layout.isSharded())
      continue;
    if (failed(verifyAxis(op, mesh)))
      return failure();
    if (!isSliced(op, slices))
      continue;
    auto param = dyn_cast<ParamOp>(op);
    if (failed(param ? declareSlice(param, slices)
                     : declareSlice(cast<StateOp>(op), slices)))
      return failure();
    states.sliced.insert(SymbolTable::getSymbolName(&op));
  }
  for (auto state : module.getOps<StateOp>())
    if (state.getKind() == StateKind::Working && state.getParamAttr() &&
        states.sliced.contains(state.getParamAttr().getAttr()) &&
        !states.sliced.contains(state.getSymNameAttr()))
      states.copies[state.getSymNameAttr()] = {state.getParamAttr().getAttr(),
                                               state.getTensorType()};
  return states;
}

StateOp declareBeside(Operation *of, StringRef slot, StateKind kind,
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

void declareKept(ModuleOp module, ProgramOp micro, SlicedStates &states,
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

void eraseCopies(ModuleOp module, const SlicedStates &states) {
  for (auto state : llvm::make_early_inc_range(module.getOps<StateOp>()))
    if (states.copies.contains(state.getSymNameAttr()))
      state.erase();
  for (auto program : llvm::make_early_inc_range(module.getOps<ProgramOp>()))
    if (doesNothing(program))
      program.erase();
}

//===----------------------------------------------------------------------===//
// Writes of a program
//===----------------------------------------------------------------------===//

Writes getWrites(ProgramOp program) {
  Writes writes;
  ReturnOp end = program.getTerminator();
  for (auto [target, value] : llvm::zip(end.getTargets(), end.getValues()))
    writes.push_back({cast<FlatSymbolRefAttr>(target), value});
  return writes;
}

void setWrites(ProgramOp program, ArrayRef<Write> writes) {
  ReturnOp end = program.getTerminator();
  SmallVector<Attribute> targets;
  SmallVector<Value> values;
  for (const Write &write : writes) {
    targets.push_back(write.state);
    values.push_back(write.value);
  }
  OpBuilder builder(end);
  ReturnOp::create(builder, end.getLoc(), end.getOutputs(), values,
                   builder.getArrayAttr(targets));
  end.erase();
}

//===----------------------------------------------------------------------===//
// Forms of the program micro
//===----------------------------------------------------------------------===//

/// Clones the program under another name, next to it.
static ProgramOp cloneAs(ProgramOp program, StringRef name,
                         SymbolTable &symbols) {
  auto made = cast<ProgramOp>(program->clone());
  made.setSymName(name);
  symbols.insert(made, std::next(program->getIterator()));
  return made;
}

//===----------------------------------------------------------------------===//
// Reduce or keep
//===----------------------------------------------------------------------===//

using Accumulators = llvm::DenseMap<StringAttr, StringAttr>;

/// Makes the program write its gradients to accumulators, too.
static Accumulators writeAccumulators(ProgramOp micro,
                                      const SlicedStates &states,
                                      SymbolTable &symbols) {
  Accumulators accumulators;
  Writes writes = getWrites(micro), sums;
  for (auto [name, value] : writes) {
    auto gradient = symbols.lookup<StateOp>(name.getAttr());
    if (!gradient || gradient.getKind() != StateKind::Gradient ||
        !states.sliced.contains(name.getAttr()))
      continue;
    StateOp sum =
        declareBeside(gradient, names::kSum, StateKind::Accumulator,
                      cast<RankedTensorType>(value.getType()), symbols);
    accumulators[name.getAttr()] = sum.getSymNameAttr();
    sums.push_back({FlatSymbolRefAttr::get(sum.getSymNameAttr()), value});
  }
  llvm::append_range(writes, sums);
  setWrites(micro, writes);
  return accumulators;
}

static void readAccumulators(ProgramOp micro,
                             const Accumulators &accumulators) {
  for (auto read : micro.getBody().front().getOps<ReadOp>())
    if (StringAttr sum = accumulators.lookup(read.getSourceAttr().getAttr()))
      read.setSourceAttr(FlatSymbolRefAttr::get(sum));
}

static void dropGradients(ProgramOp micro, const Accumulators &accumulators) {
  Writes writes = getWrites(micro);
  llvm::erase_if(writes, [&](const Write &write) {
    return accumulators.contains(write.state.getAttr());
  });
  setWrites(micro, writes);
}

void declareAccumulators(ProgramOp micro, const SlicedStates &states) {
  SymbolTable symbols(micro->getParentOfType<ModuleOp>());
  Accumulators accumulators = writeAccumulators(micro, states, symbols);
  if (accumulators.empty())
    return;
  readAccumulators(micro, accumulators);
  dropGradients(cloneAs(micro, names::kMicroKeep, symbols), accumulators);
}

//===----------------------------------------------------------------------===//
// First or later
//===----------------------------------------------------------------------===//

void makeLaterForms(ModuleOp module) {
  SymbolTable symbols(module);
  ProgramOp micro = findProgram(module, ProgramKind::Micro), last = micro;
  if (auto keep = symbols.lookup<ProgramOp>(names::kMicroKeep))
    last = cloneAs(keep, names::kMicroLaterKeep, symbols);
  ProgramOp later = cloneAs(micro, names::kMicroLater, symbols);
  later->moveAfter(last);
}

//===----------------------------------------------------------------------===//
// Draws of slices
//===----------------------------------------------------------------------===//

static int64_t getSize(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// One seed is for all draws.
static bool addDraw(FlatDraws &draws, Value seed, StringRef key, InitAttr init,
                    int64_t begin, int64_t end) {
  if (seed && draws.seed && draws.seed != seed)
    return false;
  if (seed)
    draws.seed = seed;
  MLIRContext *context = init.getContext();
  draws.draws.push_back(
      DrawAttr::get(context, StringAttr::get(context, key), init, begin, end));
  return true;
}

/// Gaps between parameters are zeros: nothing says so.
static bool addConstant(FlatDraws &draws, ConstantOp op, int64_t begin) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return false;
  APFloat number = splat.getSplatValue<APFloat>();
  if (number.isZero())
    return !number.isNegative(); // its sign would be lost
  double value = number.convertToDouble();
  return addDraw(draws, /*seed=*/Value(), /*key=*/"",
                 InitAttr::get(op.getContext(), InitKind::Constant, value),
                 begin, begin + getSize(op));
}

/// Of an op that is no view.
static bool addOp(FlatDraws &draws, Operation *op, int64_t begin) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return addConstant(draws, constant, begin);
  const int64_t end = begin + getSize(op->getResult(0));
  auto makeInit = [&](InitKind kind, APFloat first, APFloat second) {
    return InitAttr::get(op->getContext(), kind, first, second);
  };
  if (auto normal = dyn_cast<RandomNormalOp>(op))
    return addDraw(
        draws, normal.getSeed(), normal.getKey(),
        makeInit(InitKind::Normal, normal.getMean(), normal.getStd()), begin,
        end);
  if (auto uniform = dyn_cast<RandomUniformOp>(op))
    return addDraw(
        draws, uniform.getSeed(), uniform.getKey(),
        makeInit(InitKind::Uniform, uniform.getLow(), uniform.getHigh()), begin,
        end);
  return false;
}

std::optional<FlatDraws> findDraws(Value full) {
  FlatDraws draws;
  SmallVector<std::pair<Value, int64_t>> open = {{full, 0}};
  while (!open.empty()) {
    auto [value, begin] = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
      open.push_back({reshape.getOperand(), begin});
    } else if (auto concat = dyn_cast_or_null<ConcatOp>(op);
               concat && concat.getType().getRank() == 1) {
      int64_t end = begin + getSize(value);
      for (Value part : llvm::reverse(concat.getInputs()))
        open.push_back({part, end -= getSize(part)});
    } else if (!op || !addOp(draws, op, begin)) {
      return std::nullopt;
    }
  }
  if (!draws.seed)
    return std::nullopt;
  return draws;
}

} // namespace weft
