//===- Differentiator.cpp - Reverse mode over one program -----------------===//

#include "Differentiator.h"

#include "Adjoint.h"
#include "weft/Abi/Names.h"
#include "weft/Autodiff/Passes.h"
#include "weft/Weft/ErrorWatch.h"
#include "weft/Weft/Precision.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "weft-autodiff"

using namespace mlir;
using namespace weft;

/// The element type of a parameter's gradient. By default it is the element
/// type of the parameter. Wide gradients of a low-precision parameter are f32.
/// If gradients do not accumulate and all uses have one low type, it is that
/// type.
Type Differentiator::gradientElement(ParamOp param) {
  Type element = param.getTensorType().getElementType();
  if (settings.isWide)
    return isLowPrecision(element) ? Float32Type::get(module.getContext())
                                   : element;
  if (settings.accumulates)
    return element;
  Type low;
  for (auto read : program.getOps<ReadOp>()) {
    if (read.getSourceAttr().getAttr() != param.getSymNameAttr())
      continue;
    Type use = onlyLowUse(read.getResult());
    if (!use || (low && low != use))
      return element;
    low = use;
  }
  return low ? low : element;
}

LogicalResult Differentiator::collectParameters() {
  for (ParamOp param : module.getOps<ParamOp>())
    if (param.getTrainable() && !param.getTie())
      params[param.getSymNameAttr()] = {param, Value(), gradientElement(param)};
  for (auto read : program.getOps<ReadOp>()) {
    auto param = symbols.lookup<ParamOp>(read.getSource());
    if (!param)
      continue;
    if (param.getTie()) {
      InFlightDiagnostic error = read.emitOpError("expects ties to be resolved "
                                                  "by weft-tie-params, but got "
                                                  "the tied parameter ")
                                 << read.getSourceAttr();
      error.attachNote(param.getLoc()) << "tied here";
      return error;
    }
    auto found = params.find(param.getSymNameAttr());
    if (found != params.end() && !found->second.read)
      found->second.read = read.getResult();
  }
  return success();
}

LogicalResult Differentiator::seed() {
  for (StringRef name : {names::kLossSeed, names::kAccumulate})
    if (!program.findInput(name))
      return program.emitOpError("expects an input '")
             << name << "', but got none; run weft-derive-programs first";
  int index = program.findOutput(names::kLoss);
  if (index < 0)
    return program.emitOpError("expects an output 'loss', but got none");
  Value loss = program.getTerminator().getOutputs()[index];
  if (!active.contains(loss))
    return program.emitOpError("expects the loss to depend on a trainable "
                               "parameter, but it depends on none");
  Value start = program.findInput(names::kLossSeed);
  if (start.getType() != loss.getType())
    return program.emitOpError("expects 'loss_seed' to have the type of the "
                               "loss, ")
           << loss.getType() << ", but got " << start.getType();
  send(program.getTerminator()->getOpOperand(index), start);
  return success();
}

/// Adds `grad` to the gradients of what `use` uses; all reads of a parameter
/// are one value. A gradient that leaves a branch is selected, for parameters
/// where it is written.
void Differentiator::send(OpOperand &use, Value grad) {
  Value operand = use.get();
  Operation *maker = operand.getDefiningOp();
  if (auto read = dyn_cast_or_null<ReadOp>(maker)) {
    operand = params[read.getSourceAttr().getAttr()].read;
    uses[operand].push_back(branches.findDeciding(use));
  } else {
    grad = branches.leave(grad, use);
  }
  sums.add(operand, grad);
}

/// Asks `op` for its adjoint if a gradient reaches it and is wanted.
LogicalResult Differentiator::differentiate(Operation *op) {
  if (isa<ReadOp>(op) || !llvm::any_of(op->getOperands(), [&](Value operand) {
        return active.contains(operand);
      }))
    return success();
  backward.follow(op->getLoc(), getScope(op));
  if (op->getNumResults() == 1 && lowCopies.contains(op->getResult(0)))
    return differentiateCopy(op);
  SmallVector<Value> resultGrads;
  for (Value result : op->getResults())
    resultGrads.push_back(sums.take(result, builder, op->getLoc()));
  if (llvm::none_of(resultGrads, [](Value v) { return bool(v); }))
    return success();
  LDBG() << "adjoint of " << *op;
  return propagate(op, resultGrads);
}

/// Gradients of a low-precision copy of a parameter go on as soon as they are
/// there: each alone, as it is, where they are to be added in f32; else their
/// sum, which the cast rounds no more.
LogicalResult Differentiator::differentiateCopy(Operation *op) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value, 2> grads = sums.takeTerms(op->getResult(0));
  if (grads.empty())
    return success();
  if (!settings.isWide) {
    grads = GradientSums::join(grads, builder, op->getLoc());
    setInsertionPointAfter(grads);
    grads = {GradientSums::sum(grads, builder, op->getLoc())};
  }
  for (Value grad : grads) {
    setInsertionPointAfter(grad);
    auto read = op->getOperand(0).getDefiningOp<ReadOp>();
    bool isLeaf = isa<CastOp>(op) && read;
    if (isLeaf &&
        (settings.isWide ||
         params[read.getSourceAttr().getAttr()].element == elementTypeOf(grad)))
      send(op->getOpOperand(0), grad);
    else if (failed(propagate(op, grad)))
      return failure();
  }
  return success();
}

