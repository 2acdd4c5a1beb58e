//===- MathExpression.cpp - Elementary functions as polynomials -----------===//
//
// f32 only; scalars and vectors run the same operations, so a value has the
// same bits wherever it is computed. Bounds (against double references) are in
// docs/explanation/codegen-cpu.md; test/unit/Lowering/MathTest.cpp tests them.
//
//===----------------------------------------------------------------------===//

#include "MathExpression.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace weft;

/// The largest |x| that sine reduces itself.
static constexpr double kMostReduced = 1073741824.0;

/// x = n ln 2 + r with |r| <= ln 2 / 2; e^x = 2^n e^r: n is added to the bits.
/// A result below the normal numbers is rounded once by a sum with the least of
/// them, both 2^64 times as large: processors are slow with subnormal factors.
Value MathExpression::exp(Value x) {
  Value clamped = atLeast(atMost(x, 89.0), -104.5);
  Value n = roundEven(mul(clamped, num(1.44269504088896341)));
  Value r = fma(n, num(-0.693359375), clamped);
  r = fma(n, num(2.12194440054690583e-4), r);
  // Taylor-like minimax polynomial of (e^r - 1 - r) / r^2.
  Value p = poly(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                     4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  Value e = add(fma(p, mul(r, r), r), num(1.0));
  auto exponent = [&](int64_t k) { return integer(k << 23); };
  Value power = integerOp<arith::ShLIOp>(toInt(n), integer(23));
  Value word = integerOp<arith::AddIOp>(bits(e), power);
  Value raised = fromBits(integerOp<arith::AddIOp>(word, exponent(64)));
  Value low =
      integerOp<arith::SubIOp>(bits(add(raised, num(0x1p-62))), exponent(65));
  Value isLow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, word,
                                      exponent(1));
  Value high = integerOp<arith::MinSIOp>(word, exponent(255)); // infinity
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, e, e);
  return select(isNan, e, fromBits(select(isLow, low, high)));
}

/// x = 2^k m with m in [sqrt(1/2), sqrt(2)); ln x = k ln 2 + ln m.
Value MathExpression::log(Value x) {
  Value tiny = compare(arith::CmpFPredicate::OLT, x, 1.17549435e-38);
  Value scaled = select(tiny, mul(x, num(8388608.0)), x);
  Value word = integerOp<arith::SubIOp>(bits(scaled), integer(0x3f3504f3));
  Value k = integerOp<arith::ShRSIOp>(word, integer(23));
  Value mantissa = integerOp<arith::AndIOp>(word, integer(0x007fffff));
  Value m = fromBits(integerOp<arith::AddIOp>(mantissa, integer(0x3f3504f3)));
  Value f = sub(m, num(1.0));
  Value exponent = sub(toFloat(k), select(tiny, num(23.0), num(0.0)));
  Value p = poly(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                     -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                     2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Value square = mul(f, f);
  Value y = mul(mul(p, f), square);
  y = fma(exponent, num(-2.12194440e-4), y);
  y = fma(square, num(-0.5), y);
  y = fma(exponent, num(0.693359375), add(f, y));
  // Not a positive number: -inf for 0, NaN below, the operand for inf and NaN.
  double infinity = std::numeric_limits<double>::infinity();
  Value isFinite = compare(arith::CmpFPredicate::OLT, x, infinity);
  y = select(isFinite, y, x);
  y = select(compare(arith::CmpFPredicate::OEQ, x, 0.0), num(-infinity), y);
  return select(compare(arith::CmpFPredicate::OLT, x, 0.0),
                num(std::numeric_limits<double>::quiet_NaN()), y);
}

/// ln(u) x / (u - 1) with u = 1 + x rounded (Kahan).
Value MathExpression::log1p(Value x) {
  Value u = add(num(1.0), x);
  Value d = sub(u, num(1.0));
  Value y = mul(log(u), div(x, d));
  Value same =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, d, num(0.0));
  y = select(same, x, y);
  double infinity = std::numeric_limits<double>::infinity();
  y = select(compare(arith::CmpFPredicate::OEQ, x, infinity), x, y);
  return select(compare(arith::CmpFPredicate::OEQ, x, -1.0), num(-infinity), y);
}

Value MathExpression::tanh(Value x) {
  Value t = abs(x), s = mul(x, x);
  Value p = poly(s, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                     1.33314422036e-1, -3.33332819422e-1});
  Value small = fma(mul(p, s), x, x);
  Value e = exp(mul(atMost(t, 10.0), num(2.0)));
  Value large = sub(num(1.0), div(num(2.0), add(e, num(1.0))));
  Value isSmall = compare(arith::CmpFPredicate::OLT, t, 0.625);
  return select(isSmall, small, copySign(large, x));
}

/// 2^x = 2^n 2^r with |r| <= 1/2. The lowest bits of 1.5 2^23 + x are n, which
/// is added to the exponent of 2^r. Off by 2^-22 of the result, and below
/// 2^-126 by less than that number.
Value MathExpression::power(Value x) {
  Value clamped = atLeast(atMost(x, 128.0), -127.0);
  Value shifted = add(clamped, num(12582912.0));
  Value r = sub(clamped, sub(shifted, num(12582912.0)));
  // Minimax of the relative error, with 1 for r = 0.
  Value p =
      poly(r, {1.3264727247110143e-3, 9.6715126881517e-3, 5.550733743574232e-2,
               2.4022242084635104e-1, 6.931469775987171e-1, 1.0});
  Value n = integerOp<arith::ShLIOp>(bits(shifted), integer(23));
  Value y = fromBits(integerOp<arith::AddIOp>(bits(p), n));
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, p, p);
  return select(isNan, p, y);
}

