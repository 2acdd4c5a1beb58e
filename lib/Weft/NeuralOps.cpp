//===- NeuralOps.cpp - Layers ----------------------------------------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

namespace {
/// Batch dimensions and the M, N, K of a product; see the op's description.
struct MatmulShape {
  SmallVector<int64_t> batch;
  int64_t m, n, k, rhsK;
  bool batchesAgree;
};
} // namespace

static std::optional<MatmulShape> matmulShape(RankedTensorType lhs,
                                              RankedTensorType rhs,
                                              bool transposeLhs,
                                              bool transposeRhs) {
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return std::nullopt;
  ArrayRef<int64_t> l = lhs.getShape(), r = rhs.getShape();
  MatmulShape shape;
  shape.m = l[l.size() - (transposeLhs ? 1 : 2)];
  shape.k = l[l.size() - (transposeLhs ? 2 : 1)];
  shape.rhsK = r[r.size() - (transposeRhs ? 1 : 2)];
  shape.n = r[r.size() - (transposeRhs ? 2 : 1)];
  ArrayRef<int64_t> lhsBatch = l.drop_back(2), rhsBatch = r.drop_back(2);
  shape.batchesAgree =
      lhsBatch == rhsBatch || lhsBatch.empty() || rhsBatch.empty();
  shape.batch.assign(lhsBatch.empty() ? rhsBatch.begin() : lhsBatch.begin(),
                     lhsBatch.empty() ? rhsBatch.end() : lhsBatch.end());
  return shape;
}

LogicalResult
MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                           ValueRange operands, DictionaryAttr attributes,
                           OpaqueProperties properties, RegionRange regions,
                           SmallVectorImpl<Type> &results) {
  if (failed(checkOperands(loc, operands)))
    return failure();
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType lhs = tensorType(adaptor.getLhs());
  bool transposeLhs =
      hasUnit(adaptor.getTransposeLhs(), attributes, "transpose_lhs");
  bool transposeRhs =
      hasUnit(adaptor.getTransposeRhs(), attributes, "transpose_rhs");
  std::optional<MatmulShape> shape = matmulShape(
      lhs, tensorType(adaptor.getRhs()), transposeLhs, transposeRhs);
  if (!shape)
    return emitOptionalError(loc,
                             "expects operands of rank 2 or more, but got ",
                             lhs, " and ", adaptor.getRhs().getType());
  if (shape->k != shape->rhsK || !shape->batchesAgree)
    return emitOptionalError(
        loc, "expects matching inner and batch dimensions, but got ", lhs,
        transposeLhs ? " transposed" : "", " and ", adaptor.getRhs().getType(),
        transposeRhs ? " transposed" : "");
  SmallVector<int64_t> dims(shape->batch);
  dims.append({shape->m, shape->n});
  results.push_back(RankedTensorType::get(dims, lhs.getElementType()));
  return success();
}

double MatmulOp::getFlops() {
  MatmulShape shape = *matmulShape(tensorType(getLhs()), tensorType(getRhs()),
                                   getTransposeLhs(), getTransposeRhs());
  double flops = 2.0 * shape.m * shape.n * shape.k;
  for (int64_t dim : shape.batch)
    flops *= static_cast<double>(dim);
  return flops;
}

//===----------------------------------------------------------------------===//
// embedding
//===----------------------------------------------------------------------===//

LogicalResult
EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange regions,
                              SmallVectorImpl<Type> &results) {
  if (failed(checkOperands(loc, operands)))
    return failure();
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType table = tensorType(adaptor.getTable());
  if (table.getRank() != 2)
    return emitOptionalError(loc, "expects a table of rank 2, but got ", table);
  SmallVector<int64_t> shape(tensorType(adaptor.getIds()).getShape());
  shape.push_back(table.getDimSize(1));
  results.push_back(RankedTensorType::get(shape, table.getElementType()));
  return success();
}