/// Compares the adjoints that an op returned with its operands. A null adjoint
/// is a zero gradient.
static LogicalResult checkAdjoints(Operation *op, ArrayRef<Value> grads) {
  for (auto [use, grad] : llvm::zip_equal(op->getOpOperands(), grads))
    if (grad && grad.getType() != use.get().getType())
      return op->emitOpError("expects its adjoint to give ")
             << use.get().getType() << " for operand " << use.getOperandNumber()
             << ", but got " << grad.getType();
  return success();
}

/// Calls `buildAdjoint`; a failure without a message becomes an error of the
/// op.
static LogicalResult buildAdjoint(DifferentiableOpInterface op,
                                  OpBuilder &builder,
                                  ArrayRef<Value> resultGrads,
                                  ArrayRef<bool> needed,
                                  MutableArrayRef<Value> grads) {
  ErrorWatch errors(op->getContext());
  if (succeeded(op.buildAdjoint(builder, resultGrads, needed, grads)))
    return checkAdjoints(op, grads);
  if (errors.hasErrors())
    return failure();
  return op->emitOpError("expects buildAdjoint() to build its gradient, but it "
                         "failed without a message");
}

LogicalResult Differentiator::propagate(Operation *op,
                                        ArrayRef<Value> resultGrads) {
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable) {
    InFlightDiagnostic error =
        op->emitOpError("expects an op with an adjoint, but got a gradient "
                        "for an op without one");
    error.attachNote() << "an output with weft.metric needs no gradient";
    return error;
  }
  SmallVector<bool> needed = llvm::map_to_vector(
      op->getOperands(), [&](Value v) { return active.contains(v); });
  SmallVector<Value> grads(op->getNumOperands());
  if (failed(buildAdjoint(differentiable, builder, resultGrads, needed, grads)))
    return failure();
  for (auto [use, grad] : llvm::zip_equal(op->getOpOperands(), grads))
    if (grad)
      send(use, grad);
  return success();
}

/// After the last op that defines one of `values`, if there is one.
void Differentiator::setInsertionPointAfter(ArrayRef<Value> values) {
  if (Operation *last = GradientSums::lastOp(values))
    builder.setInsertionPointAfter(last);
}

Operation *Differentiator::firstBackward() {
  return forward.back()->getNextNode();
}

/// 1 in the type of `like`.
static ElementsAttr one(Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  return cast<ElementsAttr>(DenseElementsAttr::get(type, 1.0f));
}

FailureOr<StateOp> Differentiator::declareState(ParamOp param,
                                                const Twine &name, Type type,
                                                StateKind kind) {
  if (Operation *other = symbols.lookup(name.str())) {
    InFlightDiagnostic error = param.emitOpError("expects the symbol @")
                               << name << " to be free for its "
                               << stringifyStateKind(kind)
                               << ", but it is taken";
    error.attachNote(other->getLoc()) << "taken here";
    return error;
  }
  OpBuilder stateBuilder(module.getContext());
  stateBuilder.setInsertionPointAfter(lastDeclaration);
  auto state = StateOp::create(
      stateBuilder, param.getLoc(), stateBuilder.getStringAttr(name),
      TypeAttr::get(type), StateKindAttr::get(stateBuilder.getContext(), kind),
      kind == StateKind::Gradient
          ? FlatSymbolRefAttr::get(param.getSymNameAttr())
          : FlatSymbolRefAttr());
  lastDeclaration = state;
  return state;
}

/// Declares the state that accumulates the gradient of `param`. One that only
/// branches use names the state that says whether there is one.
FailureOr<StateOp> Differentiator::declareGradient(ParamOp param, Value read,
                                                   Type element) {
  StringRef name = param.getSymName();
  FailureOr<StateOp> state =
      declareState(param, name + ".grad", param.getTensorType().clone(element),
                   StateKind::Gradient);
  Deciding decisive = branches.join(uses[read]);
  if (failed(state) || decisive.empty())
    return state;
  if (!presence.find(decisive)) {
    auto scalar = RankedTensorType::get({}, builder.getF32Type());
    FailureOr<StateOp> shared =
        declareState(param, "presence." + name, scalar, StateKind::Presence);
    if (failed(shared))
      return failure();
    presence.add(decisive, *shared);
  }
  StateOp shared = presence.find(decisive);
  (*state)->setAttr(WeftDialect::kPresenceAttr,
                    FlatSymbolRefAttr::get(shared.getSymNameAttr()));
  return state;
}

