//===- Denominators.cpp - Means over the targets of a whole step ----------===//

#include "Denominators.h"

#include "weft/Abi/Names.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace weft;

Value weft::makeScalar(OpBuilder &builder, Location loc, Type type,
                       double number) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute value = builder.getFloatAttr(tensor.getElementType(), number);
  return ConstantOp::create(
      builder, loc, cast<ElementsAttr>(DenseElementsAttr::get(tensor, value)));
}

//===----------------------------------------------------------------------===//
// Which means
//===----------------------------------------------------------------------===//

bool weft::areTokens(ProgramOp program, Value targets) {
  auto module = program->getParentOfType<ModuleOp>();
  auto argument = dyn_cast<BlockArgument>(skipViews(targets));
  return argument && module->hasAttr("weft.vocab") &&
         module->hasAttr("weft.seq") &&
         program.getInputName(argument.getArgNumber()) == names::kTargets;
}

/// Whether two batches may have other denominators.
static bool isCounted(ProgramOp program, CountedMeanOpInterface mean) {
  return mean.isCountedMean() &&
         !(mean.countsAllClasses() &&
           areTokens(program, mean.getCountedTargets()));
}

/// The ops that a value is computed from, itself included.
static SetVector<Operation *> findSources(Value value) {
  SetVector<Operation *> sources;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(value, &sources, options);
  return sources;
}

/// Names the source of a value that changes within a step, or "".
static StringRef findChange(ProgramOp model, Operation *op) {
  if (auto random = dyn_cast<RandomOpInterface>(op))
    return random.getRandomKey() ? "random numbers" : "";
  auto read = dyn_cast<ReadOp>(op);
  if (!read)
    return "";
  Operation *source =
      SymbolTable::lookupNearestSymbolFrom(model, read.getSourceAttr());
  if (auto param = dyn_cast_or_null<ParamOp>(source))
    return param.getTrainable() ? "a trainable parameter" : "";
  return "a state";
}

/// The operands that decide the denominator: all but the first, the scores.
LogicalResult
Denominators::verifyKnownBefore(CountedMeanOpInterface mean) const {
  for (Value operand : mean->getOperands().drop_front())
    for (Operation *op : findSources(operand)) {
      StringRef change = findChange(model, op);
      if (change.empty())
        continue;
      InFlightDiagnostic error =
          mean->emitOpError(
              "expects targets and weights that are known before the step, but "
              "got some that depend on ")
          << change
          << "; use reduction = sum and divide by a number that is known";
      error.attachNote(op->getLoc()) << "it is read here";
      return error;
    }
  return success();
}

/// Fills `means`, `ordinals` and `outputs`.
LogicalResult Denominators::collect() {
  FailureOr<ModelOutputs> found = findModelOutputs(model, /*allowF64=*/true);
  if (failed(found))
    return failure();
  SmallVector<SetVector<Operation *>> sources;
  auto addSources = [&](unsigned result) {
    sources.push_back(findSources(model.getTerminator().getOutputs()[result]));
  };
  for (const LossTerm &term : found->losses)
    addSources(term.result);
  llvm::for_each(found->metrics, addSources);
  numTerms = found->losses.size();
  outputs.resize(sources.size());
  unsigned number = 0;
  for (auto mean : model.getBody().front().getOps<CountedMeanOpInterface>()) {
    const unsigned ordinal = number++;
    auto isSource = [&](const auto &ops) { return ops.contains(mean); };
    if (!isCounted(model, mean) || llvm::none_of(sources, isSource))
      continue;
    if (failed(verifyKnownBefore(mean)))
      return failure();
    for (auto [output, ops] : llvm::zip_equal(outputs, sources))
      if (isSource(ops))
        output.push_back(means.size());
    means.push_back(mean);
    ordinals.push_back(ordinal);
  }
  return success();
}

/// The means in a clone of the model.
SmallVector<CountedMeanOpInterface>
Denominators::findIn(ProgramOp program) const {
  auto all = llvm::to_vector(
      program.getBody().front().getOps<CountedMeanOpInterface>());
  return llvm::map_to_vector(ordinals,
                             [&](unsigned ordinal) { return all[ordinal]; });
}

