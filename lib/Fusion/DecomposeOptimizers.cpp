//===- DecomposeOptimizers.cpp - Formulas of the update of a parameter ----===//
//
// Numbers that are the same for all elements are computed in f64 and rounded to
// f32 once, like PyTorch's Python scalars. weft-decompose computes each of them
// once for all parameters that share it, in a separate kernel. Roundings are in
// the same order as in kernels/cpu/isa/ElementLoops.cpp. If factors differ
// between ranges of elements, there is one number per distinct factor, and each
// element selects its number by its position.
//
//===----------------------------------------------------------------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

using namespace mlir;
using namespace weft;

namespace {

/// Elements [begin, end) of a flat parameter.
struct Range {
  int64_t begin, end;
};

/// A number of an update, and the ranges of elements that use it. The first of
/// several numbers is the default: all other elements use it.
struct RangedNumber {
  Value number;
  SmallVector<Range> ranges;
};
using ByRange = SmallVector<RangedNumber>;

/// The factors that a number depends on.
enum class MadeOf { Lr, Decay, Both };

/// The parts that the formulas of all optimizers have.
class UpdateBuilder : public FormulaBuilder {
public:
  UpdateBuilder(const FormulaBuilder &base, OptimizerOpInterface op)
      : FormulaBuilder(base), op(op),
        wide(getElementTypeOrSelf(op.getParam().getType())),
        factors(getUpdateFactors(op)) {
    if (!wide.isF64())
      wide = b.getF32Type();
  }

  Value getParam() { return widenAs(op.getParam()); }
  Value getLr(const UpdateFactors &range) {
    return scale(getNumber(0), range.lrScale);
  }
  Value getDecay(const UpdateFactors &range) {
    Value decay = getNumber(1);
    if (range.weightDecay)
      decay = constant(*range.weightDecay, decay);
    return scale(decay, range.decayScale);
  }

  /// The distinct values of a number, rounded. Must be built before any op on
  /// elements.
  ByRange round(MadeOf madeOf, function_ref<Value(const UpdateFactors &)> make);
  /// Selects the number of each element.
  Value choose(const ByRange &numbers);

  Value getState(unsigned index) { return widenAs(op.getStates()[index]); }
  Value getNumber(unsigned index) { return op.getNumbers()[index]; }

  /// The gradient as the update sees it first.
  Value scaleGrad() {
    return mul(widenAs(op.getGrad()), widenAs(op.getCoef()));
  }

  /// A number that is the same for all elements, rounded to their type.
  Value round(Value number) { return cast(number, wide); }
  Value one() { return constant(1.0, getNumber(0)); }

  /// 1 - beta^t
  Value correction(Value beta) {
    Value step = cast(op.getStep(), getElementTypeOrSelf(beta.getType()));
    return sub(one(), power(beta, step));
  }

  /// The new values, or the old ones if the update is skipped. The working copy
  /// is rounded from the new parameter.
  SmallVector<Value> keepOrTake(ArrayRef<Value> updated) {
    SmallVector<Value> results;
    for (auto [i, value] : llvm::enumerate(updated)) {
      Value old = op->getOperand(i);
      results.push_back(
          select(op.getSkip(), old, finish(value, old.getType())));
    }
    if (Value working = op.getWorking())
      results.push_back(finish(results.front(), working.getType()));
    return results;
  }

private:
  Value widenAs(Value x) { return cast(x, wide); }

  Value scale(Value number, double factor) {
    return factor == 1.0 ? number : mul(number, constant(factor, number));
  }

  int64_t countElements() {
    return llvm::cast<RankedTensorType>(op.getParam().getType())
        .getNumElements();
  }
  Value getPositions();
  Value isIn(ArrayRef<Range> ranges);

  OptimizerOpInterface op;
  Type wide; // f64 for f64 parameters, else f32
  SmallVector<UpdateFactors> factors;
  Value positions;
};

} // namespace

static bool areEqual(MadeOf madeOf, const UpdateFactors &a,
                     const UpdateFactors &b) {
  return (madeOf == MadeOf::Decay || a.hasSameLr(b)) &&
         (madeOf == MadeOf::Lr || a.hasSameDecay(b));
}

