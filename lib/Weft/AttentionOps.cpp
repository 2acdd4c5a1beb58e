//===- AttentionOps.cpp - Attention and rotary positions ------------------===//

#include "Parsing.h"
#include "weft/Abi/DropoutBits.h"
#include "weft/Layout/AttentionMask.h"

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

template <typename OpT> static AttentionMask getMask(OpT op) {
  return AttentionMask::get(op, tensorType(op.getQuery()).getDimSize(1),
                            tensorType(op.getKey()).getDimSize(1));
}

/// Checks the type of the documents: one id per position of the query.
template <typename OpT> static LogicalResult verifySegments(OpT op) {
  if (!op.getSegments())
    return success();
  auto ids =
      RankedTensorType::get(tensorType(op.getQuery()).getShape().take_front(2),
                            IntegerType::get(op.getContext(), 32));
  if (op.getSegments().getType() == ids)
    return success();
  return op.emitOpError("expects segments of type ")
         << ids << ", but got " << op.getSegments().getType();
}

/// Rules that attention and its adjoint share, besides the shapes.
template <typename OpT> static LogicalResult verifyAttentionNumbers(OpT op) {
  if (failed(getMask(op).verify(op, op.getSegments() != Value(),
                                op.getSoftcap())) ||
      failed(verifySegments(op)))
    return failure();
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

/// Type of `bits` for a query [B,T,H,D] and a key [B,S,G,D].
static RankedTensorType bitsType(RankedTensorType query, RankedTensorType key) {
  ArrayRef<int64_t> q = query.getShape();
  return RankedTensorType::get({q[0], q[2], bitQueryTiles(q[1]),
                                bitKeyTiles(key.getDimSize(1)), kBitWords},
                               IntegerType::get(query.getContext(), 32));
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
  if (!hasUnit(adaptor.getStoresBits(), adaptor.getAttributes(), "stores_bits"))
    return success();
  RankedTensorType key = tensorType(adaptor.getKey());
  if (key.getRank() != 4)
    return emitOptionalError(
        loc, "expects a key of rank 4 [batch, time, heads, width], but got ",
        key);
  results.push_back(bitsType(query, key));
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyAttentionShapes(*this, tensorType(getQuery()),
                                   tensorType(getKey()),
                                   tensorType(getValue()))))
    return failure();
  if (getStoresBits() && getDropout().isZero())
    return emitOpError("expects dropout above 0 with stores_bits, but got 0");
  return verifyAttentionNumbers(*this);
}

/// `products` multiply-adds of a head's width for each pair, and the numbers of
/// dropout, which an adjoint with stored bits does not draw. Documents are
/// known only at run time: they do not count.
template <typename OpT> static double getAttentionFlops(OpT op, int products) {
  ArrayRef<int64_t> query = tensorType(op.getQuery()).getShape();
  const double pairs = getMask(op).countPairs(AttentionMask::kCostTile);
  const double each = 2.0 * products * static_cast<double>(query[3]) +
                      (op.getRng() ? AttentionMask::kDrawFlops : 0);
  return static_cast<double>(query[0]) * static_cast<double>(query[2]) * pairs *
         each;
}

AttentionOp AttentionOp::replaceStoresBits(bool stores) {
  OpBuilder builder(*this);
  NamedAttrList attributes((*this)->getAttrs());
  if (stores)
    attributes.set(getStoresBitsAttrName(), builder.getUnitAttr());
  else
    attributes.erase(getStoresBitsAttrName());
  auto other = AttentionOp::create(builder, getLoc(), getOperands(),
                                   attributes.getAttrs());
  getOut().replaceAllUsesWith(other.getOut());
  getLse().replaceAllUsesWith(other.getLse());
  if (Value bits = getBits(); bits && !bits.use_empty()) {
    auto all =
        DenseElementsAttr::get(tensorType(bits), builder.getI32IntegerAttr(-1));
    bits.replaceAllUsesWith(
        ConstantOp::create(builder, getLoc(), all).getResult());
  }
  erase();
  return other;
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

/// Stored bits replace the random numbers.
static LogicalResult verifyBits(AttentionGradOp op) {
  if (!op.getBits())
    return success();
  if (op.getDropout().isZero())
    return op.emitOpError("expects bits only where dropout is above 0, but got "
                          "dropout of 0");
  if (op.getRng())
    return op.emitOpError("expects either rng or bits, but got both");
  RankedTensorType type =
      bitsType(tensorType(op.getQuery()), tensorType(op.getKey()));
  if (op.getBits().getType() == type)
    return success();
  return op.emitOpError("expects bits of type ")
         << type << ", but got " << op.getBits().getType();
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
  if (failed(verifyBits(*this)))
    return failure();
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
