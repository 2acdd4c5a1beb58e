//===- MathExpression.h - Arithmetic of elementary functions ----*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CPU_MATHEXPRESSION_H
#define WEFT_LIB_LOWERING_CPU_MATHEXPRESSION_H

#include "Splat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace weft {

/// Builds expressions over one type, f32 or a vector of it.
class MathExpression {
public:
  MathExpression(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                 bool useFma)
      : b(b), loc(loc), type(type), useFma(useFma) {}

  mlir::Value num(double value) { return constant(type, value); }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  mlir::Value abs(mlir::Value x) {
    return mlir::math::AbsFOp::create(b, loc, x);
  }
  /// x y + z; rounded once where the target can.
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) {
    if (useFma)
      return mlir::math::FmaOp::create(b, loc, x, y, z);
    return add(mul(x, y), z);
  }
  /// Horner's rule, the highest coefficient first.
  mlir::Value poly(mlir::Value x, llvm::ArrayRef<double> coefficients) {
    mlir::Value sum = num(coefficients.front());
    for (double c : coefficients.drop_front())
      sum = fma(sum, x, num(c));
    return sum;
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, c, x, y);
  }
  /// min and max that keep a NaN in `x`.
  mlir::Value atMost(mlir::Value x, double limit) {
    return select(compare(mlir::arith::CmpFPredicate::OGT, x, limit),
                  num(limit), x);
  }
  mlir::Value atLeast(mlir::Value x, double limit) {
    return select(compare(mlir::arith::CmpFPredicate::OLT, x, limit),
                  num(limit), x);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x,
                      double y) {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x,
                                       constant(x.getType(), y));
  }
  mlir::Value copySign(mlir::Value x, mlir::Value sign) {
    return mlir::math::CopySignOp::create(b, loc, x, sign);
  }

  mlir::Type with(mlir::Type element) {
    auto vector = llvm::dyn_cast<mlir::VectorType>(type);
    return vector ? mlir::Type(vector.cloneWith(std::nullopt, element))
                  : element;
  }
  mlir::Value integer(int64_t value) {
    return constant(with(b.getI32Type()), value);
  }
  mlir::Value bits(mlir::Value x) {
    return mlir::arith::BitcastOp::create(b, loc, with(b.getI32Type()), x);
  }
  mlir::Value fromBits(mlir::Value x) {
    return mlir::arith::BitcastOp::create(b, loc, with(b.getF32Type()), x);
  }
  mlir::Value toFloat(mlir::Value x) {
    return mlir::arith::SIToFPOp::create(b, loc, with(b.getF32Type()), x);
  }
  mlir::Value toInt(mlir::Value x) {
    return mlir::arith::FPToSIOp::create(b, loc, with(b.getI32Type()), x);
  }
  template <typename Op> mlir::Value integerOp(mlir::Value x, mlir::Value y) {
    return Op::create(b, loc, x, y);
  }
  mlir::Value roundEven(mlir::Value x) {
    return mlir::math::RoundEvenOp::create(b, loc, x);
  }

  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value approximateExp(mlir::Value x);
  mlir::Value approximateTanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value sin(mlir::Value x) { return sine(x, 0); }
  mlir::Value cos(mlir::Value x) { return sine(x, 1); }

private:
  mlir::Value power(mlir::Value x);
  mlir::Value sine(mlir::Value x, int64_t quarter);
  mlir::Value sineOfLarge(mlir::Value x, mlir::Value small, int64_t quarter);
  mlir::Value constant(mlir::Type t, double value) {
    return createSplat(b, loc, t, value);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
  bool useFma;
};

} // namespace weft

#endif // WEFT_LIB_LOWERING_CPU_MATHEXPRESSION_H
