//===- RunElementwise.cpp - Element by element ----------------------------===//

#include "OpFunctions.h"

#include <cmath>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <typename Function> static OpFunction unary(Function function) {
  return [function](OpCall &call) {
    const Tensor &operand = call.operand(0);
    for (int64_t i = 0; i < operand.size(); ++i)
      call.result().at(i) = function(operand.at(i));
    return success();
  };
}

static double sign(double x) {
  return std::isnan(x) ? x : double((x > 0) - (x < 0));
}

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
static double softplus(double x) {
  return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x)));
}

static double geluErf(double x) {
  return 0.5 * x * (1 + std::erf(x * M_SQRT1_2));
}

/// Phi(x) + x phi(x), the normal distribution and its density.
static double geluErfSlope(double x) {
  double density = std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
  return 0.5 * (1 + std::erf(x * M_SQRT1_2)) + x * density;
}

double weft::relu(double x) { return x < 0 ? 0 : x; }

/// A NaN passes the gradient on.
double weft::reluGrad(double grad, double x) { return x <= 0 ? 0 : grad; }

double weft::geluTanh(double x) {
  double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

/// With u = sqrt(2/pi) (x + 0.044715 x^3):
///   (1 + tanh u) / 2 + x (1 - tanh^2 u) u' / 2.
static double geluTanhSlope(double x) {
  double factor = std::sqrt(2 / M_PI);
  double t = std::tanh(factor * (x + 0.044715 * x * x * x));
  double slope = factor * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope;
}

double weft::geluTanhGrad(double grad, double x) {
  return grad * geluTanhSlope(x);
}

static double geluErfGrad(double grad, double x) {
  return grad * geluErfSlope(x);
}

static LogicalResult evaluateGelu(OpCall &call) {
  bool approximate = call.as<GeluOp>().getApproximate() == GeluKind::Tanh;
  return unary(approximate ? geluTanh : geluErf)(call);
}

template <double (*Function)(double, double)>
static LogicalResult evaluateGradient(OpCall &call) {
  for (int64_t i = 0; i < call.result().size(); ++i)
    call.result().at(i) =
        Function(call.operand(0).at(i), call.operand(1).at(i));
  return success();
}

static LogicalResult evaluateGeluGrad(OpCall &call) {
  bool approximate = call.as<GeluGradOp>().getApproximate() == GeluKind::Tanh;
  return approximate ? evaluateGradient<geluTanhGrad>(call)
                     : evaluateGradient<geluErfGrad>(call);
}

static LogicalResult evaluateNot(OpCall &call) {
  for (int64_t i = 0; i < call.result().size(); ++i)
    call.result().intAt(i) = !call.operand(0).intAt(i);
  return success();
}

//===----------------------------------------------------------------------===//
// Several operands, broadcast
//===----------------------------------------------------------------------===//

/// Calls visit(result position, positions in the operands).
static void
forEachBroadcast(OpCall &call,
                 function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> positions(call.operands.size());
  int64_t position = 0;
  forEachIndex(call.result().shape(), [&](ArrayRef<int64_t> index) {
    for (auto [operand, offset] : llvm::zip(call.operands, positions))
      offset = broadcastOffset(operand->shape(), index);
    visit(position++, positions);
  });
}

static bool divides(const Tensor &divisor) {
  return llvm::all_of(divisor.intValues(), [](int64_t v) { return v != 0; });
}

/// `onFloats` for floating point, `onInts` for integers.
template <typename OnFloats, typename OnInts>
static OpFunction binary(OnFloats onFloats, OnInts onInts) {
  return [=](OpCall &call) {
    const Tensor &lhs = call.operand(0), &rhs = call.operand(1);
    forEachBroadcast(call, [&](int64_t i, ArrayRef<int64_t> from) {
      if (lhs.isFloat())
        call.result().at(i) = onFloats(lhs.at(from[0]), rhs.at(from[1]));
      else
        call.result().intAt(i) = onInts(lhs.intAt(from[0]), rhs.intAt(from[1]));
    });
    return success();
  };
}

static double maxNan(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}
static double minNan(double a, double b) {
  return std::isnan(a) || a < b ? a : b;
}

// Integers wrap around: through unsigned, where overflow is defined.
static int64_t addInts(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) + uint64_t(b));
}
static int64_t subInts(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) - uint64_t(b));
}
static int64_t mulInts(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) * uint64_t(b));
}
static int64_t divInts(int64_t a, int64_t b) {
  return b == -1 ? subInts(0, a) : a / b;
}
static int64_t powInts(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; exponent; exponent >>= 1, base = mulInts(base, base))
    if (exponent & 1)
      result = mulInts(result, base);
  return result;
}

static LogicalResult evaluateDiv(OpCall &call) {
  if (!call.operand(1).isFloat() && !divides(call.operand(1)))
    return call.fail() << "expects integer divisors other than 0";
  return binary([](double a, double b) { return a / b; }, divInts)(call);
}

template <typename T> static bool holds(Predicate predicate, T a, T b) {
  switch (predicate) {
  case Predicate::EQ:
    return a == b;
  case Predicate::NE:
    return a != b;
  case Predicate::LT:
    return a < b;
  case Predicate::LE:
    return a <= b;
  case Predicate::GT:
    return a > b;
  case Predicate::GE:
    return a >= b;
  }
  llvm_unreachable("all predicates are handled");
}

