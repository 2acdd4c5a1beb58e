//===- DecomposeGradientNorm.cpp - Formulas of norms of gradients ---------===//
//
// A gradient is divided into rows, whose sums are computed in parallel. Then
// the sums of all gradients are added. Everything is f64, so that no power of a
// finite f32 overflows. Gradients that are adjacent in a flat state have the
// same rows together as separately, so one kernel computes them all.
//
//===----------------------------------------------------------------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

#include <cmath>

using namespace mlir;
using namespace weft;

/// The length of rows if it divides a gradient. Segments of flat states begin
/// at multiples of it, except with another alignment.
static constexpr int64_t kRow = 128;
/// Lengths of the rows of other gradients.
static constexpr int64_t kLongestRow = 4096, kShortestRow = 256;
static constexpr int64_t kRowMultiple = 16;

/// The length of rows for `count` elements: kRow if it divides `count`, `count`
/// itself if that is at most kLongestRow, else the longest length that divides
/// `count` and suits vectors. 0 if there is none.
static int64_t findRowLength(int64_t count) {
  if (count % kRow == 0)
    return kRow;
  if (count <= kLongestRow)
    return count;
  for (int64_t length = kLongestRow; length >= kShortestRow;
       length -= kRowMultiple)
    if (count % length == 0)
      return length;
  return 0;
}

static int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

namespace {

/// Elements [begin, begin + count) of a value: one gradient, or several that
/// are adjacent in a flat state.
struct Piece {
  Value source;
  int64_t begin, count;
};

} // namespace

/// Finds the value and the range that a gradient is a slice of.
static Piece findPiece(Value grad) {
  Value value = grad;
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice || slice.getType().getRank() != 1 || slice.getStrides()[0] != 1)
    return {grad, 0, countElements(grad)};
  return {slice.getOperand(), slice.getOffsets()[0], countElements(grad)};
}

/// The gradients in order. Adjacent gradients are joined if their rows stay the
/// same.
static SmallVector<Piece> joinPieces(ValueRange grads) {
  SmallVector<Piece> pieces;
  for (Value grad : grads) {
    Piece piece = findPiece(grad);
    if (!pieces.empty() && pieces.back().source == piece.source &&
        pieces.back().begin + pieces.back().count == piece.begin &&
        pieces.back().count % kRow == 0 && piece.count % kRow == 0)
      pieces.back().count += piece.count;
    else
      pieces.push_back(piece);
  }
  return pieces;
}

namespace {

class NormBuilder : public FormulaBuilder {
public:
  NormBuilder(const FormulaBuilder &base, double p)
      : FormulaBuilder(base), p(p) {}

  bool isMax() const { return std::isinf(p); }
  ReduceKind getKind() const {
    return isMax() ? ReduceKind::Max : ReduceKind::Sum;
  }
  Value number(double value) {
    auto type = RankedTensorType::get({}, b.getF64Type());
    return ConstantOp::create(b, loc, type,
                              DenseElementsAttr::get(type, value));
  }

  /// |x|^p for x >= 0.
  Value raise(Value x) {
    if (p == 1.0 || isMax())
      return x;
    if (p == 2.0 || p == 3.0) {
      Value square = mul(x, x);
      return p == 2.0 ? square : mul(square, x);
    }
    return power(x, number(p));
  }
  /// The root that undoes it, to the bit for p = 2.
  Value takeRoot(Value sum) {
    if (p == 1.0 || isMax())
      return sum;
    return p == 2.0 ? unary<SqrtOp>(sum) : power(sum, number(1.0 / p));
  }

  /// One value for each row of `x`, a list.
  void addRows(Value x, int64_t length, SmallVectorImpl<Value> &rows);
  /// One value for each row of gradients.
  void addPartials(const Piece &piece, SmallVectorImpl<Value> &rows);
  /// All of them as one number.
  Value combine(ArrayRef<Value> rows);

private:
  Value slice(Value list, int64_t begin, int64_t count) {
    int64_t stride = 1;
    return SliceOp::create(b, loc, list, begin, count, stride);
  }