/// Whether the rows of a step may leave no term of the loss defined.
bool Denominators::mayHaveNoTargets() const {
  return llvm::none_of(ArrayRef(outputs).take_front(numTerms),
                       [](const auto &term) { return term.empty(); });
}

static std::string getStateName(unsigned mean) {
  return names::kDenominator + std::to_string(mean);
}

LogicalResult Denominators::verifyNames() const {
  SmallVector<std::string> taken = {names::kDenominators,
                                    names::kNoTargetsState};
  for (unsigned i = 0; i != means.size(); ++i)
    taken.push_back(getStateName(i));
  auto module = model->getParentOfType<ModuleOp>();
  for (StringRef name : taken)
    if (Operation *other = SymbolTable::lookupSymbolIn(module, name))
      return other->emitOpError("expects another name, but got @")
             << name << ", which weft-derive-programs defines";
  return success();
}

FailureOr<Denominators> Denominators::find(ProgramOp model) {
  Denominators result;
  result.model = model;
  if (failed(result.collect()) ||
      (!result.empty() && failed(result.verifyNames())))
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Values of the states
//===----------------------------------------------------------------------===//

static RankedTensorType getTotalType(MLIRContext *context) {
  return RankedTensorType::get({}, Float64Type::get(context));
}

static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  return value.getType() == type ? value
                                 : CastOp::create(builder, loc, type, value);
}

Value Denominators::readState(OpBuilder &builder, Location loc,
                              unsigned mean) const {
  return ReadOp::create(builder, loc, getTotalType(builder.getContext()),
                        getStateName(mean));
}

/// An output is defined where each of its denominators counts something.
Value Denominators::isEmpty(OpBuilder &builder, unsigned output,
                            function_ref<Value(unsigned)> total) const {
  Value any;
  for (unsigned mean : outputs[output]) {
    Location loc = CountedMeanOpInterface(means[mean])->getLoc();
    Value zero =
        makeScalar(builder, loc, getTotalType(builder.getContext()), 0);
    Value none =
        CompareOp::create(builder, loc, Predicate::EQ, total(mean), zero);
    any = any ? OrOp::create(builder, loc, any, none) : none;
  }
  return any;
}

Value Denominators::isEmptyOutput(OpBuilder &builder, unsigned index) const {
  if (empty())
    return {};
  return isEmpty(builder, index, [&](unsigned mean) {
    Location loc = CountedMeanOpInterface(means[mean])->getLoc();
    return readState(builder, loc, mean);
  });
}

void Denominators::divide(ProgramOp program, bool isSum) const {
  for (auto [index, mean] : llvm::enumerate(findIn(program))) {
    OpBuilder builder(mean);
    Operation *op = mean;
    Location loc = op->getLoc();
    auto scoped = [op](Value value) {
      copyScope(op, value.getDefiningOp());
      return value;
    };
    Value total = scoped(readState(builder, loc, index));
    if (isSum) {
      Value zero = makeScalar(builder, loc, total.getType(), 0);
      Value one = makeScalar(builder, loc, total.getType(), 1);
      Value none =
          scoped(CompareOp::create(builder, loc, Predicate::EQ, total, zero));
      total = scoped(SelectOp::create(builder, loc, none, one, total));
    }
    Type type = mean->getResult(0).getType();
    Value share = castTo(builder, loc, type, total);
    mean.divideBy(builder, share == total ? share : scoped(share));
  }
}