LogicalResult EmbeddingGradOp::verify() {
  RankedTensorType grad = tensorType(getGrad()),
                   table = tensorType(getResult());
  SmallVector<int64_t> shape(tensorType(getIds()).getShape());
  if (table.getRank() != 2)
    return emitOpError("expects a result of rank 2, but got ") << table;
  shape.push_back(table.getDimSize(1));
  if (grad.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError("expects a gradient of shape [")
           << ArrayRef<int64_t>(shape) << "], but got " << grad;
  return success();
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

/// Checks query [B,T,H,D] against key and value [B,S,G,D].
static LogicalResult verifyAttentionShapes(Operation *op,
                                           RankedTensorType query,
                                           RankedTensorType key,
                                           RankedTensorType value) {
  if (query.getRank() != 4 || key.getRank() != 4)
    return op->emitOpError("expects query and key of rank 4 [batch, time, "
                           "heads, width], but got ")
           << query << " and " << key;
  if (key != value)
    return op->emitOpError("expects key and value of one type, but got ")
           << key << " and " << value;
  ArrayRef<int64_t> q = query.getShape(), k = key.getShape();
  if (q[0] != k[0] || q[3] != k[3])
    return op->emitOpError("expects equal batch and width, but got ")
           << query << " and " << key;
  if (k[2] == 0 || q[2] % k[2] != 0)
    return op->emitOpError("expects query heads to be a multiple of key heads, "
                           "but got ")
           << q[2] << " and " << k[2];
  if (query.getElementType() != key.getElementType())
    return op->emitOpError("expects one element type, but got ")
           << query << " and " << key;
  return success();
}

static LogicalResult verifyRandom(Operation *op, Value rng, double p) {
  if (!(p >= 0.0 && p < 1.0))
    return op->emitOpError("expects a dropout probability in [0, 1), but got ")
           << p;
  if (!rng)
    return success();
  RankedTensorType type = tensorType(rng);
  if (type.getRank() == 1 && type.getDimSize(0) == 2 &&
      type.getElementType().isInteger(64))
    return success();
  return op->emitOpError("expects rng of type tensor<2xi64>, but got ") << type;
}

/// What attention and its adjoint share beside the shapes.
template <typename OpT> static LogicalResult verifyAttentionNumbers(OpT op) {
  int64_t queries = tensorType(op.getQuery()).getDimSize(1);
  int64_t keys = tensorType(op.getKey()).getDimSize(1);
  if (op.getCausal() && keys < queries)
    return op.emitOpError("expects at least as many keys as queries when "
                          "causal, but got ")
           << keys << " and " << queries;
  double scale = op.getScale().convertToDouble();
  if (!std::isfinite(scale))
    return op.emitOpError("expects a finite scale, but got ") << scale;
  return verifyRandom(op, op.getRng(), op.getDropout().convertToDouble());
}

/// Type of `lse` for a query [B,T,H,D]: [B,H,T].
static RankedTensorType lseType(RankedTensorType query) {
  ArrayRef<int64_t> q = query.getShape();
  return RankedTensorType::get({q[0], q[2], q[1]},
                               statisticsElement(query.getElementType()));
}

LogicalResult
AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                              ValueRange operands, DictionaryAttr attributes,
                              OpaqueProperties properties, RegionRange regions,
                              SmallVectorImpl<Type> &results) {
  if (failed(checkOperands(loc, operands)))
    return failure();
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType query = tensorType(adaptor.getQuery());
  if (query.getRank() != 4)
    return emitOptionalError(loc,
                             "expects a query of rank 4 [batch, time, "
                             "heads, width], but got ",
                             query);
  results.assign({query, lseType(query)});
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyAttentionShapes(*this, tensorType(getQuery()),
                                   tensorType(getKey()),
                                   tensorType(getValue()))))
    return failure();
  return verifyAttentionNumbers(*this);
}

/// Multiply-adds of one product over all query-key pairs that are seen.
static double attentionProductFlops(RankedTensorType query,
                                    RankedTensorType key, bool causal) {
  ArrayRef<int64_t> q = query.getShape();
  double pairs = static_cast<double>(q[1]) * key.getDimSize(1);
  if (causal)
    pairs -= static_cast<double>(q[1]) * (q[1] - 1) / 2;
  return 2.0 * q[0] * q[2] * q[3] * pairs;
}

double AttentionOp::getFlops() {
  return 2 * attentionProductFlops(tensorType(getQuery()), tensorType(getKey()),
                                   getCausal());
}

