//===- Head.cpp - Find the product of logits and its readers --------------===//

#include "Head.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;

FailureOr<SmallVector<Operation *>> weft::findOpsBehind(Operation *place,
                                                        Value value) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == place->getBlock() && !op->isBeforeInBlock(place);
  };
  if (failed(getBackwardSlice(value, &slice, options)))
    return failure();
  SmallVector<Operation *> ops = slice.takeVector();
  llvm::sort(ops,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : ops)
    if (op == place || !isPure(op))
      return failure();
  return ops;
}

/// The value behind reshapes.
static Value skipAliases(Value value) {
  while (renames(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Whether equal ops compute two values, up to reshapes: one may have been
/// computed again for the backward pass.
static bool isSameValue(Value x, Value y) {
  SmallVector<std::pair<Value, Value>> work = {
      {skipAliases(x), skipAliases(y)}};
  llvm::DenseSet<std::pair<Value, Value>> visited;
  auto addOperands = [&](Value a, Value b) {
    work.push_back({a, b});
    return success();
  };
  while (!work.empty()) {
    auto [a, b] = work.pop_back_val();
    if (a == b || !visited.insert({a, b}).second)
      continue;
    auto resultA = dyn_cast<OpResult>(a), resultB = dyn_cast<OpResult>(b);
    if (!resultA || !resultB || !isPure(resultA.getOwner()) ||
        resultA.getResultNumber() != resultB.getResultNumber() ||
        !OperationEquivalence::isEquivalentTo(
            resultA.getOwner(), resultB.getOwner(), addOperands,
            /*markEquivalent=*/nullptr,
            OperationEquivalence::IgnoreLocations |
                OperationEquivalence::IgnoreDiscardableAttrs))
      return false;
  }
  return true;
}

namespace {

/// Collects the ops of a head. A failure leaves its reason.
class HeadFinder {
public:
  explicit HeadFinder(CrossEntropyOp loss) : loss(loss) {}

  FailureOr<Head> find();

private:
  bool findProduct();
  bool hasRows(Value value);
  bool findReaders(Value value, function_ref<bool(OpOperand &)> accept);
  bool addReader(OpOperand &use);
  bool addGradientReader(OpOperand &use);
  bool addToWeight(OpOperand &use, MatmulOp product);
  bool checkResults();
  bool checkResult(Value result, bool mayBeRead, StringRef text);
  bool findMoves();
  bool addMoves(Value value);
  void findAccumulation();
  bool fail(StringRef text) {
    if (reason.empty())
      reason = text;
    return false;
  }

  CrossEntropyOp loss;
  Head head;
  StringRef reason;
};

} // namespace

CrossEntropyOp Head::getLoss() {
  for (CountedMeanOpInterface each : losses)
    if (auto found = dyn_cast<CrossEntropyOp>(each.getOperation()))
      if (!adjoint || adjoint.getLse() == found.getLse())
        return found;
  return nullptr;
}

bool HeadFinder::findProduct() {
  head.product = skipAliases(loss.getLogits()).getDefiningOp<MatmulOp>();
  if (!head.product || head.product.getBias() ||
      head.product.getTransposeLhs() ||
      getShape(head.product.getRhs()).size() != 2)
    return fail("logits that are not a product of rows and a matrix");
  return true;
}

/// Whether a reshape of the logits, or of their gradient, has their rows.
bool HeadFinder::hasRows(Value value) {
  return getShape(value).back() == getShape(head.product.getResult()).back() ||
         fail("logits whose rows are reshaped");
}

/// Visits the readers of a value, through reshapes, and keeps these.
bool HeadFinder::findReaders(Value value,
                             function_ref<bool(OpOperand &)> accept) {
  SmallVector<Value> work = {value};
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses()) {
      if (renames(use.getOwner())) {
        head.between.push_back(use.getOwner());
        work.push_back(use.getOwner()->getResult(0));
      } else if (!accept(use)) {
        return false;
      }
    }
  return true;
}

bool HeadFinder::addReader(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<CrossEntropyOp, AccuracyOp>(op) && use.getOperandNumber() == 0) {
    if (!hasRows(use.get()))
      return false;
    head.losses.push_back(cast<CountedMeanOpInterface>(op));
    head.between.push_back(op);
    return true;
  }
  auto adjoint = dyn_cast<CrossEntropyGradOp>(op);
  if (!adjoint || head.adjoint || use.get() != adjoint.getLogits())
    return fail("logits that other ops read");
  if (!hasRows(use.get()))
    return false;
  head.adjoint = adjoint;
  head.between.push_back(op);
  return true;
}

bool HeadFinder::addToWeight(OpOperand &use, MatmulOp product) {
  head.gradientIsLeft = use.getOperandNumber() == 0;
  Value other = head.gradientIsLeft ? product.getRhs() : product.getLhs();
  if (head.toWeight || !product.getTransposeLhs() ||
      product.getTransposeRhs() || product.getBias() ||
      getShape(product.getResult()).size() != 2 ||
      !isSameValue(other, head.product.getLhs()) ||
      getShape(other).back() != getShape(head.product.getLhs()).back())
    return fail("a gradient of logits that other ops read");
  head.toWeight = product;
  return true;
}

bool HeadFinder::addGradientReader(OpOperand &use) {
  auto product = dyn_cast<MatmulOp>(use.getOwner());
  if (!product)
    return fail("a gradient of logits that other ops read");
  if (!hasRows(use.get()))
    return false;
  if (use.getOperandNumber() != 0 || product.getTransposeLhs())
    return addToWeight(use, product);
  if (head.toInput || product.getBias() ||
      getShape(product.getRhs()).size() != 2)
    return fail("a gradient of logits that other ops read");
  head.toInput = product;
  return true;
}

/// The op that adds the gradient of the weight to an accumulator that is known
/// in front of the losses.
void HeadFinder::findAccumulation() {
  if (!head.toWeight || !head.toWeight->hasOneUse())
    return;
  auto accumulate = dyn_cast<AccumulateOp>(*head.toWeight->user_begin());
  if (accumulate && accumulate.getValue() == head.toWeight.getResult() &&
      addMoves(accumulate.getOld()) && addMoves(accumulate.getAccumulate()))
    head.accumulate = accumulate;
}

/// Whether only the adjoint reads a result of the losses, if anything may.
bool HeadFinder::checkResult(Value result, bool mayBeRead, StringRef text) {
  bool isRead = llvm::any_of(result.getUsers(), [&](Operation *user) {
    return !mayBeRead || user != head.adjoint.getOperation();
  });
  return !isRead || fail(text);
}

/// A chunk has its own logarithms and divisor. A mean's divisor is computed
/// from the targets.
bool HeadFinder::checkResults() {
  CrossEntropyOp own = head.getLoss();
  if (!own || (head.adjoint && skipAliases(head.adjoint.getTargets()) !=
                                   skipAliases(own.getTargets())))
    return fail("a gradient of another loss");
  for (CountedMeanOpInterface each : head.losses) {
    auto loss = dyn_cast<CrossEntropyOp>(each.getOperation());
    if (!loss)
      continue;
    const bool mayBeRead = head.adjoint && loss == own;
    if (!checkResult(loss.getLse(), mayBeRead,
                     "a row's logarithm of sums that other ops read") ||
        (!each.isCountedMean() &&
         !checkResult(loss.getDenom(), mayBeRead,
                      "a divisor of a sum that other ops read")))
      return false;
  }
  return true;
}

/// Lets the ops that compute the value move in front of the losses, if they
/// can.
bool HeadFinder::addMoves(Value value) {
  Operation *place = head.losses.front();
  FailureOr<SmallVector<Operation *>> ops = findOpsBehind(place, value);
  if (failed(ops))
    return false;
  if (llvm::any_of(*ops, [&](Operation *op) {
        return llvm::is_contained(head.between, op);
      }))
    return false;
  for (Operation *op : *ops)
    if (!llvm::is_contained(head.before, op))
      head.before.push_back(op);
  llvm::sort(head.before,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  return true;
}

bool HeadFinder::findMoves() {
  llvm::sort(head.losses,
             [](CountedMeanOpInterface x, CountedMeanOpInterface y) {
               return x->isBeforeInBlock(y);
             });
  for (CountedMeanOpInterface each : head.losses) {
    auto loss = dyn_cast<CrossEntropyOp>(each.getOperation());
    if (!addMoves(each.getCountedTargets()) ||
        (loss && loss.getWeight() && !addMoves(loss.getWeight())))
      return fail("targets or weights that depend on a loss");
  }
  if (!head.adjoint)
    return true;
  if (!addMoves(head.adjoint.getGrad()))
    return fail("a gradient of the loss that is not known before it");
  CrossEntropyGradOp adjoint = head.adjoint;
  if (!llvm::is_contained(head.losses, adjoint.getDenom().getDefiningOp()) &&
      !addMoves(adjoint.getDenom()))
    return fail("a divisor that depends on a loss");
  if (adjoint.getWeight() && !addMoves(adjoint.getWeight()))
    return fail("targets or weights that depend on a loss");
  if (head.toInput && !addMoves(head.toInput.getRhs()))
    return fail("a matrix that is gathered again");
  findAccumulation();
  return true;
}

FailureOr<Head> HeadFinder::find() {
  bool isFound = findProduct() &&
                 findReaders(head.product.getResult(),
                             [&](OpOperand &use) { return addReader(use); }) &&
                 checkResults();
  if (isFound && head.adjoint)
    isFound = findReaders(head.adjoint.getResult(), [&](OpOperand &use) {
      return addGradientReader(use);
    });
  if (!isFound || !findMoves()) {
    loss.emitOpError("does not support ")
        << reason << " in chunks of rows yet; leave out --loss-chunks";
    return failure();
  }
  head.between.push_back(head.product);
  llvm::sort(head.between,
             [](Operation *x, Operation *y) { return y->isBeforeInBlock(x); });
  return head;
}

FailureOr<Head> Head::find(CrossEntropyOp loss) {
  return HeadFinder(loss).find();
}
