//===- ScalarBodies.cpp - One element of an elementwise op ----------------===//
//
// Bodies in arith and math ops, for scalars and for vectors alike. f16 and bf16
// are promoted to f32 by whoever emits a body, so floats here are f32 or f64.
//
//===----------------------------------------------------------------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace weft;

/// A constant of the type (scalar or vector) of `like`.
static Value constantLike(OpBuilder &b, Location loc, Value like,
                          double value) {
  Type type = like.getType(), element = getElementTypeOrSelf(type);
  TypedAttr attr = isa<FloatType>(element)
                       ? TypedAttr(b.getFloatAttr(element, value))
                       : TypedAttr(b.getIntegerAttr(element, value));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, loc, attr);
}

namespace {
/// The body of an op as a function.
template <typename OpT, Value (*build)(OpT, OpBuilder &, Location, ValueRange)>
struct BodyModel
    : ScalarBodyOpInterface::ExternalModel<BodyModel<OpT, build>, OpT> {
  Value buildScalarBody(Operation *op, OpBuilder &b, Location loc,
                        ValueRange s) const {
    return build(cast<OpT>(op), b, loc, s);
  }
};
} // namespace

template <typename OpT, Value (*build)(OpT, OpBuilder &, Location, ValueRange)>
static void addBody(MLIRContext *context) {
  OpT::template attachInterface<BodyModel<OpT, build>>(*context);
}

template <typename OpT, typename Body>
static Value buildUnary(OpT, OpBuilder &b, Location loc, ValueRange s) {
  return Body::create(b, loc, s[0]);
}

/// A function that may be approximate in f32.
template <typename OpT, typename Body>
static Value buildApproximable(OpT op, OpBuilder &b, Location loc,
                               ValueRange s) {
  const bool isShort = op.getAfn() && getElementTypeOrSelf(s[0]).isF32();
  const auto flags =
      isShort ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
  return Body::create(b, loc, s[0], flags);
}

template <typename OpT, typename FloatBody, typename IntBody>
static Value buildBinary(OpT, OpBuilder &b, Location loc, ValueRange s) {
  if (isa<FloatType>(getElementTypeOrSelf(s[0])))
    return FloatBody::create(b, loc, s[0], s[1]);
  return IntBody::create(b, loc, s[0], s[1]);
}

template <typename OpT>
static Value buildIdentity(OpT, OpBuilder &, Location, ValueRange s) {
  return s[0];
}

static Value buildPow(PowOp, OpBuilder &b, Location loc, ValueRange s) {
  return math::PowFOp::create(b, loc, s[0], s[1]);
}

/// Integers: x / 0 is 0, and no quotient traps (masked lanes hold zeros).
static Value buildDiv(DivOp, OpBuilder &b, Location loc, ValueRange s) {
  if (isa<FloatType>(getElementTypeOrSelf(s[0])))
    return arith::DivFOp::create(b, loc, s[0], s[1]);
  Value zero = constantLike(b, loc, s[0], 0),
        one = constantLike(b, loc, s[0], 1);
  auto equals = [&](Value value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, s[1], value);
  };
  Value isZero = equals(zero);
  Value isMinusOne = equals(constantLike(b, loc, s[0], -1));
  Value unsafe = arith::OrIOp::create(b, loc, isZero, isMinusOne);
  Value divisor = arith::SelectOp::create(b, loc, unsafe, one, s[1]);
  Value quotient = arith::DivSIOp::create(b, loc, s[0], divisor);
  Value negated = arith::SubIOp::create(b, loc, zero, s[0]);
  quotient = arith::SelectOp::create(b, loc, isMinusOne, negated, quotient);
  return arith::SelectOp::create(b, loc, isZero, zero, quotient);
}

