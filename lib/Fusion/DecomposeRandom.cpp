//===- DecomposeRandom.cpp - Dropout and initial values -------------------===//
//
// Streams of random numbers are read from one table in memory: kernels of equal
// layers stay equal, since none holds a number of its own.
//
//===----------------------------------------------------------------------===//

#include "weft/Abi/Philox.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static int64_t getStream(StringRef key) {
  return static_cast<int64_t>(philoxNameHash(key.data(), key.size()));
}

/// The streams of an op that draws; none for any other.
static SmallVector<int64_t> getStreams(Operation *op) {
  if (auto dropout = dyn_cast<DropoutOp>(op))
    return {static_cast<int64_t>(dropout.getOpId())};
  if (auto drop = dyn_cast<LayerDropOp>(op))
    return {static_cast<int64_t>(drop.getOpId())};
  if (auto normal = dyn_cast<RandomNormalOp>(op))
    return {getStream(normal.getKey())};
  if (auto uniform = dyn_cast<RandomUniformOp>(op))
    return {getStream(uniform.getKey())};
  SmallVector<int64_t> streams;
  if (auto slice = dyn_cast<RandomSliceOp>(op))
    for (auto draw : slice.getDraws().getAsRange<DrawAttr>())
      streams.push_back(getStream(draw.getKey()));
  return streams;
}

/// The streams of all ops that are not decomposed yet.
static SmallVector<int64_t> getStreams(Block &block) {
  SmallVector<int64_t> streams;
  for (Operation &op : block)
    if (getImplementation(&op).empty())
      for (int64_t stream : getStreams(&op))
        if (!llvm::is_contained(streams, stream))
          streams.push_back(stream);
  return streams;
}

/// The constant at the head of the block that has the stream. The first op
/// that asks makes it for all others.
static ConstantOp getTable(Operation *op, int64_t stream) {
  Block *block = op->getBlock();
  for (Operation &first : *block) {
    auto table = dyn_cast<ConstantOp>(first);
    if (!table)
      break;
    if (table.getType().getRank() == 1 &&
        table.getType().getElementType().isInteger(64) &&
        llvm::is_contained(table.getValue().getValues<int64_t>(), stream))
      return table;
  }
  SmallVector<int64_t> streams = getStreams(*block);
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  auto type = RankedTensorType::get({static_cast<int64_t>(streams.size())},
                                    builder.getI64Type());
  return ConstantOp::create(
      builder, op->getLoc(), type,
      DenseElementsAttr::get(type, ArrayRef<int64_t>(streams)));
}

/// Element `index` of a list, as a scalar.
static Value element(OpBuilder &b, Location loc, Value list, int64_t index) {
  Value one = SliceOp::create(b, loc, list, ArrayRef<int64_t>{index},
                              ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1});
  return FormulaBuilder(b, loc).reshape(one, {});
}

