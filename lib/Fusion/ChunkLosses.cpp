//===- ChunkLosses.cpp - Logits for one chunk of rows at a time -----------===//
//
// The product of a head, its losses and their adjoints are cloned for each
// chunk of rows, one chunk after the other. So no two chunks of logits exist at
// once. Products add the chunks of the weight's gradient to each other.
//
//===----------------------------------------------------------------------===//

#include "Head.h"
#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

namespace weft {
#define GEN_PASS_DEF_CHUNKLOSSESPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// Clones a head for chunks of its rows, in front of its first loss.
class HeadChunker {
public:
  HeadChunker(Head found, int64_t chunks)
      : head(std::move(found)), chunks(chunks), b(head.losses.front()),
        loc(head.product.getLoc()), f(b, loc) {
    ArrayRef<int64_t> shape = getShape(head.product.getResult());
    rows = tensorSize(shape.drop_back());
  }

  void run();

private:
  static int64_t tensorSize(ArrayRef<int64_t> shape) {
    int64_t size = 1;
    for (int64_t each : shape)
      size *= each;
    return size;
  }

  void divideMeans();
  void prepare();
  void emitChunk(int64_t begin, int64_t end);
  Value emitLoss(unsigned number, Value logits, Value targets, Value &lse,
                 Value &denom);
  void emitAdjoint(Value x, Value logits, Value targets, Value lse,
                   Value denom);
  void addWeightGradient(Value x, Value gradient);
  void replace();

  Value sliceRows(Value value, int64_t begin, int64_t end);
  MatmulOp multiply(MatmulOp like, Value lhs, Value rhs, TypeAttr out);
  template <typename OpT> OpT scoped(Operation *from, OpT op) {
    copyScope(from, op);
    return op;
  }

  Head head;
  int64_t chunks, rows;
  OpBuilder b;
  Location loc;
  FormulaBuilder f;
  Value input;                        // its rows
  Value scale;                        // the gradient of the loss of a row
  Value one;                          // the flag to add to an accumulator
  SmallVector<Value> targets, totals; // of each loss
  SmallVector<Value> inputGradients;
  Value weightGradient;
};

struct ChunkLossesPass : weft::impl::ChunkLossesPassBase<ChunkLossesPass> {
  using ChunkLossesPassBase::ChunkLossesPassBase;

  void runOnOperation() override {
    if (chunks < 1) {
      getOperation().emitError("expects a positive number of chunks, but got ")
          << chunks.getValue();
      return signalPassFailure();
    }
    if (chunks == 1)
      return;
    chunked.clear();
    SmallVector<CrossEntropyOp> losses;
    for (auto program : getOperation().getOps<ProgramOp>())
      llvm::append_range(losses,
                         program.getBody().front().getOps<CrossEntropyOp>());
    if (losses.empty()) {
      getOperation().emitError(
          "expects a cross_entropy for --loss-chunks, but got none");
      return signalPassFailure();
    }
    for (CrossEntropyOp loss : losses)
      if (!chunked.contains(loss) && failed(chunk(loss)))
        return signalPassFailure();
  }

  LogicalResult chunk(CrossEntropyOp loss) {
    FailureOr<Head> head = Head::find(loss);
    if (failed(head))
      return failure();
    const int64_t rows =
        cast<ShapedType>(loss.getTargets().getType()).getNumElements();
    if (rows < chunks)
      return loss.emitOpError("expects at most ")
             << rows << " chunks (--loss-chunks), one for each row, but got "
             << chunks.getValue();
    chunked.insert_range(head->losses);
    HeadChunker(*head, chunks).run();
    ++numChunked;
    return success();
  }

  /// Losses of the heads so far, which are erased: several may read the same
  /// logits.
  llvm::DenseSet<Operation *> chunked;
};

} // namespace

/// Makes means sums, which are divided behind the chunks.
void HeadChunker::divideMeans() {
  for (CountedMeanOpInterface loss : head.losses) {
    if (!loss.isCountedMean())
      continue;
    b.setInsertionPoint(head.losses.front());
    Value denominator = loss.buildDenominator(b);
    if (auto entropy = dyn_cast<CrossEntropyOp>(loss.getOperation()))
      entropy.getDenom().replaceAllUsesWith(denominator);
    OpBuilder behind(loss);
    loss.divideBy(behind, denominator);
  }
  b.setInsertionPoint(head.losses.front());
}

/// Values that all chunks share.
void HeadChunker::prepare() {
  ArrayRef<int64_t> shape = getShape(head.product.getLhs());
  input = f.reshape(head.product.getLhs(), {rows, shape.back()});
  for (CountedMeanOpInterface loss : head.losses)
    targets.push_back(f.reshape(loss.getCountedTargets(), {rows}));
  totals.resize(head.losses.size());
  if (!head.adjoint)
    return;
  scale = head.adjoint.getGrad();
  if (head.adjoint.getDenom() != head.getLoss().getDenom())
    scale = scoped(head.adjoint,
                   DivOp::create(b, loc, scale, head.adjoint.getDenom()));
  auto flag = RankedTensorType::get({}, b.getF32Type());
  one = ConstantOp::create(
      b, loc, cast<ElementsAttr>(DenseElementsAttr::get(flag, 1.0f)));
}