static Value buildSign(SignOp, OpBuilder &b, Location loc, ValueRange s) {
  Value zero = constantLike(b, loc, s[0], 0.0);
  auto compare = [&](arith::CmpFPredicate predicate) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, s[0], zero);
  };
  Value negative =
      arith::SelectOp::create(b, loc, compare(arith::CmpFPredicate::OLT),
                              constantLike(b, loc, s[0], -1.0), s[0]);
  return arith::SelectOp::create(b, loc, compare(arith::CmpFPredicate::OGT),
                                 constantLike(b, loc, s[0], 1.0), negative);
}

static Value buildRelu(ReluOp, OpBuilder &b, Location loc, ValueRange s) {
  return arith::MaximumFOp::create(b, loc, s[0],
                                   constantLike(b, loc, s[0], 0.0));
}

static Value buildRsqrt(RsqrtOp, OpBuilder &b, Location loc, ValueRange s) {
  return arith::DivFOp::create(b, loc, constantLike(b, loc, s[0], 1.0),
                               math::SqrtOp::create(b, loc, s[0]));
}

static Value buildReciprocal(ReciprocalOp, OpBuilder &b, Location loc,
                             ValueRange s) {
  return arith::DivFOp::create(b, loc, constantLike(b, loc, s[0], 1.0), s[0]);
}

static Value buildNot(NotOp, OpBuilder &b, Location loc, ValueRange s) {
  return arith::XOrIOp::create(b, loc, s[0], constantLike(b, loc, s[0], 1.0));
}

static Value buildSelect(SelectOp, OpBuilder &b, Location loc, ValueRange s) {
  return arith::SelectOp::create(b, loc, s[0], s[1], s[2]);
}

static arith::CmpFPredicate getFloat(Predicate predicate) {
  switch (predicate) {
  case Predicate::EQ:
    return arith::CmpFPredicate::OEQ;
  case Predicate::NE:
    return arith::CmpFPredicate::UNE;
  case Predicate::LT:
    return arith::CmpFPredicate::OLT;
  case Predicate::LE:
    return arith::CmpFPredicate::OLE;
  case Predicate::GT:
    return arith::CmpFPredicate::OGT;
  case Predicate::GE:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("covered switch");
}

static arith::CmpIPredicate getInt(Predicate predicate, bool isBool) {
  switch (predicate) {
  case Predicate::EQ:
    return arith::CmpIPredicate::eq;
  case Predicate::NE:
    return arith::CmpIPredicate::ne;
  case Predicate::LT:
    return isBool ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  case Predicate::LE:
    return isBool ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
  case Predicate::GT:
    return isBool ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  case Predicate::GE:
    return isBool ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
  }
  llvm_unreachable("covered switch");
}

static Value buildCompare(CompareOp op, OpBuilder &b, Location loc,
                          ValueRange s) {
  Predicate predicate = op.getPredicate();
  if (isa<FloatType>(getElementTypeOrSelf(s[0])))
    return arith::CmpFOp::create(b, loc, getFloat(predicate), s[0], s[1]);
  bool isBool = getElementTypeOrSelf(s[0]).isInteger(1);
  return arith::CmpIOp::create(b, loc, getInt(predicate, isBool), s[0], s[1]);
}

static Type getF32Like(OpBuilder &b, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.cloneWith(std::nullopt, b.getF32Type()))
                : b.getF32Type();
}

static Value castFloat(OpBuilder &b, Location loc, Value value, Type type) {
  unsigned from = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from == to) { // f16 and bf16: over f32
    value = arith::ExtFOp::create(b, loc, getF32Like(b, type), value);
    return arith::TruncFOp::create(b, loc, type, value);
  }
  if (from < to)
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

/// To 16-bit floats over f32: not every target converts to them.
static Value castToFloat(OpBuilder &b, Location loc, Value value, Type type) {
  bool isLow = getElementTypeOrSelf(type).getIntOrFloatBitWidth() == 16;
  Type wide = isLow ? getF32Like(b, type) : type;
  Value number = getElementTypeOrSelf(value).isInteger(1)
                     ? arith::UIToFPOp::create(b, loc, wide, value).getResult()
                     : arith::SIToFPOp::create(b, loc, wide, value).getResult();
  return isLow ? castFloat(b, loc, number, type) : number;
}

