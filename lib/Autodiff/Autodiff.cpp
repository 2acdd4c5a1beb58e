//===- Autodiff.cpp - Gradients of the micro program ----------------------===//

#include "Activity.h"
#include "GradientSums.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

#define DEBUG_TYPE "weft-autodiff"

namespace weft {
#define GEN_PASS_DEF_AUTODIFF
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// Gives each op that is built the scope and the location of the op whose
/// adjoint it belongs to, and remembers it.
class BackwardOps : public OpBuilder::Listener {
public:
  void follow(Location newLoc, StringRef newScope) {
    loc = FusedLoc::get(newLoc.getContext(), {newLoc},
                        StringAttr::get(newLoc.getContext(), kBackwardTag));
    scope = newScope;
  }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    op->setLoc(*loc);
    if (!scope.empty())
      op->setDiscardableAttr(WeftDialect::kScopeAttr,
                             StringAttr::get(op->getContext(), scope));
    ops.insert(op);
  }
  bool contains(Operation *op) const { return ops.contains(op); }
  size_t size() const { return ops.size(); }

  /// Erases what no one uses: pads that were joined.
  void eraseDead() {
    SmallVector<Operation *> built(ops.begin(), ops.end());
    for (Operation *op : llvm::reverse(built))
      if (isOpTriviallyDead(op)) {
        ops.remove(op);
        op->erase();
      }
  }

private:
  std::optional<Location> loc;
  StringRef scope;
  llvm::SetVector<Operation *> ops;
};

/// Differentiates one program.
class Differentiator {
public:
  Differentiator(ModuleOp module, ProgramOp program, StringRef breakRule)
      : module(module), program(program), breakRule(breakRule), symbols(module),
        builder(program.getTerminator(), &backward) {
    for (Operation &op : *module.getBody())
      if (isa<ParamOp, StateOp>(op))
        lastDeclaration = &op;
  }

  LogicalResult run();
  size_t numBackwardOps() const { return backward.size(); }
  /// Marks saved results and calls `visit` with each.
  void markSaved(llvm::function_ref<void(Value)> visit);

private:
  LogicalResult collectParameters();
  LogicalResult seed();
  LogicalResult differentiate(Operation *op);
  LogicalResult writeGradients();
  FailureOr<StateOp> declareState(ParamOp param);
  LogicalResult writeGradient(ParamOp param, ArrayRef<Value> terms);
  /// The first op after the forward part.
  Operation *firstBackward();

  ModuleOp module;
  ProgramOp program;
  StringRef breakRule;
  /// Symbols of the module before gradients are declared.
  SymbolTable symbols;
  Operation *lastDeclaration = nullptr;
  BackwardOps backward;
  OpBuilder builder;
  /// Trainable parameters by name, each with the first value read from it.
  llvm::MapVector<StringAttr, std::pair<ParamOp, Value>> params;
  /// Values with a gradient: they depend on a trainable parameter.
  DenseSet<Value> active;
  GradientSums sums;
  SmallVector<Operation *> forward;
};

LogicalResult Differentiator::collectParameters() {
  for (ParamOp param : module.getOps<ParamOp>())
    if (param.getTrainable() && !param.getTie())
      params[param.getSymNameAttr()] = {param, Value()};
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
    if (found != params.end() && !found->second.second)
      found->second.second = read.getResult();
  }
  return success();
}

LogicalResult Differentiator::seed() {
  for (StringRef name : {"loss_seed", "accumulate"})
    if (!program.findInput(name))
      return program.emitOpError("expects an input '")
             << name << "', but got none; run weft-derive-programs first";
  int index = program.findOutput("loss");
  if (index < 0)
    return program.emitOpError("expects an output 'loss', but got none");
  Value loss = program.getTerminator().getOutputs()[index];
  if (!active.contains(loss))
    return program.emitOpError("expects the loss to depend on a trainable "
                               "parameter, but it depends on none");
  Value start = program.findInput("loss_seed");
  if (start.getType() != loss.getType())
    return program.emitOpError("expects 'loss_seed' to have the type of the "
                               "loss, ")
           << loss.getType() << ", but got " << start.getType();
  sums.add(loss, start);
  return success();
}

/// Asks `op` for its adjoint if a gradient reaches it and is wanted.
LogicalResult Differentiator::differentiate(Operation *op) {
  if (isa<ReadOp>(op))
    return success();
  SmallVector<bool> needed = llvm::map_to_vector(
      op->getOperands(), [&](Value v) { return active.contains(v); });
  if (!llvm::is_contained(needed, true))
    return success();
  backward.follow(op->getLoc(), getScope(op));
  SmallVector<Value> resultGrads;
  for (Value result : op->getResults())
    resultGrads.push_back(sums.take(result, builder, op->getLoc()));
  if (llvm::none_of(resultGrads, [](Value v) { return bool(v); }))
    return success();

  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError("expects an op with an adjoint, but got a gradient "
                           "for an op without one");
  SmallVector<Value> grads(op->getNumOperands());
  if (failed(differentiable.buildAdjoint(builder, resultGrads, needed, grads)))
    return failure();
  if (op->getName().getStringRef() == breakRule)
    for (Value &grad : grads)
      if (grad) {
        grad = NegOp::create(builder, op->getLoc(), grad);
        break;
      }
  for (auto [operand, grad] : llvm::zip_equal(op->getOperands(), grads)) {
    if (!grad)
      continue;
    // All reads of a parameter are one value.
    Value target = operand;
    if (auto read = operand.getDefiningOp<ReadOp>())
      target = params[read.getSourceAttr().getAttr()].second;
    sums.add(target, grad);
  }
  return success();
}

