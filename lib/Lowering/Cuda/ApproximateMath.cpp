//===- ApproximateMath.cpp - Short forms of approximate functions --------===//
//
// libdevice computes exp, tanh and quotients to about an f32 place, in some
// twenty instructions. Where a function may be approximate (`afn`), the
// instructions ex2 and rcp are enough: each is off by at most two f32 places,
// 2^-22, and the rounded exponent adds |x| 2^-23 to the relative error of e^x.
// Results below 2^-126 are 0.
//
// With r = 1 / (1 + 2^(-2 u log2 e)), 1 + tanh u is 2 r. In this form nothing
// cancels for u far below 0, as GELU needs it.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {

/// Writes the short form of one op in front of it.
class ShortForm {
public:
  explicit ShortForm(Operation *op) : b(op), loc(op->getLoc()) {}

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  /// x factor. Multiplications by constants join this one, also in the second
  /// factor of x (z a + b); x + c x^3 becomes x (1 + c x^2) with the factor in
  /// both terms.
  Value scale(Value x, double factor) {
    if (auto product = x.getDefiningOp<arith::MulFOp>()) {
      std::optional<double> own = getConstant(product.getRhs());
      if (own && isNormal(*own * factor))
        x = product.getLhs(), factor *= *own;
      else if (Value linear = scaleLinear(product.getRhs(), factor))
        return multiply(product.getLhs(), linear);
    }
    auto sum = x.getDefiningOp<arith::AddFOp>();
    std::optional<double> share = sum ? getCubicShare(sum) : std::nullopt;
    if (share && isNormal(*share * factor)) {
      Value base = sum.getLhs();
      Value linear = multiplyAdd(multiply(base, base),
                                 constant(*share * factor), constant(factor));
      return multiply(base, linear);
    }
    return multiply(x, constant(factor));
  }
  /// (z a + b) factor, or null.
  Value scaleLinear(Value value, double factor) {
    auto sum = value.getDefiningOp<arith::AddFOp>();
    auto term =
        sum ? sum.getLhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
    if (!term)
      return {};
    std::optional<double> a = getConstant(term.getRhs());
    std::optional<double> b = getConstant(sum.getRhs());
    if (!a || !b || !isNormal(*a * factor) || !isNormal(*b * factor))
      return {};
    return multiplyAdd(term.getLhs(), constant(*a * factor),
                       constant(*b * factor));
  }
  /// 2^(x factor).
  Value power(Value x, double factor) {
    Value exponent = scale(x, factor);
    return LLVM::CallIntrinsicOp::create(
               b, loc, b.getF32Type(),
               b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), exponent)
        .getResult(0);
  }
  Value reciprocal(Value x) {
    return NVVM::RcpApproxFtzF32Op::create(b, loc, b.getF32Type(), x);
  }
  Value multiply(Value x, Value y) {
    return arith::MulFOp::create(b, loc, x, y);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  /// x y + z, rounded once.
  Value multiplyAdd(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value subtract(Value x, Value y) {
    return arith::SubFOp::create(b, loc, x, y);
  }

  /// c of x + ((x x) x) c.
  static std::optional<double> getCubicShare(arith::AddFOp sum) {
    Value x = sum.getLhs();
    auto scaled = sum.getRhs().getDefiningOp<arith::MulFOp>();
    auto cube = scaled ? scaled.getLhs().getDefiningOp<arith::MulFOp>()
                       : arith::MulFOp();
    auto square = cube && cube.getRhs() == x
                      ? cube.getLhs().getDefiningOp<arith::MulFOp>()
                      : arith::MulFOp();
    if (!square || square.getLhs() != x || square.getRhs() != x)
      return std::nullopt;
    return getConstant(scaled.getRhs());
  }

  /// Whether an f32 holds the number with all its places.
  static bool isNormal(double value) {
    return std::isnormal(static_cast<float>(value));
  }

  static std::optional<double> getConstant(Value value) {
    FloatAttr attr;
    if (matchPattern(value, m_Constant(&attr)))
      return attr.getValueAsDouble();
    return std::nullopt;
  }

private:
  OpBuilder b;
  Location loc;
};

/// The other operand of an op of two operands of which one is `constant`.
Value otherThan(Operation *op, double constant) {
  for (unsigned i : {0u, 1u})
    if (ShortForm::getConstant(op->getOperand(i)) == constant)
      return op->getOperand(1 - i);
  return {};
}

/// The parts of (1 + tanh u + x ((1 - tanh^2 u) w)) / 2, the slope of GELU with
/// w = du/dx, by its last op.
struct GeluSlope {
  arith::MulFOp half, square;
  Value x, w;
};

/// The slope of GELU whose 1 + tanh u is `level`, or nothing.
std::optional<GeluSlope> findGeluSlope(arith::AddFOp level) {
  if (!level->hasOneUse())
    return std::nullopt;
  auto sum = dyn_cast<arith::AddFOp>(*level->user_begin());
  auto half = sum && sum->hasOneUse()
                  ? dyn_cast<arith::MulFOp>(*sum->user_begin())
                  : arith::MulFOp();
  auto product =
      sum ? sum.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  auto slope = product ? product.getRhs().getDefiningOp<arith::MulFOp>()
                       : arith::MulFOp();
  auto rest =
      slope ? slope.getLhs().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  auto square =
      rest ? rest.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  Value tanh = otherThan(level, 1);
  if (!half || otherThan(half, 0.5) != sum.getResult() || !square || !tanh ||
      sum.getLhs() != level.getResult() ||
      ShortForm::getConstant(rest.getLhs()) != 1.0 || square.getLhs() != tanh ||
      square.getRhs() != tanh)
    return std::nullopt;
  return GeluSlope{half, square, product.getLhs(), slope.getRhs()};
}

/// r + x (2 w) r (1 - r), in which nothing cancels.
void replaceGeluSlope(const GeluSlope &gelu, Value share) {
  ShortForm form(gelu.half);
  Value twice = form.scaleLinear(gelu.w, 2);
  if (!twice)
    twice = form.multiply(gelu.w, form.constant(2));
  Value rest = form.multiply(share, form.subtract(form.constant(1), share));
  Value slope = form.multiplyAdd(gelu.x, form.multiply(rest, twice), share);
  gelu.half->getResult(0).replaceAllUsesWith(slope);
  gelu.half->erase();
}

/// Products of 1 + tanh u = 2 r and x / 2 become x r, which has the same bits.
void replaceHalves(Value level, Value share) {
  for (Operation *user :
       llvm::SetVector<Operation *>(level.user_begin(), level.user_end())) {
    auto multiply = dyn_cast<arith::MulFOp>(user);
    if (!multiply || multiply.getLhs() == multiply.getRhs())
      continue;
    Value half =
        multiply.getLhs() == level ? multiply.getRhs() : multiply.getLhs();
    auto halved = half.getDefiningOp<arith::MulFOp>();
    if (Value whole = halved ? otherThan(halved, 0.5) : Value()) {
      multiply.getLhsMutable().assign(whole);
      multiply.getRhsMutable().assign(share);
    }
  }
}

/// All of the sums 1 + tanh u if nothing but these, and slopes of GELU with
/// them, reads tanh u. By itself it would be 2 r - 1, of which little is left
/// for small u.
SmallVector<arith::AddFOp> findSums(math::TanhOp tanh) {
  SmallVector<arith::AddFOp> sums;
  llvm::SmallPtrSet<Operation *, 4> known;
  for (Operation *user : tanh->getUsers()) {
    auto sum = dyn_cast<arith::AddFOp>(user);
    if (!sum || !otherThan(sum, 1))
      continue;
    sums.push_back(sum);
    known.insert(sum);
    if (std::optional<GeluSlope> gelu = findGeluSlope(sum))
      known.insert(gelu->square);
  }
  bool areAll = llvm::all_of(
      tanh->getUsers(), [&](Operation *user) { return known.contains(user); });
  return areAll ? sums : SmallVector<arith::AddFOp>();
}

/// Users of 1 + tanh u get 2 r; where that is part of GELU or of its slope,
/// these get short forms of their own.
void replaceTanh(math::TanhOp tanh) {
  SmallVector<arith::AddFOp> sums = findSums(tanh);
  if (sums.empty())
    return;
  ShortForm form(tanh);
  const double log2e = 1 / std::log(2.0);
  Value power = form.power(tanh.getOperand(), -2 * log2e);
  Value share = form.reciprocal(form.add(power, form.constant(1)));
  Value level = form.multiply(share, form.constant(2));
  for (arith::AddFOp sum : sums) {
    if (std::optional<GeluSlope> gelu = findGeluSlope(sum))
      replaceGeluSlope(*gelu, share);
    replaceHalves(sum, share);
    sum->getResult(0).replaceAllUsesWith(level);
    sum->erase();
  }
}

void replaceExp(math::ExpOp exp) {
  ShortForm form(exp);
  exp->getResult(0).replaceAllUsesWith(
      form.power(exp.getOperand(), 1 / std::log(2.0)));
  exp->erase();
}

bool mayBeApproximate(arith::ArithFastMathInterface op) {
  return bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::afn);
}

