//===- DecodeAttention.cpp - Attention of one token to a cache ------------===//

#include "DecodeProgram.h"

#include <limits>

using namespace mlir;
using namespace weft;

Value weft::groupsFirst(OpBuilder &builder, Location loc, Value rows) {
  ArrayRef<int64_t> shape = getShape(rows);
  auto type = cast<RankedTensorType>(rows.getType());
  Value flat =
      ReshapeOp::create(builder, loc, type.clone(shape.drop_front()), rows);
  return TransposeOp::create(builder, loc, flat, ArrayRef<int64_t>{1, 0, 2});
}

static Value makeNumber(OpBuilder &builder, Location loc, Type element,
                        double number) {
  auto type = RankedTensorType::get({}, element);
  Attribute attr = isa<FloatType>(element)
                       ? Attribute(builder.getFloatAttr(element, number))
                       : builder.getIntegerAttr(element, int64_t(number));
  return ConstantOp::create(
      builder, loc, cast<ElementsAttr>(DenseElementsAttr::get(type, attr)));
}

Value DecodeProgram::visibleKeys(AttentionOp op, Value keys) {
  Location loc = op.getLoc();
  Value visible =
      CompareOp::create(builder, loc, Predicate::LE, keys, position);
  // A longer window hides nothing, and may not fit an i32.
  std::optional<int64_t> window = op.getWindow();
  if (!window || *window >= positions)
    return visible;
  Value end = AddOp::create(
      builder, loc, keys,
      makeNumber(builder, loc, builder.getI32Type(), double(*window)));
  return AndOp::create(
      builder, loc, visible,
      CompareOp::create(builder, loc, Predicate::GT, end, position));
}

Value DecodeProgram::keptRow(Location loc, Value isHere, Value row,
                             StateOp state) {
  Value old = ReadOp::create(builder, loc, state.getType(), state.getSymName());
  Value kept = SelectOp::create(builder, loc, isHere,
                                groupsFirst(builder, loc, row), old);
  written.push_back(kept);
  targets.push_back(FlatSymbolRefAttr::get(state.getSymNameAttr()));
  return kept;
}

/// Scores are f32 for low types, as in `weft.attention`.
Value DecodeProgram::attend(AttentionOp op, Value keys, Value values,
                            Value visible) {
  Location loc = op.getLoc();
  Value query = mapped.lookup(op.getQuery());
  auto type = cast<RankedTensorType>(query.getType());
  const int64_t groups = getShape(keys)[0], width = type.getDimSize(3);
  Value grouped = ReshapeOp::create(
      builder, loc, type.clone({groups, type.getDimSize(2) / groups, width}),
      query);
  Type element = type.getElementType();
  const bool isLow = element.isF16() || element.isBF16();
  Type wide = isLow ? builder.getF32Type() : element;
  auto number = [&](double value) {
    return makeNumber(builder, loc, wide, value);
  };
  Value scores =
      MatmulOp::create(builder, loc, grouped, keys, /*bias=*/Value(),
                       /*transpose_lhs=*/UnitAttr(), builder.getUnitAttr(),
                       isLow ? TypeAttr::get(wide) : TypeAttr());
  scores = MulOp::create(builder, loc, scores,
                         number(op.getScale().convertToDouble()));
  if (std::optional<APFloat> cap = op.getSoftcap()) {
    Value bound = number(cap->convertToDouble());
    Value part = TanhOp::create(builder, loc,
                                DivOp::create(builder, loc, scores, bound));
    scores = MulOp::create(builder, loc, part, bound);
  }
  scores = SelectOp::create(builder, loc, visible, scores,
                            number(-std::numeric_limits<double>::infinity()));
  Value shares = SoftmaxOp::create(builder, loc, scores);
  if (isLow)
    shares = CastOp::create(
        builder, loc, cast<RankedTensorType>(shares.getType()).clone(element),
        shares);
  Value sum = MatmulOp::create(builder, loc, shares, values,
                               /*transposeLhs=*/false, /*transposeRhs=*/false);
  return ReshapeOp::create(builder, loc,
                           type.clone({1, 1, type.getDimSize(2), width}), sum);
}

LogicalResult DecodeProgram::checkAttention(AttentionOp op) {
  auto isWindow = [&](Value value) {
    RowFlow flow = flows.lookup(value);
    ArrayRef<int64_t> shape = getShape(value);
    return flow.isRows() && flow.dim == 1 && shape[0] == 1 &&
           shape[1] == positions;
  };
  if (!op.getCausal() || op.getSegments() || !isWindow(op.getQuery()) ||
      !isWindow(op.getKey()) || !isWindow(op.getValue()))
    return refuse(op, "is not causal over the tokens of one document");
  if (!op.getDropout().isZero())
    return refuse(op, "drops probabilities");
  if (!op.getLse().use_empty())
    return refuse(op, "gives its sums of softmax to other ops");
  return success();
}

/// A state [groups, positions, width] for rows [1, positions, groups, width].
StateOp DecodeProgram::declareState(AttentionOp op, StringRef what,
                                    Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  ArrayRef<int64_t> shape = type.getShape();
  StringRef scope = getScope(op);
  std::string name = scope.empty() ? "cached_" + what.str()
                                   : (scope + ".cached_" + what).str();
  OpBuilder outside(op.getContext());
  auto state =
      StateOp::create(outside, op.getLoc(), outside.getStringAttr(name),
                      TypeAttr::get(type.clone({shape[2], shape[1], shape[3]})),
                      StateKindAttr::get(op.getContext(), StateKind::Cache),
                      FlatSymbolRefAttr());
  symbols.insert(state, Block::iterator(logits)); // may change the name
  return state;
}

LogicalResult DecodeProgram::decodeAttention(AttentionOp op) {
  if (failed(checkAttention(op)))
    return failure();
  Operation *last = &builder.getBlock()->back();
  const AttentionCache cache = {op, declareState(op, "key", op.getKey()),
                                declareState(op, "value", op.getValue())};
  caches.push_back(cache);
  Location loc = op.getLoc();
  auto number = [&](ArrayRef<int64_t> shape, int64_t dim) {
    return IotaOp::create(builder, loc,
                          RankedTensorType::get(shape, builder.getI32Type()),
                          ArrayRef<int64_t>{dim});
  };
  Value isHere = CompareOp::create(builder, loc, Predicate::EQ,
                                   number({1, positions, 1}, 1), position);
  Value keys = keptRow(loc, isHere, mapped.lookup(op.getKey()), cache.key);
  Value values =
      keptRow(loc, isHere, mapped.lookup(op.getValue()), cache.value);
  Value out = attend(op, keys, values, visibleKeys(op, number({positions}, 0)));
  for (Operation *made = last->getNextNode(); made; made = made->getNextNode())
    copyScope(op, made);
  mapped.map(op.getOut(), out);
  flows[op.getOut()] = RowFlow::rows(1);
  return success();
}
