//===- DerivePrediction.cpp - A program with a result for each row --------===//
//
// The model writes the program `predict` itself, or is a language model. Then
// the program gives the log-likelihood of each row:
//
//   log_likelihood[b] = sum over counted targets t of row b of
//                       logit[t] - log(sum over classes c of exp(logit[c]))
//
// The second term is the result `lse` of the loss.
//
//===----------------------------------------------------------------------===//

#include "Denominators.h"
#include "RowFlows.h"

#include "weft/Abi/Names.h"
#include "weft/Autodiff/Passes.h"
#include "weft/Base/CountText.h"
#include "weft/Weft/FormulaBuilder.h"
#include "weft/Weft/Programs.h"

namespace weft {
#define GEN_PASS_DEF_DERIVEPREDICTIONPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// A program of the model's text
//===----------------------------------------------------------------------===//

static bool hasRows(Type type, int64_t batch) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0 && tensor.getDimSize(0) == batch;
}

static LogicalResult verifyInputRows(ProgramOp program, int64_t batch) {
  for (auto [i, type] : llvm::enumerate(program.getArgumentTypes()))
    if (!hasRows(type, batch))
      return program.emitOpError("expects input '")
             << program.getInputName(i) << "' of " << countText(batch, "row")
             << " like the inputs of the model, but got " << type;
  return success();
}

static LogicalResult verifyOutputRows(ProgramOp program, int64_t batch) {
  for (auto [i, type] : llvm::enumerate(program.getResultTypes()))
    if (!hasRows(type, batch))
      return program.emitOpError("expects output '")
             << program.getOutputName(i) << "' of " << countText(batch, "row")
             << " like the inputs of the model, but got " << type;
  return success();
}

/// Checks the shapes of a program of kind `predict`.
static LogicalResult verifyPrediction(ProgramOp program, int64_t batch) {
  if (program.getNumArguments() == 0)
    return program.emitOpError("expects at least one input, but got none");
  if (program.getNumResults() == 0)
    return program.emitOpError("expects at least one output, but got none");
  if (!program.getTerminator().getTargets().empty())
    return program.getTerminator().emitOpError(
        "expects no writes in a program of kind predict, but got some");
  return success(succeeded(verifyInputRows(program, batch)) &&
                 succeeded(verifyOutputRows(program, batch)));
}

//===----------------------------------------------------------------------===//
// Log-likelihoods of a language model
//===----------------------------------------------------------------------===//

/// The cross-entropy of the next tokens.
static FailureOr<CrossEntropyOp> findTokenLoss(ProgramOp model) {
  CrossEntropyOp found;
  for (auto loss : model.getBody().front().getOps<CrossEntropyOp>()) {
    if (!areTokens(model, loss.getTargets()))
      continue;
    if (found) {
      InFlightDiagnostic error = loss.emitOpError(
          "expects one cross_entropy of the input 'targets' (--predict), but "
          "got a second one; write a program of kind predict");
      error.attachNote(found.getLoc()) << "the first one";
      return error;
    }
    found = loss;
  }
  if (found)
    return found;
  return model.emitOpError("expects a program of kind predict, or a language "
                           "model with a cross_entropy of its input 'targets' "
                           "(--predict), but got neither");
}

/// Checks that the loss is a sum of log-likelihoods of single rows.
static LogicalResult verifyTokenLoss(ProgramOp model, CrossEntropyOp loss) {
  const double smoothing = loss.getLabelSmoothing().convertToDouble();
  if (loss.getWeight() || smoothing != 0.0) {
    InFlightDiagnostic error = loss.emitOpError(
        "expects no weights of classes and no label_smoothing (--predict), but "
        "got ");
    if (loss.getWeight())
      error << "weights";
    else
      error << "label_smoothing " << smoothing;
    return error << "; write a program of kind predict";
  }
  const RowDependence logits =
      findRowDependences(model, loss.getLogits()).front();
  if (logits.flow.isRows() && logits.flow.dim == 0)
    return success();
  Operation *origin = logits.origin ? logits.origin : loss.getOperation();
  return origin->emitOpError(
      "expects logits that depend on one row each, with rows as their first "
      "dimension (--predict), but this is not known of it");
}

namespace {
/// Values of one row each.
struct RowScores {
  Value logLikelihood, tokens;
};
} // namespace

/// Sums the entries of each row.
static Value sumOfRows(FormulaBuilder &f, Value x, int64_t batch) {
  Value rows = f.reshape(
      x, {batch, cast<RankedTensorType>(x.getType()).getNumElements() / batch});
  return f.reshape(f.reduce(ReduceKind::Sum, rows, {1}), {batch});
}