/// Whether the value is 1 plus an approximate power, so at least 1.
bool isAboveOne(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  Value power = sum ? otherThan(sum, 1) : Value();
  auto exp = power ? power.getDefiningOp<math::ExpOp>() : math::ExpOp();
  return exp && mayBeApproximate(exp);
}

void replaceReciprocal(arith::DivFOp quotient) {
  ShortForm form(quotient);
  quotient->getResult(0).replaceAllUsesWith(form.reciprocal(quotient.getRhs()));
  quotient->erase();
}

} // namespace

/// Whether the op has a short form: an approximate function, or the reciprocal
/// of 1 plus an approximate power, which is as uncertain. Of other quotients a
/// large numerator would be lost where the reciprocal is below 2^-126.
static bool hasShortForm(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return false;
  if (isa<math::TanhOp, math::ExpOp>(op))
    return mayBeApproximate(cast<arith::ArithFastMathInterface>(op));
  return isa<arith::DivFOp>(op) &&
         ShortForm::getConstant(op->getOperand(0)) == 1.0 &&
         isAboveOne(op->getOperand(1));
}

/// libdevice's functions of the flag are off by more than it allows here.
static void dropFlags(gpu::GPUFuncOp function) {
  function.walk([](Operation *op) {
    if (auto exp = dyn_cast<math::ExpOp>(op))
      exp.setFastmath(arith::FastMathFlags::none);
    else if (auto tanh = dyn_cast<math::TanhOp>(op))
      tanh.setFastmath(arith::FastMathFlags::none);
  });
}

void weft::approximateMath(gpu::GPUFuncOp function) {
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (hasShortForm(op))
      found.push_back(op);
  });
  for (Operation *op : found) {
    if (auto tanh = dyn_cast<math::TanhOp>(op))
      replaceTanh(tanh);
    else if (auto exp = dyn_cast<math::ExpOp>(op))
      replaceExp(exp);
    else
      replaceReciprocal(cast<arith::DivFOp>(op));
  }
  dropFlags(function);
}
