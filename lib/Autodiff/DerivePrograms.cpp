//===- DerivePrograms.cpp - Programs of a training step from the model ----===//

#include "Denominators.h"
#include "RowFlows.h"

#include "weft/Abi/Names.h"
#include "weft/Autodiff/Passes.h"
#include "weft/Weft/Losses.h"
#include "weft/Weft/Programs.h"

#include <limits>

namespace weft {
#define GEN_PASS_DEF_DERIVEPROGRAMSPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

Value splat(OpBuilder &builder, ParamOp param, double number) {
  RankedTensorType type = param.getTensorType();
  Attribute element = builder.getFloatAttr(type.getElementType(), number);
  return ConstantOp::create(
      builder, param.getLoc(),
      cast<ElementsAttr>(DenseElementsAttr::get(type, element)));
}

/// The initial value of `param`. The parameter's name keys random draws, so
/// they do not depend on what other parameters there are.
Value initialValue(OpBuilder &builder, ParamOp param, Value seed) {
  InitAttr init = *param.getInit();
  APFloat first(init.getFirst()), second(init.getSecond());
  switch (init.getKind()) {
  case InitKind::Zeros:
    return splat(builder, param, 0);
  case InitKind::Ones:
    return splat(builder, param, 1);
  case InitKind::Constant:
    return splat(builder, param, init.getFirst());
  case InitKind::Normal:
    return RandomNormalOp::create(builder, param.getLoc(),
                                  param.getTensorType(), seed,
                                  param.getSymName(), first, second);
  case InitKind::Uniform:
    return RandomUniformOp::create(builder, param.getLoc(),
                                   param.getTensorType(), seed,
                                   param.getSymName(), first, second);
  }
  llvm_unreachable("unknown init kind");
}

} // namespace

/// Builds `@init` at the builder's insertion point. Fails with an error on a
/// parameter without initial values.
static LogicalResult buildInitProgram(ModuleOp module, OpBuilder &builder) {
  MLIRContext *context = module.getContext();
  auto program =
      ProgramOp::create(builder, module.getLoc(), names::kInit,
                        FunctionType::get(context, {}, {}), ProgramKind::Init,
                        /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr);
  program.getBody().emplaceBlock();
  Value seed = program.addInput(
      names::kSeed, RankedTensorType::get({}, builder.getI64Type()));
  OpBuilder body = OpBuilder::atBlockEnd(&program.getBody().front());
  SmallVector<Value> values;
  SmallVector<Attribute> targets;
  for (ParamOp param : module.getOps<ParamOp>()) {
    if (param.getTie())
      continue;
    if (!param.getInit())
      return param.emitOpError("expects initial values (init), but got none");
    Value value = initialValue(body, param, seed);
    if (std::optional<StringRef> scope = param.getScope())
      setScope(value.getDefiningOp(), builder.getStringAttr(*scope));
    values.push_back(value);
    targets.push_back(FlatSymbolRefAttr::get(param.getSymNameAttr()));
  }
  ReturnOp::create(body, module.getLoc(), /*outputs=*/ValueRange{}, values,
                   builder.getArrayAttr(targets));
  return success();
}