Value MathExpression::approximateExp(Value x) {
  return power(mul(x, num(1.44269504088896341)));
}

/// 1 - 2 / (e^2x + 1), whose absolute error is 2^-22; of small x, x - x^3 / 3.
Value MathExpression::approximateTanh(Value x) {
  Value e = power(mul(x, num(2 * 1.44269504088896341)));
  Value large = sub(num(1.0), div(num(2.0), add(e, num(1.0))));
  Value small = mul(fma(mul(x, x), num(-1.0 / 3), num(1.0)), x);
  Value isSmall = compare(arith::CmpFPredicate::OLT, abs(x), 0.0625);
  return select(isSmall, small, large);
}

Value MathExpression::erf(Value x) {
  Value t = atMost(abs(x), 4.0), s = mul(t, t);
  Value q = fma(num(-1.72853470e-5), t, num(3.83197126e-4));
  Value u = fma(num(-3.88396438e-3), t, num(2.42546219e-2));
  q = fma(q, s, u);
  q = fma(q, t, num(-1.06777877e-1));
  q = fma(q, t, num(-6.34846687e-1));
  q = fma(q, t, num(-1.28717512e-1));
  q = fma(q, t, sub(num(0.0), t));
  Value large = copySign(sub(num(1.0), exp(q)), x);
  Value p = poly(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2,
                     1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  Value small = fma(p, x, x);
  Value isLarge = compare(arith::CmpFPredicate::OGT, t, 0.927734375);
  return select(isLarge, large, small);
}

/// `small` where |x| is up to 2^30; beyond, where the reduction of sine loses
/// its digits, libm's result in f64. Vectors without such a lane skip the
/// calls.
Value MathExpression::sineOfLarge(Value x, Value small, int64_t quarter) {
  Value isLarge = compare(arith::CmpFPredicate::OGT, abs(x), kMostReduced);
  Value any = isLarge;
  if (isa<VectorType>(type))
    any =
        vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, isLarge);
  auto branch = scf::IfOp::create(
      b, loc, any,
      [&](OpBuilder &inner, Location) {
        Type f64 = with(inner.getF64Type());
        Value wide = arith::ExtFOp::create(inner, loc, f64, x);
        Value y = quarter == 0
                      ? LLVM::SinOp::create(inner, loc, f64, wide).getResult()
                      : LLVM::CosOp::create(inner, loc, f64, wide).getResult();
        Value large = arith::TruncFOp::create(inner, loc, type, y);
        Value all = arith::SelectOp::create(inner, loc, isLarge, large, small);
        scf::YieldOp::create(inner, loc, all);
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, small);
      });
  return branch.getResult(0);
}

/// sin(x + quarter pi / 2), reduced and evaluated in f64.
Value MathExpression::sine(Value x, int64_t quarter) {
  MathExpression d(b, loc, with(b.getF64Type()), /*useFma=*/true);
  Value wide = arith::ExtFOp::create(b, loc, with(b.getF64Type()), x);
  Value n = d.roundEven(d.mul(wide, d.num(0.63661977236758134308)));
  n = d.atLeast(d.atMost(n, kMostReduced), -kMostReduced);
  Value r = d.fma(n, d.num(-1.5707963267948965580), wide);
  r = d.fma(n, d.num(-6.1232339957367660359e-17), r);
  Value s = d.mul(r, r);
  Value odd = d.poly(s, {2.7557313707070068e-6, -1.9841269829857949e-4,
                         8.3333333333224895e-3, -1.6666666666666633e-1});
  Value even = d.poly(s, {-2.7557314351390663e-7, 2.4801587288851704e-5,
                          -1.3888888888730564e-3, 4.1666666666665929e-2, -0.5});
  Value sin = d.fma(d.mul(odd, s), r, r);
  Value cos = d.fma(even, s, d.num(1.0));
  Value k = arith::FPToSIOp::create(b, loc, with(b.getI32Type()), n);
  k = integerOp<arith::AddIOp>(k, integer(quarter));
  auto isSet = [&](int64_t bit) -> Value {
    Value masked = integerOp<arith::AndIOp>(k, integer(bit));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked,
                                 integer(0));
  };
  Value value = d.select(isSet(1), cos, sin);
  value = d.select(isSet(2), d.sub(d.num(0.0), value), value);
  Value result = arith::TruncFOp::create(b, loc, with(b.getF32Type()), value);
  // NaN for NaN: the reduction compares it away.
  Value isNan = compare(arith::CmpFPredicate::UNO, x, 0.0);
  result = select(isNan, x, result);
  // Keeps the sign of zero.
  if (quarter == 0)
    result = select(compare(arith::CmpFPredicate::OEQ, x, 0.0), x, result);
  return sineOfLarge(x, result, quarter);
}
