//===- DecodeTables.cpp - The entry of a table at one position ------------===//

#include "DecodeProgram.h"
#include "Denominators.h"

using namespace mlir;
using namespace weft;

/// An f32 has all integers up to this number.
static constexpr int64_t kMostExact = int64_t(1) << 24;

bool weft::isExactAsFloat(Value table) {
  Type element = getElementTypeOrSelf(table);
  if (isa<FloatType>(element) || element.isInteger(1))
    return true;
  if (table.getDefiningOp<IotaOp>())
    return llvm::all_of(getShape(table),
                        [](int64_t size) { return size <= kMostExact; });
  auto constant = table.getDefiningOp<ConstantOp>();
  auto numbers = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                          : DenseIntElementsAttr();
  return numbers && llvm::all_of(numbers, [](const APInt &number) {
           return number.abs().ule(kMostExact);
         });
}

static Value toElement(OpBuilder &builder, Location loc, Type element,
                       Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return CastOp::create(builder, loc, type.clone(element), value);
}

/// A number that was `element` before it became a float.
static Value fromFloat(OpBuilder &builder, Location loc, Type element,
                       Value value) {
  if (!element.isInteger(1))
    return toElement(builder, loc, element, value);
  auto type = RankedTensorType::get({}, getElementTypeOrSelf(value));
  Value zero = makeScalar(builder, loc, type, 0.0);
  return CompareOp::create(builder, loc, Predicate::NE, value, zero);
}

/// [before, positions, after] as [positions, before * after].
static Value asRows(OpBuilder &builder, Location loc, Value table,
                    int64_t before, int64_t positions) {
  auto type = cast<RankedTensorType>(table.getType());
  const int64_t width = type.getNumElements() / positions;
  if (before > 1) {
    table = ReshapeOp::create(
        builder, loc, type.clone({before, positions, width / before}), table);
    table =
        TransposeOp::create(builder, loc, table, ArrayRef<int64_t>{1, 0, 2});
  }
  return ReshapeOp::create(builder, loc, type.clone({positions, width}), table);
}

Value weft::tableEntry(OpBuilder &builder, Location loc, Value table,
                       int64_t dim, int64_t positions, Value position) {
  auto type = cast<RankedTensorType>(table.getType());
  Type element = type.getElementType();
  SmallVector<int64_t> shape(type.getShape());
  int64_t before = 1;
  for (int64_t size : ArrayRef<int64_t>(shape).take_front(dim))
    before *= size;
  shape[dim] /= positions;
  // Only tables of floats have an op that reads a row.
  Type readable = isa<FloatType>(element) ? element : builder.getF32Type();
  Value rows = asRows(builder, loc, toElement(builder, loc, readable, table),
                      before, positions);
  Value entry = EmbeddingOp::create(builder, loc, rows, position);
  entry = ReshapeOp::create(builder, loc, type.clone(shape, readable), entry);
  return fromFloat(builder, loc, element, entry);
}