LogicalResult AttentionGradOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> loc, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &results) {
  if (failed(checkOperands(loc, operands)))
    return failure();
  Adaptor adaptor(operands, attributes, properties, regions);
  results.push_back(adaptor.getQuery().getType());
  results.push_back(adaptor.getKey().getType());
  results.push_back(adaptor.getValue().getType());
  return success();
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyAttentionShapes(*this, tensorType(getQuery()),
                                   tensorType(getKey()),
                                   tensorType(getValue()))))
    return failure();
  RankedTensorType query = tensorType(getQuery());
  for (Value like : {getGrad(), getOut()})
    if (like.getType() != query)
      return emitOpError("expects grad and out of the type of query, ")
             << query << ", but got " << like.getType();
  if (getLse().getType() != lseType(query))
    return emitOpError("expects lse of type ")
           << lseType(query) << ", but got " << getLse().getType();
  return verifyAttentionNumbers(*this);
}

double AttentionGradOp::getFlops() {
  return 5 * attentionProductFlops(tensorType(getQuery()), tensorType(getKey()),
                                   getCausal());
}

LogicalResult RopeOp::verify() {
  RankedTensorType type = tensorType(getOperand());
  if (type.getRank() != 4 || type.getDimSize(3) % 2 != 0)
    return emitOpError("expects an operand [batch, time, heads, width] of even "
                       "width, but got ")
           << type;
  SmallVector<int64_t> expected = {type.getDimSize(1), type.getDimSize(3) / 2};
  for (Value table : {getCos(), getSin()})
    if (tensorType(table).getShape() != ArrayRef<int64_t>(expected))
      return emitOpError("expects tables of shape [")
             << ArrayRef<int64_t>(expected) << "], but got " << table.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// softmax, norms, dropout
//===----------------------------------------------------------------------===//

template <typename OpT> static LogicalResult verifySoftmax(OpT op) {
  RankedTensorType type = tensorType(op.getOperand());
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return op.emitOpError("expects a dim of ")
           << type << ", but got " << static_cast<int64_t>(op.getDim());
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifySoftmax(*this); }
LogicalResult LogSoftmaxOp::verify() { return verifySoftmax(*this); }

/// Checks a norm's weight (and bias) [C] against an operand [..., C].
static LogicalResult verifyNorm(Operation *op, RankedTensorType type,
                                ValueRange vectors, double eps) {
  if (type.getRank() < 1)
    return op->emitOpError("expects an operand of rank 1 or more, but got ")
           << type;
  for (Value vector : vectors)
    if (tensorType(vector).getShape() != type.getShape().take_back())
      return op->emitOpError("expects weight and bias of shape [")
             << type.getShape().back() << "], but got " << vector.getType();
  if (!(eps >= 0.0) || !std::isfinite(eps))
    return op->emitOpError("expects a finite eps of at least 0, but got ")
           << eps;
  return success();
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            ValueRange operands, DictionaryAttr,
                                            OpaqueProperties, RegionRange,
                                            SmallVectorImpl<Type> &results) {
  if (failed(checkOperands(loc, operands)))
    return failure();
  RankedTensorType type = tensorType(operands[0]);
  if (type.getRank() < 1)
    return emitOptionalError(
        loc, "expects an operand of rank 1 or more, but got ", type);
  results.assign({type, rowStatistics(type), rowStatistics(type)});
  return success();
}

LogicalResult LayerNormOp::verify() {
  return verifyNorm(*this, tensorType(getOperand()), {getWeight(), getBias()},
                    getEps().convertToDouble());
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &results) {
  if (failed(checkOperands(loc, operands)))
    return failure();
  RankedTensorType type = tensorType(operands[0]);
  if (type.getRank() < 1)
    return emitOptionalError(
        loc, "expects an operand of rank 1 or more, but got ", type);
  results.assign({type, rowStatistics(type)});
  return success();
}

LogicalResult RmsNormOp::verify() {
  return verifyNorm(*this, tensorType(getOperand()), {getWeight()},
                    getEps().convertToDouble());
}

LogicalResult DropoutOp::verify() {
  if (tensorType(getOperand()).getRank() < 1)
    return emitOpError("expects an operand of rank 1 or more, but got ")
           << getOperand().getType();
  return verifyRandom(*this, getRng(), getP().convertToDouble());
}