Operation *Differentiator::firstBackward() {
  return forward.back()->getNextNode();
}

/// 1 in the type of `like`.
ElementsAttr one(Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  return cast<ElementsAttr>(DenseElementsAttr::get(type, 1.0f));
}

/// Declares the state that accumulates the gradient of `param`.
FailureOr<StateOp> Differentiator::declareState(ParamOp param) {
  std::string name = (param.getSymName() + ".grad").str();
  if (Operation *other = symbols.lookup(name)) {
    InFlightDiagnostic error =
        param.emitOpError("expects the symbol @")
        << name << " to be free for its gradient, but it is taken";
    error.attachNote(other->getLoc()) << "taken here";
    return error;
  }
  OpBuilder stateBuilder(module.getContext());
  stateBuilder.setInsertionPointAfter(lastDeclaration);
  auto state = StateOp::create(stateBuilder, param.getLoc(), name,
                               param.getTensorType(), StateKind::Gradient,
                               FlatSymbolRefAttr::get(param.getSymNameAttr()));
  lastDeclaration = state;
  return state;
}

/// Accumulates the gradients `terms` of `param` one by one, each as soon as it
/// is there: no sum of the parameter's size stands beside the state.
LogicalResult Differentiator::writeGradient(ParamOp param,
                                            ArrayRef<Value> terms) {
  FailureOr<StateOp> state = declareState(param);
  if (failed(state))
    return failure();
  StringRef name = state->getSymName();
  backward.follow(param.getLoc(), param.getScope().value_or(""));
  Location loc = param.getLoc();
  Value flag = program.findInput("accumulate"), sum;
  Operation *previous = nullptr;
  for (Value term : terms) {
    Operation *ready = term.getDefiningOp();
    if (!ready || (previous && ready->isBeforeInBlock(previous)))
      ready = previous;
    if (ready)
      builder.setInsertionPointAfter(ready);
    else
      builder.setInsertionPoint(firstBackward());
    if (sum)
      flag = ConstantOp::create(builder, loc, one(flag));
    else
      sum = ReadOp::create(builder, loc, param.getTensorType(), name);
    sum = AccumulateOp::create(builder, loc, sum, term, flag);
    previous = sum.getDefiningOp();
  }
  program.getTerminator().addWrite(name, sum);
  return success();
}

LogicalResult Differentiator::writeGradients() {
  for (auto &[name, entry] : params) {
    auto [param, read] = entry;
    SmallVector<Value, 2> terms;
    backward.follow(param.getLoc(), param.getScope().value_or(""));
    builder.setInsertionPoint(program.getTerminator());
    if (read)
      terms = sums.takeTerms(read, builder, param.getLoc());
    if (!terms.empty()) {
      if (failed(writeGradient(param, terms)))
        return failure();
      continue;
    }
    // As an optimizer of PyTorch does with a gradient that is None.
    param.emitWarning() << "the loss has no gradient for parameter "
                        << FlatSymbolRefAttr::get(name)
                        << ": it is not trained";
    param.setTrainable(false);
  }
  return success();
}

LogicalResult Differentiator::run() {
  if (failed(collectParameters()))
    return failure();
  active = findActive(program,
                      [&](StringAttr name) { return params.contains(name); });
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

/// The value whose elements `value` has: looks through reshapes.
Value storageOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

void Differentiator::markSaved(llvm::function_ref<void(Value)> visit) {
  auto isBackward = [&](Operation *user) { return backward.contains(user); };
  DenseSet<Value> saved;
  for (Operation *op : forward)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), isBackward))
        saved.insert(storageOf(result));
  for (Operation *op : forward) {
    if (isa<ReadOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      continue;
    SmallVector<int64_t> numbers;
    for (OpResult result : op->getResults())
      if (saved.contains(result)) {
        numbers.push_back(result.getResultNumber());
        visit(result);
      }
    if (!numbers.empty())
      op->setDiscardableAttr(kSavedAttr,
                             DenseI64ArrayAttr::get(op->getContext(), numbers));
  }
}

struct Autodiff : weft::impl::AutodiffBase<Autodiff> {
  using AutodiffBase::AutodiffBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ProgramOp micro;
    for (auto program : module.getOps<ProgramOp>())
      if (program.getKind() == ProgramKind::Micro)
        micro = program;
    if (!micro) {
      module.emitError("expects a program of kind micro, but got none; run "
                       "weft-derive-programs first");
      return signalPassFailure();
    }
    Differentiator differentiator(module, micro, breakRule);
    if (failed(differentiator.run()))
      return signalPassFailure();
    int64_t ops = differentiator.numBackwardOps(), values = 0, bytes = 0;
    differentiator.markSaved([&](Value value) {
      auto type = cast<RankedTensorType>(value.getType());
      ++values;
      bytes += type.getNumElements() *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    });
    numBackwardOps += ops;
    numSaved += values;
    savedBytes += bytes;
    if (report)
      micro.emitRemark() << ops << " backward ops read " << values
                         << " saved forward values of " << bytes << " bytes";
  }
};

} // namespace