/// Adds the gradients `terms` of `param` one by one, each as soon as it is
/// there. Accumulating, no sum of the parameter's size stands beside the state.
void Differentiator::writeGradient(ParamOp param, StateOp state,
                                   ArrayRef<Value> terms) {
  StringRef name = state.getSymName();
  backward.follow(param.getLoc(), param.getScope().value_or(""));
  Location loc = param.getLoc();
  Value flag = program.findInput(names::kAccumulate), sum;
  Operation *previous = nullptr;
  for (Value term : terms) {
    Operation *ready = term.getDefiningOp();
    if (!ready || (previous && ready->isBeforeInBlock(previous)))
      ready = previous;
    if (ready)
      builder.setInsertionPointAfter(ready);
    else
      builder.setInsertionPoint(firstBackward());
    if (!settings.accumulates) {
      sum = sum ? AddOp::create(builder, loc, sum, term) : term;
    } else {
      if (sum)
        flag = ConstantOp::create(builder, loc, one(flag));
      else
        sum = ReadOp::create(builder, loc, state.getTensorType(), name);
      sum = AccumulateOp::create(builder, loc, sum, term, flag);
    }
    if (Operation *last = sum.getDefiningOp())
      previous = last;
  }
  writes.push_back({name, sum});
}

/// Sorts terms by the position of their op. Gradients of low-precision copies
/// were recorded at the cast, out of order. A stable insertion sort suffices,
/// since there are few terms.
static void sortByPosition(SmallVectorImpl<Value> &terms) {
  auto isBefore = [](Value a, Value b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    return second && (!first || first->isBeforeInBlock(second));
  };
  for (auto *term = terms.begin(); term != terms.end(); ++term)
    std::rotate(std::upper_bound(terms.begin(), term, *term, isBefore), term,
                std::next(term));
}

/// The gradients of the value read from `param`, in order. If all have the same
/// deciding branches, they are selected after they are joined.
FailureOr<SmallVector<Value, 2>>
Differentiator::collectTerms(ParamOp param, Value read, Type element) {
  SmallVector<Value, 2> terms = sums.takeTerms(read);
  ArrayRef<Deciding> from = uses[read];
  bool haveSameType = llvm::all_equal(from);
  for (auto [term, deciding] : llvm::zip_equal(terms, from)) {
    FailureOr<Value> wide = widener.widen(term, element);
    if (failed(wide))
      return failure();
    term = haveSameType ? *wide : branches.leave(*wide, deciding);
  }
  sortByPosition(terms);
  backward.follow(param.getLoc(), param.getScope().value_or(""));
  terms = GradientSums::join(terms, builder, param.getLoc());
  if (haveSameType)
    for (Value &term : terms)
      term = branches.leave(term, from.front());
  return terms;
}

LogicalResult Differentiator::writeGradients() {
  for (auto &[name, entry] : params) {
    auto [param, read, element] = entry;
    builder.setInsertionPoint(program.getTerminator());
    if (read && !uses[read].empty()) {
      FailureOr<SmallVector<Value, 2>> terms =
          collectTerms(param, read, element);
      FailureOr<StateOp> state = declareGradient(param, read, element);
      if (failed(terms) || failed(state))
        return failure();
      writeGradient(param, *state, *terms);
      continue;
    }
    // PyTorch's optimizers also skip a parameter whose gradient is None.
    param.emitWarning() << "the loss has no gradient for parameter "
                        << FlatSymbolRefAttr::get(name)
                        << ": it is not trained";
    param.setTrainable(false);
  }
  builder.setInsertionPoint(program.getTerminator());
  Value flag =
      settings.accumulates ? program.findInput(names::kAccumulate) : Value();
  llvm::append_range(writes, presence.count(branches, builder, backward, flag));
  program.getTerminator().addWrites(writes);
  return success();
}

LogicalResult Differentiator::run() {
  if (failed(checkRegionsAreResolved(program)) || failed(collectParameters()))
    return failure();
  auto isTrained = [&](StringAttr name) { return params.contains(name); };
  active = findActive(program, isTrained);
  lowCopies = findLowCopies(program, isTrained);
  for (Operation &op : program.getBody().front().without_terminator())
    forward.push_back(&op);
  if (failed(seed()))
    return failure();
  for (Operation *op : llvm::reverse(forward))
    if (failed(differentiate(op)))
      return failure();
  if (failed(writeGradients()))
    return failure();
  backward.eraseDead();
  return success();
}

DenseSet<Value> weft::findActive(ProgramOp program,
                                 function_ref<bool(StringAttr)> isTrained) {
  DenseSet<Value> active;
  for (Operation &op : program.getBody().front().without_terminator()) {
    auto read = dyn_cast<ReadOp>(op);
    bool reached = read ? isTrained(read.getSourceAttr().getAttr())
                        : llvm::any_of(op.getOperands(), [&](Value operand) {
                            return active.contains(operand);
                          });
    if (!reached)
      continue;
    for (Value result : op.getResults())
      if (isa<FloatType>(
              cast<RankedTensorType>(result.getType()).getElementType()))
        active.insert(result);
  }
  return active;
}
