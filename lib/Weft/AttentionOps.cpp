//===- AttentionOps.cpp - Attention and rotary positions ------------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

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

/// Rules that attention and its adjoint share, besides the shapes.
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

LogicalResult AttentionOp::inferTypes(std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
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

/// Query-key pairs of a head that kernels compute: for each tile of queries,
/// the keys that any of its queries sees. The tile size is the size in the
/// CPU's kernels (kAttentionTile); a device also has tiles of 128.
static double countPairs(int64_t queries, int64_t keys, bool causal) {
  constexpr int64_t kTile = 64;
  const auto all = static_cast<double>(queries);
  if (!causal)
    return all * static_cast<double>(keys);
  const auto tiles = static_cast<double>(queries / kTile);
  return all * static_cast<double>(keys - queries) +
         kTile * kTile * tiles * (tiles + 1) / 2 +
         static_cast<double>(queries % kTile) * all;
}

/// `products` multiply-adds of a head's width for each pair, and the numbers of
/// dropout, whose cost was measured on a Zen 5 with and without dropout. They
/// cost more here than in a kernel of their own (Weft_ElementFlops), since they
/// go through memory.
template <typename OpT> static double getAttentionFlops(OpT op, int products) {
  constexpr double kDropout = 128;
  ArrayRef<int64_t> query = tensorType(op.getQuery()).getShape();
  const double pairs = countPairs(
      query[1], tensorType(op.getKey()).getDimSize(1), op.getCausal());
  const double each = 2.0 * products * static_cast<double>(query[3]) +
                      (op.getRng() ? kDropout : 0);
  return static_cast<double>(query[0]) * static_cast<double>(query[2]) * pairs *
         each;
}

double AttentionOp::getFlops() { return getAttentionFlops(*this, 2); }

LogicalResult AttentionGradOp::inferTypes(std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
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

double AttentionGradOp::getFlops() { return getAttentionFlops(*this, 5); }

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
  for (Value table : {getCos(), getSin()})
    if (!isFactorOf(table, type.getElementType()))
      return emitOpError("expects tables of the operand's element type or f32 "
                         "for f16 and bf16, but got ")
             << table.getType() << " for " << type;
  return success();
}
