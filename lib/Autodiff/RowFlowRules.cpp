//===- RowFlowRules.cpp - The row dependence of each op -------------------===//

#include "RowFlows.h"

using namespace mlir;

namespace weft {
namespace {

using Flows = ArrayRef<RowFlow>;

int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

bool areFixed(Flows flows) {
  return llvm::all_of(flows, [](const RowFlow &f) { return f.isFixed(); });
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// Shapes broadcast as in NumPy. A fixed operand must be the same for all rows.
RowFlow flowElementwise(Operation *op, Flows flows) {
  const int64_t rank = rankOf(op->getResult(0));
  int64_t dim = -1;
  uint64_t varies = 0;
  for (auto [operand, flow] : llvm::zip_equal(op->getOperands(), flows)) {
    const int64_t shift = rank - rankOf(operand);
    if (flow.isFixed())
      varies |= flow.varies << shift;
    if (flow.isUnknown() || flow.isMean())
      return RowFlow::unknown();
    if (!flow.isRows())
      continue;
    const int64_t own = flow.dim + shift;
    if ((dim >= 0 && dim != own) ||
        getShape(operand)[flow.dim] != getShape(op->getResult(0))[own])
      return RowFlow::unknown();
    dim = own;
  }
  if (dim < 0)
    return RowFlow::fixed(varies);
  return varies >> dim & 1 ? RowFlow::unknown() : RowFlow::rows(dim);
}

/// Of ops that are linear in the operands whose bits `linear` has, together: a
/// mean stays one if the others are fixed.
RowFlow flowLinear(Operation *op, Flows flows, unsigned linear) {
  bool isMean = false;
  for (auto [i, flow] : llvm::enumerate(flows)) {
    isMean |= flow.isMean();
    if (flow.isMean() && !(linear >> i & 1))
      return RowFlow::unknown();
    if (flow.isRows() || flow.isUnknown())
      return flowElementwise(op, flows);
  }
  return isMean ? RowFlow::mean() : flowElementwise(op, flows);
}

RowFlow flowSum(Operation *op, Flows flows) { return flowLinear(op, flows, 3); }

RowFlow flowProduct(Operation *op, Flows flows) {
  return flows[0].isMean() && flows[1].isMean() ? RowFlow::unknown()
                                                : flowLinear(op, flows, 3);
}

RowFlow flowFirst(Operation *op, Flows flows) {
  return flowLinear(op, flows, 1);
}

/// A mean that is rounded to an integer is a mean no more.
RowFlow flowCast(Operation *op, Flows flows) {
  const bool isLinear =
      isa<FloatType>(getElementTypeOrSelf(op->getOperand(0))) &&
      isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  return flowLinear(op, flows, isLinear);
}

/// The condition is fixed where a mean is chosen.
RowFlow flowSelect(Operation *op, Flows flows) {
  return flowLinear(op, flows, 6);
}

/// Random numbers depend on the row of the run and the element.
RowFlow flowDropout(Operation *op, Flows flows) {
  return flows[0].isRows() ? flows[0] : RowFlow::unknown();
}

/// One of both operands for the whole batch.
RowFlow flowLayerDrop(Operation *op, Flows flows) {
  const bool areRows = flows[0].isRows() && flows[1].isRows();
  return areRows && flows[0].dim == flows[1].dim ? flows[0]
                                                 : RowFlow::unknown();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t sizeBefore(ArrayRef<int64_t> shape, int64_t dim) {
  int64_t size = 1;
  for (int64_t d = 0; d < dim; ++d)
    size *= shape[d];
  return size;
}

/// The row dimension of the result has the same number of entries before it,
/// and a multiple of `batch` entries.
RowFlow flowReshape(Operation *op, Flows flows, int64_t batch) {
  if (!flows[0].isRows())
    return flows[0].isFixed() ? RowFlow::fixed(getVaryingDims(op->getResult(0)))
                              : flows[0];
  ArrayRef<int64_t> from = getShape(op->getOperand(0)),
                    to = getShape(op->getResult(0));
  const int64_t before = sizeBefore(from, flows[0].dim);
  for (int64_t d = 0; d < int64_t(to.size()); ++d)
    if (sizeBefore(to, d) == before && to[d] % batch == 0 &&
        (to[d] > 1 || batch == 1))
      return RowFlow::rows(d);
  return RowFlow::unknown();
}

RowFlow flowTranspose(Operation *op, Flows flows) {
  ArrayRef<int64_t> permutation = cast<TransposeOp>(op).getPermutation();
  if (flows[0].isFixed())
    return RowFlow::fixed(getVaryingDims(op->getResult(0)));
  if (!flows[0].isRows())
    return flows[0];
  return RowFlow::rows(llvm::find(permutation, flows[0].dim) -
                       permutation.begin());
}

RowFlow flowBroadcast(Operation *op, Flows flows) {
  const int64_t shift = rankOf(op->getResult(0)) - rankOf(op->getOperand(0));
  if (flows[0].isFixed())
    return RowFlow::fixed(flows[0].varies << shift);
  if (!flows[0].isRows())
    return flows[0];
  const int64_t dim = flows[0].dim + shift;
  return getShape(op->getResult(0))[dim] ==
                 getShape(op->getOperand(0))[flows[0].dim]
             ? RowFlow::rows(dim)
             : RowFlow::unknown();
}

/// Of slices and pads: all rows, or another value.
RowFlow flowPart(Operation *op, Flows flows) {
  if (flows[0].isFixed())
    return RowFlow::fixed(getVaryingDims(op->getResult(0)));
  if (!flows[0].isRows())
    return flows[0];
  return getShape(op->getResult(0))[flows[0].dim] ==
                 getShape(op->getOperand(0))[flows[0].dim]
             ? flows[0]
             : RowFlow::unknown();
}

RowFlow flowConcat(Operation *op, Flows flows) {
  const int64_t along = cast<ConcatOp>(op).getDim();
  if (areFixed(flows))
    return RowFlow::fixed(getVaryingDims(op->getResult(0)));
  int64_t dim = -1;
  for (const RowFlow &flow : flows)
    if (flow.isRows())
      dim = flow.dim;
  for (const RowFlow &flow : flows) {
    const bool fits = flow.isFixed() ? dim >= 0 && !flow.variesAlong(dim)
                                     : flow.isRows() && flow.dim == dim;
    if (!fits || dim == along)
      return RowFlow::unknown();
  }
  return RowFlow::rows(dim);
}

RowFlow flowReduce(Operation *op, Flows flows) {
  auto reduce = cast<ReduceOp>(op);
  ArrayRef<int64_t> dims = reduce.getDims();
  const bool isLinear = reduce.getKind() == ReduceKind::Sum ||
                        reduce.getKind() == ReduceKind::Mean;
  if (flows[0].isFixed())
    return RowFlow::fixed(getVaryingDims(op->getResult(0)));
  if (flows[0].isMean())
    return isLinear ? RowFlow::mean() : RowFlow::unknown();
  if (!flows[0].isRows())
    return flows[0];
  if (llvm::is_contained(dims, flows[0].dim))
    return reduce.getKind() == ReduceKind::Mean ? RowFlow::mean()
                                                : RowFlow::unknown();
  const int64_t gone =
      reduce.getKeepDims()
          ? 0
          : llvm::count_if(dims, [&](int64_t d) { return d < flows[0].dim; });
  return RowFlow::rows(flows[0].dim - gone);
}

//===----------------------------------------------------------------------===//
// Products and layers
//===----------------------------------------------------------------------===//

/// Where dimension `dim` of a factor is in the product; -1 if it is summed
/// over.
int64_t productDim(Value factor, int64_t dim, bool transposed, bool isLhs,
                   int64_t rank) {
  const int64_t own = rankOf(factor), fromEnd = own - 1 - dim;
  if (fromEnd > 1)
    return dim;
  const bool isSummed = (fromEnd == (transposed ? 1 : 0)) == isLhs;
  if (isSummed)
    return -1;
  return isLhs ? rank - 2 : rank - 1;
}

RowFlow flowMatmul(Operation *op, Flows flows) {
  auto matmul = cast<MatmulOp>(op);
  const int64_t rank = rankOf(matmul.getResult());
  int64_t dim = -1;
  for (unsigned i = 0; i < 2; ++i) {
    if (!flows[i].isRows())
      continue;
    const bool transposed =
        i == 0 ? matmul.getTransposeLhs() : matmul.getTransposeRhs();
    const int64_t own = productDim(op->getOperand(i), flows[i].dim, transposed,
                                   /*isLhs=*/i == 0, rank);
    if (own < 0 || (dim >= 0 && dim != own))
      return RowFlow::unknown();
    dim = own;
  }
  if (areFixed(flows))
    return RowFlow::fixed(getVaryingDims(op->getResult(0)));
  // Both factors have rows, or the other one is the same for all of them.
  for (unsigned i = 0; i < flows.size(); ++i) {
    const bool isBatch =
        dim >= 0 && dim < rank - 2 && i < 2 && rankOf(op->getOperand(i)) > 2;
    if (flows[i].isFixed() && isBatch && flows[i].variesAlong(dim))
      return RowFlow::unknown();
    if (flows[i].isMean() || flows[i].isUnknown())
      return RowFlow::unknown();
  }
  // The bias lies along the last dimension.
  if (matmul.getBias() && (dim == rank - 1 || !flows.back().isFixed()))
    return RowFlow::unknown();
  return RowFlow::rows(dim);
}

RowFlow flowEmbedding(Operation *op, Flows flows) {
  if (areFixed(flows))
    return RowFlow::fixed(getVaryingDims(op->getResult(0)));
  return flows[0].isFixed() && flows[1].isRows() ? flows[1]
                                                 : RowFlow::unknown();
}

/// [B, ...]: batches do not meet. Random numbers, if any, are of rows.
/// Documents are of rows or the same for all.
RowFlow flowAttention(Operation *op, Flows flows) {
  auto isPerRow = [](const RowFlow &f) { return f.isRows() && f.dim == 0; };
  bool areRows = llvm::all_of(flows.take_front(3), isPerRow);
  if (cast<AttentionOp>(op).getSegments()) {
    const RowFlow &segments = flows.back();
    areRows &=
        isPerRow(segments) || (segments.isFixed() && !(segments.varies & 1));
  }
  return areRows ? RowFlow::rows(0) : RowFlow::unknown();
}

RowFlow flowRope(Operation *op, Flows flows) {
  const bool fits =
      flows[0].isRows() && flows[0].dim == 0 && areFixed(flows.drop_front());
  return fits ? flows[0] : RowFlow::unknown();
}

/// Rows are not in the last dimension, over which it is computed.
RowFlow flowNorm(Operation *op, Flows flows) {
  const int64_t last = rankOf(op->getOperand(0)) - 1;
  if (areFixed(flows))
    return RowFlow::fixed(getVaryingDims(op->getResult(0)));
  const bool fits =
      flows[0].isRows() && flows[0].dim != last && areFixed(flows.drop_front());
  return fits ? flows[0] : RowFlow::unknown();
}

template <typename OpT> RowFlow flowSoftmax(Operation *op, Flows flows) {
  if (flows[0].isRows() && flows[0].dim == cast<OpT>(op).getAxis())
    return RowFlow::unknown();
  return flowElementwise(op, flows);
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

template <typename OpT> RowFlow flowPairLoss(Operation *op, Flows flows) {
  if (cast<OpT>(op).getReduction() != LossReduction::Mean)
    return RowFlow::unknown();
  int64_t dim = -1;
  for (const RowFlow &flow : flows)
    if (flow.isRows())
      dim = flow.dim;
  const bool fits = llvm::all_of(flows, [&](const RowFlow &flow) {
    return flow.isFixed() ? dim >= 0 && !flow.variesAlong(dim)
                          : flow.isRows() && flow.dim == dim;
  });
  return fits ? RowFlow::mean() : RowFlow::unknown();
}

/// With ignored targets or class weights the denominator counts the whole step,
/// so the result is a mean in that case, too.
template <typename OpT> RowFlow flowTargetLoss(Operation *op, Flows flows) {
  auto loss = cast<OpT>(op);
  const int64_t last = rankOf(loss.getLogits()) - 1;
  const RowFlow &logits = flows[0], &targets = flows[1];
  const bool fits =
      loss.getReduction() == LossReduction::Mean && logits.isRows() &&
      logits.dim != last &&
      (targets.isFixed() ? !targets.variesAlong(logits.dim)
                         : targets.isRows() && targets.dim == logits.dim) &&
      areFixed(flows.drop_front(2));
  return fits ? RowFlow::mean() : RowFlow::unknown();
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

template <typename OpT, RowFlow (*flow)(Operation *, Flows)>
struct FlowModel
    : RowFlowOpInterface::ExternalModel<FlowModel<OpT, flow>, OpT> {
  RowFlow getRowFlow(Operation *op, Flows operands, int64_t) const {
    return flow(op, operands);
  }
};

struct ReshapeFlowModel
    : RowFlowOpInterface::ExternalModel<ReshapeFlowModel, ReshapeOp> {
  RowFlow getRowFlow(Operation *op, Flows operands, int64_t batch) const {
    return flowReshape(op, operands, batch);
  }
};

template <RowFlow (*flow)(Operation *, Flows), typename... OpTs>
void attach(MLIRContext *context) {
  (OpTs::template attachInterface<FlowModel<OpTs, flow>>(*context), ...);
}

} // namespace

void attachRowFlows(MLIRContext *context) {
  attach<flowElementwise, AbsOp, SignOp, ExpOp, LogOp, Log1pOp, SqrtOp, RsqrtOp,
         ReciprocalOp, TanhOp, ErfOp, SinOp, CosOp, SigmoidOp, ReluOp, SiluOp,
         SoftplusOp, GeluOp, MaxOp, MinOp, PowOp, CompareOp, AndOp, OrOp,
         NotOp>(context);
  attach<flowSum, AddOp, SubOp>(context);
  attach<flowProduct, MulOp>(context);
  attach<flowFirst, NegOp, DivOp>(context);
  attach<flowCast, CastOp>(context);
  attach<flowSelect, SelectOp>(context);
  attach<flowDropout, DropoutOp>(context);
  attach<flowLayerDrop, LayerDropOp>(context);
  attach<flowTranspose, TransposeOp>(context);
  attach<flowBroadcast, BroadcastOp>(context);
  attach<flowPart, SliceOp, PadOp>(context);
  attach<flowConcat, ConcatOp>(context);
  attach<flowReduce, ReduceOp>(context);
  attach<flowMatmul, MatmulOp>(context);
  attach<flowEmbedding, EmbeddingOp>(context);
  attach<flowAttention, AttentionOp>(context);
  attach<flowRope, RopeOp>(context);
  attach<flowNorm, LayerNormOp, RmsNormOp>(context);
  attach<flowSoftmax<SoftmaxOp>, SoftmaxOp>(context);
  attach<flowSoftmax<LogSoftmaxOp>, LogSoftmaxOp>(context);
  attach<flowPairLoss<MseOp>, MseOp>(context);
  attach<flowPairLoss<BceOp>, BceOp>(context);
  attach<flowPairLoss<BceWithLogitsOp>, BceWithLogitsOp>(context);
  attach<flowTargetLoss<CrossEntropyOp>, CrossEntropyOp>(context);
  attach<flowTargetLoss<AccuracyOp>, AccuracyOp>(context);
  ReshapeOp::attachInterface<ReshapeFlowModel>(*context);
}

} // namespace weft
