//===- NormAndCheckFormulas.cpp - Formulas of norms of gradients ----------===//
//
// A gradient is cut into rows whose sums are computed by as many parts of a
// machine; the sums of all gradients are added up behind them. Everything is
// f64, so that no power of a finite f32 overflows.
//
//===----------------------------------------------------------------------===//

#include "FormulaBuilder.h"
#include "weft/Kernels/Passes.h"

#include <cmath>

using namespace mlir;

namespace weft {

using Values = llvm::FailureOr<llvm::SmallVector<Value>>;

/// Lengths of the rows of a gradient.
static constexpr int64_t kLongestRow = 4096, kShortestRow = 256;
static constexpr int64_t kRowMultiple = 16;

/// The longest row, of those that suit vectors, that cuts `count` elements into
/// equal ones; 0 if there is none.
static int64_t findRowLength(int64_t count) {
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

class NormBuilder : public FormulaBuilder {
public:
  NormBuilder(OpBuilder &builder, Operation *op, double p)
      : FormulaBuilder(builder, op->getLoc()), builder(builder),
        loc(op->getLoc()), p(p) {}

  bool isMax() const { return std::isinf(p); }
  ReduceKind getKind() const {
    return isMax() ? ReduceKind::Max : ReduceKind::Sum;
  }
  Value number(double value) {
    auto type = RankedTensorType::get({}, builder.getF64Type());
    return ConstantOp::create(builder, loc, type,
                              DenseElementsAttr::get(type, value));
  }

  /// |x|^p of numbers of at least 0, or of any if that is all the same.
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
  void addRows(Value x, int64_t length, llvm::SmallVectorImpl<Value> &rows);
  /// One value for each row of a gradient.
  void addPartials(Value grad, llvm::SmallVectorImpl<Value> &rows);
  /// All of them as one number.
  Value combine(llvm::ArrayRef<Value> rows);

private:
  Value slice(Value list, int64_t begin, int64_t count) {
    int64_t stride = 1;
    return SliceOp::create(builder, loc, list, begin, count, stride);
  }

  OpBuilder &builder;
  Location loc;
  double p;
};

void NormBuilder::addRows(Value x, int64_t length,
                          llvm::SmallVectorImpl<Value> &rows) {
  int64_t count = countElements(x) / length;
  Value magnitude = unary<AbsOp>(widen(reshape(x, {count, length})));
  Value term = raise(cast(magnitude, builder.getF64Type()));
  rows.push_back(reshape(reduce(getKind(), term, {1}), {count}));
}

void NormBuilder::addPartials(Value grad, llvm::SmallVectorImpl<Value> &rows) {
  int64_t count = countElements(grad);
  if (count == 0)
    return;
  Value list = reshape(grad, {count});
  if (int64_t length = findRowLength(count))
    return addRows(list, length, rows);
  int64_t even = count / kLongestRow * kLongestRow;
  addRows(slice(list, 0, even), kLongestRow, rows);
  addRows(slice(list, even, count - even), count - even, rows);
}

Value NormBuilder::combine(llvm::ArrayRef<Value> rows) {
  if (rows.empty())
    return number(0.0);
  Value all = rows.front();
  if (rows.size() > 1)
    all = ConcatOp::create(builder, loc, rows, /*dim=*/0);
  return reshape(reduce(getKind(), all, {0}), {});
}

struct NormAndCheckModel
    : CompositeOpInterface::ExternalModel<NormAndCheckModel, NormAndCheckOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto norm = mlir::cast<NormAndCheckOp>(op);
    double p = norm.getP().convertToDouble();
    NormBuilder f(builder, op, p);
    Value sum = combineAll(f, norm), checked = sum;
    // The sum of up to 2^63 cubes of finite f32 numbers is finite in f64, that
    // of f64 numbers may not be.
    bool isWide = llvm::any_of(norm.getGrads(), [](Value grad) {
      return getElementTypeOrSelf(grad.getType()).isF64();
    });
    if (isWide && !f.isMax()) {
      NormBuilder largest(builder, op, std::numeric_limits<double>::infinity());
      checked = combineAll(largest, norm);
    }
    return llvm::SmallVector<Value>{f.takeRoot(sum),
                                    f.unary<NotOp>(f.isFinite(checked))};
  }

  static Value combineAll(NormBuilder &f, NormAndCheckOp norm) {
    llvm::SmallVector<Value> rows;
    for (Value grad : norm.getGrads())
      f.addPartials(grad, rows);
    return f.combine(rows);
  }
};

/// (sum of n_i^p)^(1/p) / scale over the norms that are not skipped, or over
/// all if all are.
struct TotalNormModel
    : CompositeOpInterface::ExternalModel<TotalNormModel, TotalNormOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto norm = mlir::cast<TotalNormOp>(op);
    NormBuilder f(builder, op, norm.getP().convertToDouble());
    Value total = norm.getNorms().size() == 1 ? norm.getNorms().front()
                                              : addCounted(f, norm);
    if (Value scale = norm.getScale())
      total = f.div(total, f.cast(scale, builder.getF64Type()));
    return llvm::SmallVector<Value>{total};
  }

  static Value addCounted(NormBuilder &f, TotalNormOp norm) {
    Value skipsAll = norm.getSkips().front();
    for (Value skip : norm.getSkips().drop_front())
      skipsAll = f.logicalAnd(skipsAll, skip);
    Value total;
    for (auto [part, skip] : llvm::zip(norm.getNorms(), norm.getSkips())) {
      Value counts = f.logicalOr(skipsAll, f.unary<NotOp>(skip));
      Value term = f.select(counts, f.raise(part), f.number(0.0));
      total = !total      ? term
              : f.isMax() ? f.max(total, term)
                          : f.add(total, term);
    }
    return f.takeRoot(total);
  }
};

} // namespace

void registerGradientNormFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    NormAndCheckOp::attachInterface<NormAndCheckModel>(*context);
    TotalNormOp::attachInterface<TotalNormModel>(*context);
  });
}

} // namespace weft