void Denominators::keepStates(ProgramOp program) const {
  ReturnOp terminator = program.getTerminator();
  if (empty() || !mayHaveNoTargets() || terminator.getValues().empty())
    return;
  OpBuilder builder(terminator);
  Location loc = program.getLoc();
  auto number = RankedTensorType::get({}, builder.getF32Type());
  Value flag = ReadOp::create(builder, loc, number, names::kNoTargetsState);
  Value zero = makeScalar(builder, loc, number, 0);
  Value none = CompareOp::create(builder, loc, Predicate::NE, flag, zero);
  SmallVector<Value> values;
  for (auto [value, target] : llvm::zip_equal(
           terminator.getValues(),
           terminator.getTargets().getAsRange<FlatSymbolRefAttr>())) {
    Value old =
        ReadOp::create(builder, loc, value.getType(), target.getValue());
    values.push_back(SelectOp::create(builder, loc, none, old, value));
  }
  terminator.getValuesMutable().assign(values);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void Denominators::declareStates(OpBuilder &builder) const {
  auto declare = [&](StringRef name, Location loc, Type type) {
    StateOp::create(
        builder, loc, builder.getStringAttr(name), TypeAttr::get(type),
        StateKindAttr::get(builder.getContext(), StateKind::Denominator),
        FlatSymbolRefAttr());
  };
  for (auto [index, mean] : llvm::enumerate(means))
    declare(getStateName(index), CountedMeanOpInterface(mean)->getLoc(),
            getTotalType(builder.getContext()));
  if (mayHaveNoTargets())
    declare(names::kNoTargetsState, ProgramOp(model).getLoc(),
            RankedTensorType::get({}, builder.getF32Type()));
}

/// Leaves the inputs that something reads.
static void eraseUnusedInputs(ProgramOp program) {
  BitVector unused(program.getNumArguments());
  for (BlockArgument argument : program.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  LogicalResult result = program.eraseArguments(unused);
  assert(succeeded(result) && "inputs of a program can be erased");
  (void)result;
}

static void eraseOutputs(ProgramOp program) {
  ReturnOp terminator = program.getTerminator();
  terminator.getOutputsMutable().clear();
  terminator.getValuesMutable().clear();
  terminator.setTargetsAttr(Builder(program.getContext()).getArrayAttr({}));
  BitVector all(program.getNumResults(), true);
  LogicalResult result = program.eraseResults(all);
  assert(succeeded(result) && "results of a program can be erased");
  (void)result;
}

/// Adds the share of each count to its state; says whether a step has any.
void Denominators::buildBody(ProgramOp program) const {
  ReturnOp terminator = program.getTerminator();
  OpBuilder builder(terminator);
  RankedTensorType type = getTotalType(program.getContext());
  Value flag = program.findInput(names::kAccumulate);
  Value share = program.findInput(names::kBatchShare);
  SmallVector<Value> totals;
  for (auto [index, mean] : llvm::enumerate(findIn(program))) {
    Location loc = mean->getLoc();
    Value count = castTo(builder, loc, type, mean.buildDenominator(builder));
    Value part = MulOp::create(builder, loc, count, share);
    Value old = readState(builder, loc, index);
    totals.push_back(AccumulateOp::create(builder, loc, old, part, flag));
    terminator.addWrite(getStateName(index), totals.back());
  }
  Value none;
  for (unsigned term = 0; term != numTerms; ++term) {
    Value one = isEmpty(builder, term, [&](unsigned i) { return totals[i]; });
    if (!one)
      return;
    none = none ? AndOp::create(builder, program.getLoc(), none, one) : one;
  }
  auto number = RankedTensorType::get({}, builder.getF32Type());
  Value state =
      SelectOp::create(builder, program.getLoc(), none,
                       makeScalar(builder, program.getLoc(), number, 1),
                       makeScalar(builder, program.getLoc(), number, 0));
  terminator.addWrite(names::kNoTargetsState, state);
}

void Denominators::build(OpBuilder &builder) const {
  declareStates(builder);
  auto program = cast<ProgramOp>(builder.clone(*ProgramOp(model)));
  program.setSymName(names::kDenominators);
  program.setKind(ProgramKind::Denominators);
  eraseOutputs(program);
  program.addInput(names::kAccumulate,
                   RankedTensorType::get({}, builder.getF32Type()));
  program.addInput(names::kBatchShare, getTotalType(builder.getContext()));
  buildBody(program);
  eraseDeadOps(program);
  eraseUnusedInputs(program);
}