/// Joins adjacent ranges with the same value. The value with the most ranges
/// comes first, because the default needs no comparisons.
ByRange UpdateBuilder::round(MadeOf madeOf,
                             function_ref<Value(const UpdateFactors &)> make) {
  ByRange numbers;
  SmallVector<UpdateFactors> firsts;
  for (size_t i = 0; i != factors.size(); ++i) {
    auto same = llvm::find_if(firsts, [&](const UpdateFactors &first) {
      return areEqual(madeOf, first, factors[i]);
    });
    const size_t index = same - firsts.begin();
    if (same == firsts.end()) {
      firsts.push_back(factors[i]);
      numbers.emplace_back();
    }
    const bool isLast = i + 1 == factors.size();
    const int64_t end = isLast ? countElements() : factors[i + 1].begin;
    SmallVector<Range> &ranges = numbers[index].ranges;
    if (!ranges.empty() && ranges.back().end == factors[i].begin)
      ranges.back().end = end;
    else
      ranges.push_back({factors[i].begin, end});
  }
  for (auto [number, first] : llvm::zip(numbers, firsts))
    number.number = round(make(first));
  auto *most =
      std::max_element(numbers.begin(), numbers.end(),
                       [](const RangedNumber &a, const RangedNumber &b) {
                         return a.ranges.size() < b.ranges.size();
                       });
  std::swap(numbers.front(), *most);
  return numbers;
}

Value UpdateBuilder::choose(const ByRange &numbers) {
  Value chosen = numbers.front().number;
  for (const RangedNumber &other : llvm::drop_begin(numbers))
    chosen = select(isIn(other.ranges), other.number, chosen);
  return chosen;
}

/// The index of each element.
Value UpdateBuilder::getPositions() {
  if (positions)
    return positions;
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  auto type =
      IntegerType::get(op->getContext(), countElements() <= most ? 32 : 64);
  return positions = iota({0}, {countElements()}, type);
}

Value UpdateBuilder::isIn(ArrayRef<Range> ranges) {
  Value position = getPositions(), isInAny;
  auto compareWith = [&](Predicate predicate, int64_t element) {
    Type type = getElementTypeOrSelf(position.getType());
    return compare(predicate, position, integer(element, type));
  };
  for (const Range &range : ranges) {
    Value isInThis;
    if (range.begin != 0)
      isInThis = compareWith(Predicate::GE, range.begin);
    if (range.end != countElements()) {
      Value isBefore = compareWith(Predicate::LT, range.end);
      isInThis = isInThis ? logicalAnd(isInThis, isBefore) : isBefore;
    }
    isInAny = isInAny ? logicalOr(isInAny, isInThis) : isInThis;
  }
  return isInAny;
}

//===----------------------------------------------------------------------===//
// Adam
//===----------------------------------------------------------------------===//

namespace {
/// The numbers that are the same for all elements. They are built before any op
/// on elements, so that they share a kernel.
struct AdamNumbers {
  AdamNumbers(UpdateBuilder &f, bool isDecoupled);

  ByRange decay; // factor of p: 1 - lr decay if decoupled
  ByRange stepSize;
  Value isNear, weight, beta2, weight2, rootScale, eps;
};
} // namespace

AdamNumbers::AdamNumbers(UpdateBuilder &f, bool isDecoupled) {
  Value first = f.getNumber(2), second = f.getNumber(3);
  decay = f.round(isDecoupled ? MadeOf::Both : MadeOf::Decay,
                  [&](const UpdateFactors &range) {
                    if (!isDecoupled)
                      return f.getDecay(range);
                    Value lr = f.getLr(range), own = f.getDecay(range);
                    return f.sub(f.one(), f.mul(lr, own));
                  });
  weight = f.round(f.sub(f.one(), first));
  isNear = f.compare(Predicate::LT, weight, f.constant(0.5, weight));
  Value back = f.sub(weight, f.constant(1.0, weight));
  weight = f.select(isNear, weight, back);
  beta2 = f.round(second);
  weight2 = f.round(f.sub(f.one(), second));
  Value correction = f.correction(first);
  stepSize = f.round(MadeOf::Lr, [&](const UpdateFactors &range) {
    return f.div(f.getLr(range), correction);
  });
  rootScale = f.round(f.unary<SqrtOp>(f.correction(second)));
  eps = f.round(f.getNumber(4));
}