namespace {

//===----------------------------------------------------------------------===//
// Preconditions
//===----------------------------------------------------------------------===//

FailureOr<ProgramOp> findModel(ModuleOp module) {
  FailureOr<ProgramOp> model = findOnlyProgram(module, ProgramKind::Model);
  if (succeeded(model) && !*model)
    return module.emitError("expects a program of kind model, but got none");
  return model;
}

/// Names that the derived programs take must be free.
LogicalResult checkFreeNames(ModuleOp module, ProgramOp model) {
  for (StringRef name : {names::kInit, names::kMicro, names::kEval}) {
    Operation *other = SymbolTable::lookupSymbolIn(module, name);
    if (other && other != model)
      return other->emitOpError("expects another name, but got @")
             << name << ", which weft-derive-programs defines";
  }
  for (StringRef name : {names::kLossSeed, names::kAccumulate, names::kRng,
                         names::kRank, names::kBatchShare})
    if (model.findInput(name))
      return model.emitOpError("expects other input names, but got '")
             << name << "', which the runtime fills";
  return success();
}

LogicalResult checkParameters(ModuleOp module, ProgramOp model) {
  for (ParamOp param : module.getOps<ParamOp>())
    if (param.getTrainable() && !param.getTie())
      return success();
  return model.emitOpError("expects a trainable parameter, but the module has "
                           "none");
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

LogicalResult checkKeys(ProgramOp model) {
  llvm::SmallDenseMap<int64_t, Operation *> seen;
  for (auto op : model.getBody().front().getOps<RandomOpInterface>()) {
    std::optional<int64_t> key = op.getRandomKey();
    if (!key)
      continue;
    auto [found, isNew] = seen.try_emplace(*key, op);
    if (isNew)
      continue;
    InFlightDiagnostic error =
        op->emitOpError("expects an op_id of its own, but got ")
        << *key << " a second time";
    error.attachNote(found->second->getLoc()) << "the first is here";
    return error;
  }
  return success();
}

/// Turns the program into its evaluation form. Returns the number of ops that
/// drew random numbers.
unsigned removeRandom(ProgramOp program) {
  unsigned count = 0;
  for (auto op : llvm::make_early_inc_range(
           program.getBody().front().getOps<RandomOpInterface>())) {
    count += op.getRandomKey().has_value();
    op.makeDeterministic();
  }
  return count;
}

/// Gives every op that draws numbers the input `rng`.
void attachRng(ProgramOp micro) {
  auto type =
      RankedTensorType::get({2}, IntegerType::get(micro.getContext(), 64));
  Value rng;
  for (auto op : llvm::make_early_inc_range(
           micro.getBody().front().getOps<RandomOpInterface>())) {
    if (!op.getRandomKey()) {
      op.makeDeterministic();
      continue;
    }
    if (!rng)
      rng = micro.addInput(names::kRng, type);
    op.getRngMutable().assign(rng);
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Returns the terms of the loss, then the metrics, and nothing else.
void keepOnlyReported(ProgramOp program, const ModelOutputs &outputs) {
  SmallVector<unsigned> kept;
  for (const LossTerm &term : outputs.losses)
    kept.push_back(term.result);
  llvm::append_range(kept, outputs.metrics);
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attrs;
  for (unsigned result : kept) {
    values.push_back(program.getTerminator().getOutputs()[result]);
    attrs.push_back(program.getResultAttrDict(result));
  }
  program.getTerminator().getOutputsMutable().assign(values);
  LogicalResult result =
      program.eraseResults(llvm::BitVector(program.getNumResults(), true));
  for (auto [value, dictionary] : llvm::zip_equal(values, attrs))
    if (succeeded(result))
      result = program.insertResult(program.getNumResults(), value.getType(),
                                    dictionary);
  assert(succeeded(result) && "results of a program can be replaced");
  (void)result;
}

Value makeNaN(OpBuilder &builder, Location loc, Type type) {
  return makeScalar(builder, loc, type,
                    std::numeric_limits<double>::quiet_NaN());
}

/// NaN if the output has no counted target in the step.
void setUndefined(OpBuilder &builder, Value isEmpty, Value &output) {
  Location loc = output.getLoc();
  output = SelectOp::create(builder, loc, isEmpty,
                            makeNaN(builder, loc, output.getType()), output);
}

/// The weighted sum of the terms, in their order. A term without a counted
/// target in the step is not defined: its output is NaN, and it adds nothing to
/// the sum and to no gradient. Without any term the loss is NaN.
Value weightedSum(ProgramOp program, ArrayRef<LossTerm> terms,
                  const Denominators &denominators) {
  ReturnOp terminator = program.getTerminator();
  OpBuilder builder(terminator);
  Location loc = program.getLoc();
  SmallVector<Value> outputs(terminator.getOutputs());
  Value sum, noTerm;
  bool mayBeEmpty = true;
  for (auto [index, term] : llvm::enumerate(terms)) {
    auto type = cast<RankedTensorType>(outputs[index].getType());
    Value factor = makeScalar(builder, loc, type, term.weight);
    Value scaled = MulOp::create(builder, loc, outputs[index], factor);
    if (Value none = denominators.isEmptyOutput(builder, index)) {
      scaled = SelectOp::create(builder, loc, none,
                                makeScalar(builder, loc, type, 0), scaled);
      setUndefined(builder, none, outputs[index]);
      noTerm = noTerm ? AndOp::create(builder, loc, noTerm, none) : none;
    } else {
      mayBeEmpty = false;
    }
    sum = sum ? AddOp::create(builder, loc, sum, scaled) : scaled;
  }
  terminator.getOutputsMutable().assign(outputs);
  return mayBeEmpty
             ? SelectOp::create(builder, loc, noTerm,
                                makeNaN(builder, loc, sum.getType()), sum)
             : sum;
}

/// Metrics follow `numTerms` terms of the loss.
void defineMetrics(ProgramOp program, unsigned numTerms,
                   const Denominators &denominators) {
  ReturnOp terminator = program.getTerminator();
  OpBuilder builder(terminator);
  SmallVector<Value> outputs(terminator.getOutputs());
  for (unsigned i = numTerms; i < outputs.size(); ++i)
    if (Value none = denominators.isEmptyOutput(builder, i))
      setUndefined(builder, none, outputs[i]);
  terminator.getOutputsMutable().assign(outputs);
}

/// Puts the output `loss`, the weighted sum of the terms, before them.
void addTotal(ProgramOp program, ArrayRef<LossTerm> terms,
              const Denominators &denominators) {
  ReturnOp terminator = program.getTerminator();
  Value sum = weightedSum(program, terms, denominators);
  SmallVector<Value> outputs = {sum};
  llvm::append_range(outputs, terminator.getOutputs());
  terminator.getOutputsMutable().assign(outputs);
  Builder builder(program.getContext());
  for (unsigned i = 0; i < program.getNumResults(); ++i)
    program.removeResultAttr(i, builder.getStringAttr(kLossWeightAttr));
  auto name = builder.getNamedAttr(WeftDialect::kOutputAttr,
                                   builder.getStringAttr(kLossName));
  LogicalResult result =
      program.insertResult(0, sum.getType(), builder.getDictionaryAttr(name));
  assert(succeeded(result) && "results of a program can be added");
  (void)result;
}

/// A program of that name and kind with the model's body, losses and metrics.
ProgramOp fork(ProgramOp model, OpBuilder &builder, StringRef name,
               ProgramKind kind, const Denominators &denominators) {
  const ModelOutputs outputs = *findModelOutputs(model, /*allowF64=*/true);
  auto program = cast<ProgramOp>(builder.clone(*model));
  program.setSymName(name);
  program.setKind(kind);
  keepOnlyReported(program, outputs);
  const bool isSum = program.findOutput(kLossName) < 0;
  denominators.divide(program, isSum);
  defineMetrics(program, outputs.losses.size(), denominators);
  if (isSum)
    addTotal(program, outputs.losses, denominators);
  return program;
}

struct DeriveProgramsPass
    : weft::impl::DeriveProgramsPassBase<DeriveProgramsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ProgramOp> model = findModel(module);
    if (failed(model) || failed(findModelOutputs(*model, /*allowF64=*/true)) ||
        failed(checkFreeNames(module, *model)) ||
        failed(checkParameters(module, *model)) || failed(checkKeys(*model)))
      return signalPassFailure();

    FailureOr<Denominators> denominators = Denominators::find(*model);
    if (failed(denominators))
      return signalPassFailure();

    remarkOnSplits(module, *model);
    if (failed(checkMetrics(module, *model)))
      return signalPassFailure();
    OpBuilder builder(*model);
    if (failed(buildInitProgram(module, builder)))
      return signalPassFailure();
    if (!denominators->empty())
      denominators->build(builder);
    buildMicro(*model, builder, *denominators);
    buildEval(*model, builder, *denominators);
    for (auto program : module.getOps<ProgramOp>())
      if (program.getKind() == ProgramKind::Logits ||
          program.getKind() == ProgramKind::Predict)
        numDropped += removeRandom(program);
    model->erase();
  }

  /// A loss whose value depends on the split of rows is legal: whoever trains
  /// with it should know.
  void remarkOnSplits(ModuleOp module, ProgramOp model) {
    Operation *origin = findSplitDependence(model);
    if (!origin) {
      module->setAttr(WeftDialect::kRowMeanAttr, UnitAttr::get(&getContext()));
      return;
    }
    ++numSplitLosses;
    origin->emitRemark()
        << "the loss is not known to be a mean over rows behind this op: it "
           "may depend on how rows are split into micro-batches, ranks and "
           "evaluation batches";
  }

  /// A metric must not cost the loss its independence of the split, by which
  /// evaluations count the rows of a partial batch.
  LogicalResult checkMetrics(ModuleOp module, ProgramOp model) {
    if (!module->hasAttr(WeftDialect::kRowMeanAttr))
      return success();
    const ModelOutputs outputs = *findModelOutputs(model, /*allowF64=*/true);
    for (unsigned result : outputs.metrics)
      if (Operation *origin = findSplitDependence(model, result))
        return origin->emitOpError("expects metric '")
               << model.getOutputName(result)
               << "' to be a mean over rows, as the loss is, but got an op "
                  "behind which it may depend on how rows are split into "
                  "batches";
    return success();
  }

  void buildMicro(ProgramOp model, OpBuilder &builder,
                  const Denominators &denominators) {
    ProgramOp micro =
        fork(model, builder, names::kMicro, ProgramKind::Micro, denominators);
    denominators.keepStates(micro);
    auto loss = cast<RankedTensorType>(micro.getResultTypes()[0]);
    micro.addInput(names::kLossSeed, loss);
    micro.addInput(names::kAccumulate, loss.clone(builder.getF32Type()));
    eraseDeadOps(micro);
    attachRng(micro);
  }

  /// Writes of the model belong to training.
  void buildEval(ProgramOp model, OpBuilder &builder,
                 const Denominators &denominators) {
    ProgramOp eval =
        fork(model, builder, names::kEval, ProgramKind::Eval, denominators);
    ReturnOp terminator = eval.getTerminator();
    terminator.getValuesMutable().clear();
    terminator.setTargetsAttr(builder.getArrayAttr({}));
    numDropped += removeRandom(eval);
    eraseDeadOps(eval);
  }
};

} // namespace