static LogicalResult evaluateCompare(OpCall &call) {
  Predicate predicate = call.as<CompareOp>().getPredicate();
  const Tensor &lhs = call.operand(0), &rhs = call.operand(1);
  forEachBroadcast(call, [&](int64_t i, ArrayRef<int64_t> from) {
    call.result().intAt(i) =
        lhs.isFloat()
            ? holds(predicate, lhs.at(from[0]), rhs.at(from[1]))
            : holds(predicate, lhs.intAt(from[0]), rhs.intAt(from[1]));
  });
  return success();
}

static LogicalResult evaluateSelect(OpCall &call) {
  forEachBroadcast(call, [&](int64_t i, ArrayRef<int64_t> from) {
    unsigned chosen = call.operand(0).intAt(from[0]) ? 1 : 2;
    const Tensor &source = call.operand(chosen);
    if (source.isFloat())
      call.result().at(i) = source.at(from[chosen]);
    else
      call.result().intAt(i) = source.intAt(from[chosen]);
  });
  return success();
}

/// Float to integer truncates and saturates; NaN gives 0.
static int64_t truncate(double value, ElementKind kind) {
  if (std::isnan(value))
    return 0;
  int64_t least = kind == ElementKind::I32 ? INT32_MIN : INT64_MIN;
  int64_t most = kind == ElementKind::I32 ? INT32_MAX : INT64_MAX;
  if (value <= double(least))
    return least;
  return value >= double(most) ? most : int64_t(value);
}

static LogicalResult evaluateCast(OpCall &call) {
  const Tensor &from = call.operand(0);
  Tensor &to = call.result();
  for (int64_t i = 0; i < from.size(); ++i) {
    if (to.isFloat())
      to.at(i) = from.value(i);
    else if (to.kind() == ElementKind::I1)
      to.intAt(i) = from.value(i) != 0;
    else
      to.intAt(i) =
          from.isFloat() ? truncate(from.at(i), to.kind()) : from.intAt(i);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

static void addUnaryOps(MLIRContext *context) {
  interpretAs<NegOp>(context, unary([](double x) { return -x; }));
  interpretAs<AbsOp>(context, unary([](double x) { return std::fabs(x); }));
  interpretAs<SignOp>(context, unary(sign));
  interpretAs<ExpOp>(context, unary([](double x) { return std::exp(x); }));
  interpretAs<LogOp>(context, unary([](double x) { return std::log(x); }));
  interpretAs<Log1pOp>(context, unary([](double x) { return std::log1p(x); }));
  interpretAs<SqrtOp>(context, unary([](double x) { return std::sqrt(x); }));
  interpretAs<RsqrtOp>(context,
                       unary([](double x) { return 1 / std::sqrt(x); }));
  interpretAs<ReciprocalOp>(context, unary([](double x) { return 1 / x; }));
  interpretAs<TanhOp>(context, unary([](double x) { return std::tanh(x); }));
  interpretAs<ErfOp>(context, unary([](double x) { return std::erf(x); }));
  interpretAs<SinOp>(context, unary([](double x) { return std::sin(x); }));
  interpretAs<CosOp>(context, unary([](double x) { return std::cos(x); }));
  interpretAs<SigmoidOp>(context, unary(sigmoid));
  interpretAs<ReluOp>(context, unary(relu));
  interpretAs<SiluOp>(context, unary([](double x) { return x * sigmoid(x); }));
  interpretAs<SoftplusOp>(context, unary(softplus));
  interpretAs<GeluOp>(context, evaluateGelu);
  interpretAs<ReluGradOp>(context, evaluateGradient<reluGrad>);
  interpretAs<GeluGradOp>(context, evaluateGeluGrad);
  interpretAs<NotOp>(context, evaluateNot);
}

void weft::addElementwiseOps(MLIRContext *context) {
  addUnaryOps(context);
  interpretAs<AddOp>(context,
                     binary([](double a, double b) { return a + b; }, addInts));
  interpretAs<SubOp>(context,
                     binary([](double a, double b) { return a - b; }, subInts));
  interpretAs<MulOp>(context,
                     binary([](double a, double b) { return a * b; }, mulInts));
  interpretAs<DivOp>(context, evaluateDiv);
  interpretAs<MaxOp>(context, binary(maxNan, [](int64_t a, int64_t b) {
                       return std::max(a, b);
                     }));
  interpretAs<MinOp>(context, binary(minNan, [](int64_t a, int64_t b) {
                       return std::min(a, b);
                     }));
  interpretAs<PowOp>(
      context,
      binary([](double a, double b) { return std::pow(a, b); }, powInts));
  interpretAs<AndOp>(
      context, binary(maxNan, [](int64_t a, int64_t b) { return a & b; }));
  interpretAs<OrOp>(context,
                    binary(maxNan, [](int64_t a, int64_t b) { return a | b; }));
  interpretAs<CompareOp>(context, evaluateCompare);
  interpretAs<SelectOp>(context, evaluateSelect);
  interpretAs<CastOp>(context, evaluateCast);
}