/// p, decayed, less lr / (1-b1^t) m / (sqrt(v) / sqrt(1-b2^t) + eps)
template <typename OpT>
static Values decomposeAdam(OpT op, FormulaBuilder &base) {
  UpdateBuilder f(base, op);
  const bool isDecoupled = op.getOptimizer().isDecoupled;
  AdamNumbers n(f, isDecoupled);
  Value p = f.getParam(), g = f.scaleGrad();
  Value decayed = f.mul(p, f.choose(n.decay));
  if (isDecoupled)
    p = decayed;
  else
    g = f.add(g, decayed);
  // m + (1 - beta1)(g - m) from the nearer end: weight 1 gives g itself.
  Value m = f.getState(0);
  m = f.add(f.select(n.isNear, m, g), f.mul(n.weight, f.sub(g, m)));
  Value square = f.mul(f.mul(n.weight2, g), g);
  Value v = f.add(f.mul(f.getState(1), n.beta2), square);
  Value root = f.div(f.unary<SqrtOp>(v), n.rootScale);
  Value step = f.div(f.mul(f.choose(n.stepSize), m), f.add(root, n.eps));
  return f.keepOrTake({f.sub(p, step), m, v});
}

//===----------------------------------------------------------------------===//
// SGD
//===----------------------------------------------------------------------===//

/// b = t == 1 ? g : mu b + g; p - lr (nesterov ? g + mu b : b)
static Values decomposeSgd(SgdOp sgd, FormulaBuilder &base) {
  UpdateBuilder f(base, sgd);
  ByRange lr = f.round(
      MadeOf::Lr, [&](const UpdateFactors &range) { return f.getLr(range); });
  ByRange decay = f.round(MadeOf::Decay, [&](const UpdateFactors &range) {
    return f.getDecay(range);
  });
  Value momentum = f.round(f.getNumber(2));
  Value isFirst = f.compare(Predicate::EQ, sgd.getStep(), f.integer(1));
  Value p = f.getParam();
  Value g = f.add(f.scaleGrad(), f.mul(p, f.choose(decay)));
  Value next = f.add(f.mul(f.getState(0), momentum), g);
  Value sum = f.select(isFirst, g, next);
  Value direction = sgd.getNesterov() ? f.add(g, f.mul(momentum, sum)) : sum;
  Value updated = f.sub(p, f.mul(f.choose(lr), direction));
  return f.keepOrTake({updated, sum});
}

//===----------------------------------------------------------------------===//
// Around the update
//===----------------------------------------------------------------------===//

/// accumulate == 0 ? value : old + value
static Values decomposeAccumulate(AccumulateOp accumulate, FormulaBuilder &f) {
  Value flag = accumulate.getAccumulate(), value = accumulate.getValue();
  Value isFirst = f.compare(Predicate::EQ, flag, f.constant(0.0, flag));
  Value sum = f.add(accumulate.getOld(), value);
  return SmallVector<Value>{f.select(isFirst, value, sum)};
}

/// skip ? step : step + 1
static Values decomposeStep(StepIncrementOp increment, FormulaBuilder &f) {
  Value step = increment.getStep();
  Value next = f.add(step, f.integer(1));
  return SmallVector<Value>{f.select(increment.getSkip(), step, next)};
}

void weft::registerOptimizerFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<AdamWOp, decomposeAdam>(context);
    addFormula<AdamOp, decomposeAdam>(context);
    addFormula<SgdOp, decomposeSgd>(context);
    addFormula<AccumulateOp, decomposeAccumulate>(context);
    addFormula<StepIncrementOp, decomposeStep>(context);
  });
}