static Value streamOf(Operation *op, int64_t stream, OpBuilder &b) {
  ConstantOp table = getTable(op, stream);
  auto values = table.getValue().getValues<int64_t>();
  int64_t index = llvm::find(values, stream) - values.begin();
  return element(b, op->getLoc(), table, index);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {

/// offset + factor * number, where a number is drawn for each element from the
/// stream of the parameter that it belongs to.
class SliceFormula {
public:
  SliceFormula(RandomSliceOp op, OpBuilder &b)
      : op(op), b(b), f(b, op.getLoc()) {}

  Value build();

private:
  /// Elements from `begin` on; without a draw they are between parameters.
  struct Range {
    int64_t begin;
    DrawAttr draw;

    bool isOf(InitKind kind) const {
      return draw && draw.getInit().getKind() == kind;
    }
    double getOffset() const;
    double getFactor() const;
  };

  void findRanges();
  /// The value of the range that contains the element.
  Value choose(function_ref<Value(const Range &)> valueOf);
  Value draw(PhiloxKind kind, Value begin);
  Value drawBoth(Value begin);

  RandomSliceOp op;
  OpBuilder &b;
  FormulaBuilder f;
  SmallVector<Range> ranges;
  /// The index of each element in the whole tensor, across all slices.
  Value index;
};

} // namespace

double SliceFormula::Range::getOffset() const {
  if (!draw || isOf(InitKind::Zeros))
    return 0;
  return isOf(InitKind::Ones) ? 1 : draw.getInit().getFirst();
}

double SliceFormula::Range::getFactor() const {
  if (isOf(InitKind::Normal))
    return draw.getInit().getSecond();
  if (isOf(InitKind::Uniform))
    return draw.getInit().getSecond() - draw.getInit().getFirst();
  return 0;
}

void SliceFormula::findRanges() {
  int64_t end = 0;
  for (auto draw : op.getDraws().getAsRange<DrawAttr>()) {
    if (draw.getBegin() != end)
      ranges.push_back({end, {}});
    ranges.push_back({draw.getBegin(), draw});
    end = draw.getEnd();
  }
  ranges.push_back({end, {}});
}

Value SliceFormula::choose(function_ref<Value(const Range &)> valueOf) {
  Value chosen = valueOf(ranges.front());
  for (const Range &range : llvm::drop_begin(ranges)) {
    Value reached = f.compare(Predicate::GE, index, f.integer(range.begin));
    chosen = f.select(reached, valueOf(range), chosen);
  }
  return chosen;
}

Value SliceFormula::draw(PhiloxKind kind, Value begin) {
  Value stream = choose([&](const Range &range) {
    return range.draw ? streamOf(op, getStream(range.draw.getKey()), b)
                      : f.integer(0);
  });
  return PhiloxOp::create(b, op.getLoc(), kind, op.getSeed(), stream,
                          /*row=*/f.integer(0), f.sub(index, begin));
}

Value SliceFormula::drawBoth(Value begin) {
  auto hasKind = [&](InitKind kind) {
    return llvm::any_of(ranges,
                        [&](const Range &range) { return range.isOf(kind); });
  };
  if (!hasKind(InitKind::Uniform))
    return draw(PhiloxKind::Normal, begin);
  Value uniform = draw(PhiloxKind::Uniform, begin);
  if (!hasKind(InitKind::Normal))
    return uniform;
  Value isNormal = choose([&](const Range &range) {
    return f.integer(range.isOf(InitKind::Normal), b.getI1Type());
  });
  return f.select(isNormal, draw(PhiloxKind::Normal, begin), uniform);
}

Value SliceFormula::build() {
  findRanges();
  ArrayRef<int64_t> shape = op.getType().getShape();
  index = f.add(f.mul(op.getSlice(), f.integer(shape.front())),
                f.iota({0}, shape, b.getI64Type()));
  Value begin =
      choose([&](const Range &range) { return f.integer(range.begin); });
  Value drawn = drawBoth(begin);
  Value offset = choose(
      [&](const Range &range) { return f.constant(range.getOffset(), drawn); });
  Value factor = choose(
      [&](const Range &range) { return f.constant(range.getFactor(), drawn); });
  return f.finish(f.add(offset, f.mul(factor, drawn)), op.getType());
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// A row is an index of dimension 0; its elements are numbered through. All of
/// it has the shape of the result, so that it fits any kernel of that shape.
static Value drawForRows(DropoutOp op, FormulaBuilder &f) {
  OpBuilder &b = f.getBuilder();
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = getShape(op);
  SmallVector<int64_t> outer, inner;
  for (size_t d = 0; d < shape.size(); ++d)
    (d == 0 ? outer : inner).push_back(d);
  Type i64 = b.getI64Type();
  Value row = f.add(element(b, loc, op.getRng(), 1), f.iota(outer, shape, i64));
  return PhiloxOp::create(
      b, loc, PhiloxKind::Uniform, element(b, loc, op.getRng(), 0),
      streamOf(op, op.getOpId(), b), row, f.iota(inner, shape, i64));
}

/// Checks that an op with a drop probability has an rng operand.
template <typename OpT> static LogicalResult requireRng(OpT op) {
  if (op.getRng())
    return success();
  return op.emitOpError("expects an rng operand where p is not 0; run "
                        "weft-derive-programs");
}

static Values decomposeDropout(DropoutOp dropout, FormulaBuilder &f) {
  double p = dropout.getP().convertToDouble();
  if (p == 0.0)
    return SmallVector<Value>{dropout.getOperand()};
  if (failed(requireRng(dropout)))
    return failure();
  Value drawn = drawForRows(dropout, f);
  Value least = f.constant(philoxDropThreshold(p) * 0x1p-24, drawn);
  Value keeps = f.compare(Predicate::GE, drawn, least);
  Value x = f.widen(dropout.getOperand());
  Value scaled = f.mul(x, f.constant(philoxKeepScale(p), x));
  Value y = f.select(keeps, scaled, f.constant(0.0, x));
  return SmallVector<Value>{f.finish(y, dropout.getType())};
}

static Value never(LayerDropOp op, OpBuilder &b) {
  auto zero = cast<ElementsAttr>(b.getZeroAttr(op.getDropped().getType()));
  return ConstantOp::create(b, op.getLoc(), zero);
}

/// One number, of the first row, decides for all elements.
static Values decomposeLayerDrop(LayerDropOp drop, FormulaBuilder &f) {
  OpBuilder &b = f.getBuilder();
  double p = drop.getP().convertToDouble();
  if (p == 0.0)
    return SmallVector<Value>{drop.getLayer(), never(drop, b)};
  if (failed(requireRng(drop)))
    return failure();
  Value drawn = PhiloxOp::create(b, drop.getLoc(), PhiloxKind::Uniform,
                                 element(b, drop.getLoc(), drop.getRng(), 0),
                                 streamOf(drop, drop.getOpId(), b),
                                 element(b, drop.getLoc(), drop.getRng(), 1),
                                 f.integer(0, b.getI64Type()));
  Value least = f.constant(philoxDropThreshold(p) * 0x1p-24, drawn);
  Value dropped = f.compare(Predicate::LT, drawn, least);
  return SmallVector<Value>{
      f.select(dropped, drop.getOperand(), drop.getLayer()), dropped};
}

/// offset + factor * number, in f32 and rounded to the type of the result.
template <typename OpT>
static Values drawInitial(OpT op, FormulaBuilder &f, PhiloxKind kind,
                          double offset, double factor) {
  OpBuilder &b = f.getBuilder();
  Type i64 = b.getI64Type();
  ArrayRef<int64_t> shape = getShape(op);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  Value drawn =
      PhiloxOp::create(b, op.getLoc(), kind, op.getSeed(),
                       streamOf(op, getStream(op.getKey()), b),
                       /*row=*/f.integer(0, i64), f.iota(dims, shape, i64));
  Value y =
      f.add(f.constant(offset, drawn), f.mul(f.constant(factor, drawn), drawn));
  return SmallVector<Value>{f.finish(y, op.getType())};
}

static Values decomposeRandomNormal(RandomNormalOp normal, FormulaBuilder &f) {
  return drawInitial(normal, f, PhiloxKind::Normal,
                     normal.getMean().convertToDouble(),
                     normal.getStd().convertToDouble());
}

static Values decomposeRandomUniform(RandomUniformOp uniform,
                                     FormulaBuilder &f) {
  double low = uniform.getLow().convertToDouble();
  return drawInitial(uniform, f, PhiloxKind::Uniform, low,
                     uniform.getHigh().convertToDouble() - low);
}

static Values decomposeRandomSlice(RandomSliceOp op, FormulaBuilder &f) {
  return SmallVector<Value>{SliceFormula(op, f.getBuilder()).build()};
}

void weft::registerRandomFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<DropoutOp, decomposeDropout>(context);
    addFormula<LayerDropOp, decomposeLayerDrop>(context);
    addFormula<RandomNormalOp, decomposeRandomNormal>(context);
    addFormula<RandomSliceOp, decomposeRandomSlice>(context);
    addFormula<RandomUniformOp, decomposeRandomUniform>(context);
  });
}