static RowScores scoreRows(FormulaBuilder &f, CrossEntropyOp loss,
                           int64_t batch) {
  const int64_t axis = loss.getTargets().getType().getRank();
  const int64_t ignored = loss.getIgnoreIndex();
  SmallVector<int64_t> shape(loss.getLogits().getType().getShape());
  SmallVector<int64_t> single(shape);
  single.back() = 1;
  Value logits = f.widen(loss.getLogits());
  Value targets = f.reshape(loss.getTargets(), single);
  if (!llvm::isInt<32>(ignored))
    targets = f.cast(targets, f.getBuilder().getI64Type());
  Type index = getElementTypeOrSelf(targets.getType());
  Value isTarget =
      f.compare(Predicate::EQ, f.iota({axis}, shape, index), targets);
  Value least = f.constant(-std::numeric_limits<double>::infinity(), logits);
  Value logit =
      f.reduce(ReduceKind::Max, f.select(isTarget, logits, least), {axis});
  Value logProbability = f.sub(logit, f.reshape(loss.getLse(), single));
  Value counts = f.compare(Predicate::NE, targets, f.integer(ignored, index));
  Value zero = f.constant(0.0, logits);
  Value counted = f.select(counts, logProbability, zero);
  Value one = f.select(counts, f.constant(1.0, logits), zero);
  return {sumOfRows(f, counted, batch),
          f.cast(sumOfRows(f, one, batch), f.getBuilder().getI32Type())};
}

/// Gives the program other results.
static void setOutputs(ProgramOp program, ArrayRef<StringRef> names,
                       ArrayRef<Value> values) {
  ReturnOp end = program.getTerminator();
  Builder builder(program.getContext());
  end.getOutputsMutable().assign(values);
  end.getValuesMutable().clear();
  end.setTargetsAttr(builder.getArrayAttr({}));
  SmallVector<Attribute> attrs;
  for (StringRef name : names)
    attrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        WeftDialect::kOutputAttr, builder.getStringAttr(name))));
  SmallVector<Type> types(ValueRange(values).getTypes());
  program.setFunctionType(
      builder.getFunctionType(program.getArgumentTypes(), types));
  program.setResAttrsAttr(builder.getArrayAttr(attrs));
}

/// A clone of the model that gives the log-likelihood of each row.
static void buildLogLikelihood(ProgramOp model, int64_t batch) {
  OpBuilder builder(model);
  auto program = cast<ProgramOp>(builder.clone(*model));
  program.setSymName(names::kPredict);
  program.setKind(ProgramKind::Predict);
  CrossEntropyOp loss = *findTokenLoss(program);
  ReturnOp end = program.getTerminator();
  Operation *last = end->getPrevNode();
  builder.setInsertionPoint(end);
  FormulaBuilder f(builder, loss.getLoc());
  const RowScores scores = scoreRows(f, loss, batch);
  for (Operation *op = last->getNextNode(); op != end; op = op->getNextNode())
    copyScope(loss, op);
  setOutputs(program, {names::kLogLikelihood, names::kTokens},
             {scores.logLikelihood, scores.tokens});
  eraseDeadOps(program);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct DerivePredictionPass
    : weft::impl::DerivePredictionPassBase<DerivePredictionPass> {
  using DerivePredictionPassBase::DerivePredictionPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ProgramOp> own = findOnlyProgram(module, ProgramKind::Predict);
    FailureOr<ProgramOp> model = findOnlyProgram(module, ProgramKind::Model);
    if (failed(own) || failed(model))
      return signalPassFailure();
    if (!*own && !wanted)
      return;
    if (!*model) {
      module.emitError("expects a program of kind model, but got none");
      return signalPassFailure();
    }
    const int64_t batch = findBatchRows(*model);
    if (failed(*own ? verifyPrediction(*own, batch) : derive(*model, batch)))
      return signalPassFailure();
    if (*own && wanted)
      warnOfJoinedRows(*own);
    else if (*own)
      own->erase();
  }

  LogicalResult derive(ProgramOp model, int64_t batch) {
    FailureOr<CrossEntropyOp> loss = findTokenLoss(model);
    if (failed(loss) || failed(verifyTokenLoss(model, *loss)) ||
        failed(checkFreeName()))
      return failure();
    buildLogLikelihood(model, batch);
    ++numDerived;
    return success();
  }

  LogicalResult checkFreeName() {
    Operation *other =
        SymbolTable::lookupSymbolIn(getOperation(), names::kPredict);
    if (!other)
      return success();
    return other->emitOpError("expects another name, but got @")
           << names::kPredict << ", which weft-derive-prediction defines";
  }

  /// Results that join rows are legal, but depend on the rows of their batch.
  void warnOfJoinedRows(ProgramOp program) {
    SmallVector<Value> outputs(program.getTerminator().getOutputs());
    for (auto [i, rows] :
         llvm::enumerate(findRowDependences(program, outputs))) {
      if (rows.flow.isFixed() || (rows.flow.isRows() && rows.flow.dim == 0))
        continue;
      Operation *origin = rows.origin ? rows.origin : program.getOperation();
      ++numJoined;
      origin->emitWarning("output '")
          << program.getOutputName(i)
          << "' is not known to depend on one row alone behind this op: it may "
             "depend on how rows are split into batches";
    }
  }
};
} // namespace