Value HeadChunker::sliceRows(Value value, int64_t begin, int64_t end) {
  SmallVector<int64_t> sizes(getShape(value));
  SmallVector<int64_t> offsets(sizes.size(), 0), ones(sizes.size(), 1);
  offsets.front() = begin;
  sizes.front() = end - begin;
  auto type = cast<RankedTensorType>(value.getType()).clone(sizes);
  return SliceOp::create(b, loc, type, value, offsets, sizes, ones);
}

MatmulOp HeadChunker::multiply(MatmulOp like, Value lhs, Value rhs,
                               TypeAttr out) {
  auto product =
      MatmulOp::create(b, like.getLoc(), lhs, rhs, Value(),
                       like.getTransposeLhs(), like.getTransposeRhs(), out);
  return scoped(like, product);
}

/// The sum of a loss over a chunk; of a cross-entropy also `lse` and `denom`.
Value HeadChunker::emitLoss(unsigned number, Value logits, Value classes,
                            Value &lse, Value &denom) {
  Operation *op = head.losses[number];
  if (auto loss = dyn_cast<CrossEntropyOp>(op)) {
    auto part = scoped(op, CrossEntropyOp::create(
                               b, op->getLoc(), logits, classes,
                               loss.getWeight(), loss.getIgnoreIndex(),
                               loss.getLabelSmoothing(), LossReduction::Sum));
    lse = part.getLse();
    denom = part.getDenom();
    return part.getLoss();
  }
  auto accuracy = cast<AccuracyOp>(op);
  return scoped(op, AccuracyOp::create(b, op->getLoc(), logits, classes,
                                       accuracy.getIgnoreIndex(),
                                       LossReduction::Sum));
}

/// Adds a chunk to the gradient of the weight: to the accumulator, if the
/// gradient is only added there.
void HeadChunker::addWeightGradient(Value x, Value gradient) {
  MatmulOp like = head.toWeight;
  auto f32 = TypeAttr::get(b.getF32Type());
  const bool isLow =
      getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth() == 16;
  MatmulOp part = head.gradientIsLeft
                      ? multiply(like, gradient, x, isLow ? f32 : nullptr)
                      : multiply(like, x, gradient, isLow ? f32 : nullptr);
  if (weightGradient)
    weightGradient =
        scoped(like, AccumulateOp::create(b, loc, weightGradient, part, one));
  else if (head.accumulate)
    weightGradient =
        scoped(head.accumulate,
               AccumulateOp::create(b, loc, head.accumulate.getOld(), part,
                                    head.accumulate.getAccumulate()));
  else
    weightGradient = part;
}

void HeadChunker::emitAdjoint(Value x, Value logits, Value classes, Value lse,
                              Value denom) {
  CrossEntropyGradOp op = head.adjoint;
  Value gradient =
      scoped(op, CrossEntropyGradOp::create(
                     b, op.getLoc(), logits.getType(), scale, logits, classes,
                     lse, denom, op.getWeight(), op.getIgnoreIndex(),
                     op.getLabelSmoothing(), LossReduction::Sum));
  if (head.toWeight)
    addWeightGradient(x, gradient);
  if (head.toInput)
    inputGradients.push_back(multiply(head.toInput, gradient,
                                      head.toInput.getRhs(),
                                      head.toInput.getOutAttr()));
}

void HeadChunker::emitChunk(int64_t begin, int64_t end) {
  Value x = sliceRows(input, begin, end);
  Value logits = multiply(head.product, x, head.product.getRhs(),
                          head.product.getOutAttr());
  Value lse, denom, counted;
  for (unsigned i = 0; i < totals.size(); ++i) {
    Value classes = sliceRows(targets[i], begin, end);
    Value ownLse, ownDenom;
    Value part = emitLoss(i, logits, classes, ownLse, ownDenom);
    totals[i] = totals[i] ? scoped(head.losses[i],
                                   AddOp::create(b, loc, totals[i], part))
                          : part;
    if (head.losses[i] == head.getLoss().getOperation()) {
      lse = ownLse;
      denom = ownDenom;
      counted = classes;
    }
  }
  if (head.adjoint)
    emitAdjoint(x, logits, counted, lse, denom);
}

/// Gives the readers of the head the results of its chunks.
void HeadChunker::replace() {
  for (auto [loss, total] : llvm::zip_equal(head.losses, totals))
    loss->getResult(0).replaceAllUsesWith(total);
  SmallVector<Operation *> dead;
  if (head.toInput) {
    Value all = ConcatOp::create(b, loc, inputGradients, /*dim=*/0);
    copyScope(head.toInput, all.getDefiningOp());
    head.toInput.replaceAllUsesWith(
        f.reshape(all, getShape(head.toInput.getResult())));
    dead.push_back(head.toInput);
  }
  if (head.accumulate) {
    head.accumulate.replaceAllUsesWith(weightGradient);
    dead.push_back(head.accumulate);
  } else if (head.toWeight) {
    head.toWeight.replaceAllUsesWith(
        f.cast(weightGradient, getElementTypeOrSelf(head.toWeight.getType())));
  }
  if (head.toWeight)
    dead.push_back(head.toWeight);
  for (Operation *op : dead)
    op->erase();
  for (Operation *op : head.between)
    op->erase();
}

void HeadChunker::run() {
  for (Operation *op : head.before)
    op->moveBefore(head.losses.front());
  divideMeans();
  prepare();
  for (int64_t i = 0; i < chunks; ++i)
    emitChunk(rows * i / chunks, rows * (i + 1) / chunks);
  replace();
}