  double p;
};

} // namespace

void NormBuilder::addRows(Value x, int64_t length,
                          SmallVectorImpl<Value> &rows) {
  int64_t count = countElements(x) / length;
  Value magnitude = unary<AbsOp>(widen(reshape(x, {count, length})));
  Value term = raise(cast(magnitude, b.getF64Type()));
  rows.push_back(reshape(reduce(getKind(), term, {1}), {count}));
}

void NormBuilder::addPartials(const Piece &piece,
                              SmallVectorImpl<Value> &rows) {
  const int64_t count = piece.count, elements = countElements(piece.source);
  if (count == 0)
    return;
  Value list = reshape(piece.source, {elements});
  if (count != elements)
    list = slice(list, piece.begin, count);
  if (int64_t length = findRowLength(count))
    return addRows(list, length, rows);
  int64_t even = count / kLongestRow * kLongestRow;
  addRows(slice(list, 0, even), kLongestRow, rows);
  addRows(slice(list, even, count - even), count - even, rows);
}

Value NormBuilder::combine(ArrayRef<Value> rows) {
  if (rows.empty())
    return number(0.0);
  Value all = rows.front();
  if (rows.size() > 1)
    all = ConcatOp::create(b, loc, rows, /*dim=*/0);
  return reshape(reduce(getKind(), all, {0}), {});
}

static Value combineAll(NormBuilder &f, NormAndCheckOp norm) {
  SmallVector<Value> rows;
  for (const Piece &piece : joinPieces(norm.getGrads()))
    f.addPartials(piece, rows);
  return f.combine(rows);
}

static Values decomposeNormAndCheck(NormAndCheckOp norm, FormulaBuilder &base) {
  NormBuilder f(base, norm.getP().convertToDouble());
  Value sum = combineAll(f, norm), checked = sum;
  // The sum of up to 2^63 cubes of finite f32 numbers is finite in f64, that
  // of f64 numbers may not be.
  bool isWide = llvm::any_of(norm.getGrads(), [](Value grad) {
    return getElementTypeOrSelf(grad.getType()).isF64();
  });
  if (isWide && !f.isMax()) {
    NormBuilder largest(base, std::numeric_limits<double>::infinity());
    checked = combineAll(largest, norm);
  }
  return SmallVector<Value>{norm.getPowers() ? sum : f.takeRoot(sum),
                            f.unary<NotOp>(f.isFinite(checked))};
}

static Value addCounted(NormBuilder &f, TotalNormOp norm) {
  const bool arePowers = norm.getPowers();
  if (norm.getNorms().size() == 1)
    return arePowers ? f.takeRoot(norm.getNorms().front())
                     : Value(norm.getNorms().front());
  Value skipsAll = norm.getSkips().front();
  for (Value skip : norm.getSkips().drop_front())
    skipsAll = f.logicalAnd(skipsAll, skip);
  Value total;
  for (auto [part, skip] : llvm::zip(norm.getNorms(), norm.getSkips())) {
    Value counts = f.logicalOr(skipsAll, f.unary<NotOp>(skip));
    Value term =
        f.select(counts, arePowers ? part : f.raise(part), f.number(0.0));
    total = !total ? term : f.isMax() ? f.max(total, term) : f.add(total, term);
  }
  return f.takeRoot(total);
}

/// (sum of n_i^p)^(1/p) / scale over the norms that are not skipped, or over
/// all if all are.
static Values decomposeTotalNorm(TotalNormOp norm, FormulaBuilder &base) {
  NormBuilder f(base, norm.getP().convertToDouble());
  Value total = addCounted(f, norm);
  if (Value scale = norm.getScale())
    total = f.div(total, f.cast(scale, base.getBuilder().getF64Type()));
  return SmallVector<Value>{total};
}

void weft::registerGradientNormFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<NormAndCheckOp, decomposeNormAndCheck>(context);
    addFormula<TotalNormOp, decomposeTotalNorm>(context);
  });
}
