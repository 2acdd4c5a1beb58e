//===- Denominators.cpp - Means over the targets of a whole step ----------===//

#include "Denominators.h"

#include "weft/Formats/Names.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace weft {

//===----------------------------------------------------------------------===//
// Which losses
//===----------------------------------------------------------------------===//

/// Targets of a token file are classes: the next token of each.
static bool areTokens(ProgramOp program, Value targets) {
  auto module = program->getParentOfType<ModuleOp>();
  auto argument = dyn_cast<BlockArgument>(skipViews(targets));
  return argument && module->hasAttr("weft.vocab") &&
         module->hasAttr("weft.seq") &&
         program.getInputName(argument.getArgNumber()) == names::kTargets;
}

/// Whether two batches may have other denominators.
static bool isCounted(ProgramOp program, CountedLossOpInterface loss) {
  return loss.isCountedMean() &&
         !(loss.countsAllClasses() &&
           areTokens(program, loss.getCountedTargets()));
}

/// The ops that a value is computed from, itself included.
static llvm::SetVector<Operation *> findSources(Value value) {
  llvm::SetVector<Operation *> sources;
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
Denominators::verifyKnownAhead(CountedLossOpInterface loss) const {
  for (Value operand : loss->getOperands().drop_front())
    for (Operation *op : findSources(operand)) {
      StringRef change = findChange(model, op);
      if (change.empty())
        continue;
      InFlightDiagnostic error =
          loss->emitOpError(
              "expects targets and weights that are known before the step, but "
              "got some that depend on ")
          << change
          << "; use reduction = sum and divide by a number that is known";
      error.attachNote(op->getLoc()) << "it is read here";
      return error;
    }
  return success();
}

LogicalResult Denominators::findTerms() {
  FailureOr<SmallVector<LossTerm>> found = findLosses(model, /*allowF64=*/true);
  if (failed(found))
    return failure();
  for (const LossTerm &term : *found) {
    Value value = model.getTerminator().getOutputs()[term.result];
    llvm::SetVector<Operation *> sources = findSources(value);
    SmallVector<unsigned> &parts = terms.emplace_back();
    for (auto [index, loss] : llvm::enumerate(losses))
      if (sources.contains(loss))
        parts.push_back(index);
  }
  return success();
}

static std::string getStateName(unsigned loss) {
  return names::kDenominator + std::to_string(loss);
}

LogicalResult Denominators::verifyNames() const {
  SmallVector<std::string> taken = {names::kDenominators,
                                    names::kNoTargetsState};
  for (unsigned i = 0; i != losses.size(); ++i)
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
  for (auto loss : model.getBody().front().getOps<CountedLossOpInterface>())
    if (isCounted(model, loss)) {
      if (failed(result.verifyKnownAhead(loss)))
        return failure();
      result.losses.push_back(loss);
    }
  if (!result.empty() &&
      (failed(result.findTerms()) || failed(result.verifyNames())))
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Values of the states
//===----------------------------------------------------------------------===//

static RankedTensorType getTotalType(MLIRContext *context) {
  return RankedTensorType::get({}, Float64Type::get(context));
}

static Value makeScalar(OpBuilder &builder, Location loc, Type type,
                        double number) {
  auto tensor = cast<RankedTensorType>(type);
  Attribute value = builder.getFloatAttr(tensor.getElementType(), number);
  return ConstantOp::create(
      builder, loc, cast<ElementsAttr>(DenseElementsAttr::get(tensor, value)));
}

static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  return value.getType() == type ? value
                                 : CastOp::create(builder, loc, type, value);
}

Value Denominators::readState(OpBuilder &builder, Location loc,
                              unsigned loss) const {
  return ReadOp::create(builder, loc, getTotalType(builder.getContext()),
                        getStateName(loss));
}

/// A term is defined where each of its denominators counts something.
Value Denominators::isEmpty(OpBuilder &builder, unsigned term,
                            llvm::function_ref<Value(unsigned)> total) const {
  Value any;
  for (unsigned loss : terms[term]) {
    Location loc = CountedLossOpInterface(losses[loss])->getLoc();
    Value zero =
        makeScalar(builder, loc, getTotalType(builder.getContext()), 0);
    Value none =
        CompareOp::create(builder, loc, Predicate::EQ, total(loss), zero);
    any = any ? OrOp::create(builder, loc, any, none) : none;
  }
  return any;
}

Value Denominators::isEmptyTerm(OpBuilder &builder, unsigned index) const {
  if (empty())
    return {};
  return isEmpty(builder, index, [&](unsigned loss) {
    Location loc = CountedLossOpInterface(losses[loss])->getLoc();
    return readState(builder, loc, loss);
  });
}

void Denominators::divide(ProgramOp program) const {
  SmallVector<CountedLossOpInterface> clones;
  for (auto loss : program.getBody().front().getOps<CountedLossOpInterface>())
    if (isCounted(program, loss))
      clones.push_back(loss);
  for (auto [index, loss] : llvm::enumerate(clones)) {
    OpBuilder builder(loss);
    Location loc = loss->getLoc();
    Value total = readState(builder, loc, index);
    copyScope(loss, total.getDefiningOp());
    Value share = castTo(builder, loc, loss->getResult(0).getType(), total);
    if (share != total)
      copyScope(loss, share.getDefiningOp());
    loss.divideBy(builder, share);
  }
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
  for (auto [index, loss] : llvm::enumerate(losses))
    declare(getStateName(index), CountedLossOpInterface(loss)->getLoc(),
            getTotalType(builder.getContext()));
  if (llvm::none_of(terms, [](const auto &term) { return term.empty(); }))
    declare(names::kNoTargetsState, ProgramOp(model).getLoc(),
            RankedTensorType::get({}, builder.getF32Type()));
}

static void eraseDeadOps(ProgramOp program) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Leaves the inputs that something reads.
static void eraseUnusedInputs(ProgramOp program) {
  llvm::BitVector unused(program.getNumArguments());
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
  llvm::BitVector all(program.getNumResults(), true);
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
  SmallVector<CountedLossOpInterface> counted;
  for (auto loss : program.getBody().front().getOps<CountedLossOpInterface>())
    if (isCounted(program, loss))
      counted.push_back(loss);
  for (auto [index, loss] : llvm::enumerate(counted)) {
    Location loc = loss->getLoc();
    Value count = castTo(builder, loc, type, loss.buildDenominator(builder));
    Value part = MulOp::create(builder, loc, count, share);
    Value old = readState(builder, loc, index);
    totals.push_back(AccumulateOp::create(builder, loc, old, part, flag));
    terminator.addWrite(getStateName(index), totals.back());
  }
  Value none;
  for (unsigned term = 0; term != terms.size(); ++term) {
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

} // namespace weft
