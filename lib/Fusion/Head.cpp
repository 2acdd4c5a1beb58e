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

namespace {

/// Collects the ops of a head. A failure leaves its reason.
class HeadFinder {
public:
  explicit HeadFinder(CrossEntropyOp loss) : loss(loss) {}

  FailureOr<Head> find();

private:
  bool findProduct();
  bool findReaders(Value value, function_ref<bool(OpOperand &)> accept);
  bool addReader(OpOperand &use);
  bool addGradientReader(OpOperand &use);
  bool addToWeight(OpOperand &use, MatmulOp product);
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
    head.losses.push_back(cast<CountedMeanOpInterface>(op));
    head.between.push_back(op);
    return true;
  }
  auto adjoint = dyn_cast<CrossEntropyGradOp>(op);
  if (!adjoint || head.adjoint || use.get() != adjoint.getLogits())
    return fail("logits that other ops read");
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
      skipAliases(other) != skipAliases(head.product.getLhs()))
    return fail("a gradient of logits that other ops read");
  head.toWeight = product;
  return true;
}

bool HeadFinder::addGradientReader(OpOperand &use) {
  auto product = dyn_cast<MatmulOp>(use.getOwner());
  if (!product)
    return fail("a gradient of logits that other ops read");
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

/// Lets the ops that compute the value move in front of the losses, if they
/// can.
bool HeadFinder::addMoves(Value value) {
  Operation *place = head.losses.front();
  FailureOr<SmallVector<Operation *>> ops = findOpsBehind(place, value);
  if (failed(ops))
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
  Operation *place = head.losses.front();
  for (CountedMeanOpInterface each : head.losses)
    if (Operation *op = each.getCountedTargets().getDefiningOp();
        op && !op->isBeforeInBlock(place) && !addMoves(op->getResult(0)))
      return fail("targets that depend on a loss");
  if (!head.adjoint)
    return true;
  if (!addMoves(head.adjoint.getGrad()))
    return fail("a gradient of the loss that is not known before it");
  if (head.toInput && !addMoves(head.toInput.getRhs()))
    return fail("a matrix that is gathered again");
  findAccumulation();
  return true;
}

FailureOr<Head> HeadFinder::find() {
  bool isFound = findProduct() &&
                 findReaders(head.product.getResult(),
                             [&](OpOperand &use) { return addReader(use); });
  if (isFound && head.adjoint) {
    isFound = head.getLoss() && head.getLoss().getLse().hasOneUse()
                  ? findReaders(
                        head.adjoint.getResult(),
                        [&](OpOperand &use) { return addGradientReader(use); })
                  : fail("a row's logarithm of sums that other ops read");
  }
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