static Value castInt(OpBuilder &b, Location loc, Value value, Type type) {
  Type from = getElementTypeOrSelf(value), to = getElementTypeOrSelf(type);
  if (to.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                 constantLike(b, loc, value, 0.0));
  if (from.isInteger(1))
    return arith::ExtUIOp::create(b, loc, type, value);
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(b, loc, type, value);
  return arith::TruncIOp::create(b, loc, type, value);
}

static Value buildCast(CastOp op, OpBuilder &b, Location loc, ValueRange s) {
  Type from = getElementTypeOrSelf(s[0]);
  Type to = getElementTypeOrSelf(op.getType());
  Type type = to;
  if (auto vector = dyn_cast<VectorType>(s[0].getType()))
    type = vector.cloneWith(std::nullopt, to);
  if (from == to)
    return s[0];
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return castFloat(b, loc, s[0], type);
  if (isa<FloatType>(from))
    return to.isInteger(1)
               ? arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, s[0],
                                       constantLike(b, loc, s[0], 0.0))
                     .getResult()
               : arith::FPToSIOp::create(b, loc, type, s[0]).getResult();
  return isa<FloatType>(to) ? castToFloat(b, loc, s[0], type)
                            : castInt(b, loc, s[0], type);
}

template <typename OpT, typename Body> static void unary(MLIRContext *context) {
  addBody<OpT, buildUnary<OpT, Body>>(context);
}

template <typename OpT, typename FloatBody, typename IntBody>
static void binary(MLIRContext *context) {
  addBody<OpT, buildBinary<OpT, FloatBody, IntBody>>(context);
}

void weft::registerScalarBodies(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    context->loadDialect<arith::ArithDialect, math::MathDialect>();
    unary<NegOp, arith::NegFOp>(context);
    unary<AbsOp, math::AbsFOp>(context);
    addBody<ExpOp, buildApproximable<ExpOp, math::ExpOp>>(context);
    unary<LogOp, math::LogOp>(context);
    unary<Log1pOp, math::Log1pOp>(context);
    unary<SqrtOp, math::SqrtOp>(context);
    addBody<TanhOp, buildApproximable<TanhOp, math::TanhOp>>(context);
    unary<ErfOp, math::ErfOp>(context);
    unary<SinOp, math::SinOp>(context);
    unary<CosOp, math::CosOp>(context);
    binary<AddOp, arith::AddFOp, arith::AddIOp>(context);
    binary<SubOp, arith::SubFOp, arith::SubIOp>(context);
    binary<MulOp, arith::MulFOp, arith::MulIOp>(context);
    binary<MaxOp, arith::MaximumFOp, arith::MaxSIOp>(context);
    binary<MinOp, arith::MinimumFOp, arith::MinSIOp>(context);
    binary<AndOp, arith::MulFOp, arith::AndIOp>(context);
    binary<OrOp, arith::AddFOp, arith::OrIOp>(context);
    addBody<DivOp, buildDiv>(context);
    addBody<SignOp, buildSign>(context);
    addBody<ReluOp, buildRelu>(context);
    addBody<PowOp, buildPow>(context);
    addBody<RsqrtOp, buildRsqrt>(context);
    addBody<ReciprocalOp, buildReciprocal>(context);
    addBody<NotOp, buildNot>(context);
    addBody<SelectOp, buildSelect>(context);
    addBody<CompareOp, buildCompare>(context);
    addBody<CastOp, buildCast>(context);
    addBody<BroadcastOp, buildIdentity<BroadcastOp>>(context);
    addBody<MaterializeOp, buildIdentity<MaterializeOp>>(context);
  });
}
