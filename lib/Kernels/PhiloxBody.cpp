//===- PhiloxBody.cpp - One random number in scalar ops -------------------===//
//
// What include/weft/Runtime/Execute/Philox.h computes, op by op and in the same
// order, so that the bits are the same: nothing here is contracted.
//
//===----------------------------------------------------------------------===//

#include "weft/Kernels/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft {

namespace {

/// Short names for ops on scalars, or on vectors as long as `like`.
class NumberBuilder {
public:
  NumberBuilder(OpBuilder &b, Location loc, Value like)
      : b(b), loc(loc), like(like.getType()) {}

  Value word(uint32_t value) {
    return constant(b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value wide(uint64_t value) {
    return constant(b.getI64IntegerAttr(static_cast<int64_t>(value)));
  }
  Value number(float value) { return constant(b.getF32FloatAttr(value)); }

  /// Two operands of one type.
  template <typename Op> Value make(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value negate(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value squareRoot(Value x) { return math::SqrtOp::create(b, loc, x); }
  Value isOdd(Value word) {
    Value bit = make<arith::AndIOp>(word, this->word(1));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit,
                                 this->word(0));
  }

  Value lowWord(Value x) {
    return arith::TruncIOp::create(b, loc, typed(b.getI32Type()), x);
  }
  Value highWord(Value x) { return lowWord(make<arith::ShRUIOp>(x, wide(32))); }
  Value widen(Value word) {
    return arith::ExtUIOp::create(b, loc, typed(b.getI64Type()), word);
  }
  Value toFloat(Value word) {
    return arith::SIToFPOp::create(b, loc, typed(b.getF32Type()), word);
  }
  Value bitsOf(Value number) {
    return arith::BitcastOp::create(b, loc, typed(b.getI32Type()), number);
  }
  Value fromBits(Value word) {
    return arith::BitcastOp::create(b, loc, typed(b.getF32Type()), word);
  }
  /// x * y + z, each rounded.
  Value multiplyAdd(Value x, Value y, Value z) {
    return make<arith::AddFOp>(make<arith::MulFOp>(x, y), z);
  }
  /// The polynomial of `x` with these coefficients, that of the highest power
  /// first.
  Value polynomial(Value x, llvm::ArrayRef<float> coefficients) {
    Value sum = number(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = multiplyAdd(sum, x, number(coefficient));
    return sum;
  }

private:
  Type typed(Type element) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.cloneWith(std::nullopt, element)) : element;
  }
  Value constant(TypedAttr value) {
    Type type = typed(value.getType());
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(b, loc, value);
  }

  OpBuilder &b;
  Location loc;
  Type like;
};

} // namespace

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// philoxMix: a bijection on 64 bits.
static Value mix(NumberBuilder &n, Value value) {
  auto fold = [&](Value x, uint64_t shift) {
    return n.make<arith::XOrIOp>(x, n.make<arith::ShRUIOp>(x, n.wide(shift)));
  };
  value = n.make<arith::AddIOp>(value, n.wide(0x9E3779B97F4A7C15u));
  value = n.make<arith::MulIOp>(fold(value, 30), n.wide(0xBF58476D1CE4E5B9u));
  value = n.make<arith::MulIOp>(fold(value, 27), n.wide(0x94D049BB133111EBu));
  return fold(value, 31);
}

/// philoxRounds: the four words of a block from its counter.
static void runRounds(NumberBuilder &n, Value key,
                      llvm::MutableArrayRef<Value> c) {
  Value k0 = n.lowWord(key), k1 = n.highWord(key);
  auto join = [&](Value product, Value word, Value roundKey) {
    Value high = n.make<arith::XOrIOp>(n.highWord(product), word);
    return n.make<arith::XOrIOp>(high, roundKey);
  };
  for (int round = 0; round < 10; ++round) {
    Value first = n.make<arith::MulIOp>(n.widen(c[0]), n.wide(0xD2511F53u));
    Value second = n.make<arith::MulIOp>(n.widen(c[2]), n.wide(0xCD9E8D57u));
    c[0] = join(second, c[1], k0);
    c[2] = join(first, c[3], k1);
    c[1] = n.lowWord(second);
    c[3] = n.lowWord(first);
    k0 = n.make<arith::AddIOp>(k0, n.word(0x9E3779B9u));
    k1 = n.make<arith::AddIOp>(k1, n.word(0xBB67AE85u));
  }
}

/// The upper 24 bits.
static Value upperBits(NumberBuilder &n, Value word) {
  return n.make<arith::ShRUIOp>(word, n.word(8));
}

//===----------------------------------------------------------------------===//
// Normal numbers
//===----------------------------------------------------------------------===//

/// philoxLog: ln u for u in (0, 1].
static Value logarithm(NumberBuilder &n, Value u) {
  Value bits = n.bitsOf(u);
  Value exponent = n.make<arith::ShRSIOp>(
      n.make<arith::SubIOp>(bits, n.word(0x3F3504F3u)), n.word(23));
  Value scale = n.make<arith::ShLIOp>(exponent, n.word(23));
  Value f = n.make<arith::SubFOp>(
      n.fromBits(n.make<arith::SubIOp>(bits, scale)), n.number(1.0f));
  Value square = n.make<arith::MulFOp>(f, f);
  Value poly =
      n.polynomial(f, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                       -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                       2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  Value e = n.toFloat(exponent);
  Value tail =
      n.multiplyAdd(n.make<arith::MulFOp>(poly, f), square,
                    n.make<arith::MulFOp>(e, n.number(-2.12194440e-4f)));
  tail = n.make<arith::SubFOp>(tail,
                               n.make<arith::MulFOp>(n.number(0.5f), square));
  return n.make<arith::AddFOp>(
      n.make<arith::AddFOp>(f, tail),
      n.make<arith::MulFOp>(e, n.number(0.693359375f)));
}

/// Sine and cosine of 2 pi times a number of `turn` / 2^24.
static std::pair<Value, Value> sineAndCosine(NumberBuilder &n, Value turn) {
  Value quadrant = n.make<arith::ShRSIOp>(
      n.make<arith::AddIOp>(turn, n.word(1 << 21)), n.word(22));
  Value left =
      n.make<arith::SubIOp>(turn, n.make<arith::ShLIOp>(quadrant, n.word(22)));
  Value angle = n.make<arith::MulFOp>(
      n.toFloat(left), n.number(1.57079632679489662f * 0x1p-22f));
  Value z = n.make<arith::MulFOp>(angle, angle);
  Value sine =
      n.polynomial(z, {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f});
  sine = n.multiplyAdd(n.make<arith::MulFOp>(sine, z), angle, angle);
  Value cosine = n.polynomial(z, {2.443315711809948e-5f, -1.388731625493765e-3f,
                                  4.166664568298827e-2f});
  cosine = n.make<arith::MulFOp>(n.make<arith::MulFOp>(cosine, z), z);
  cosine =
      n.make<arith::SubFOp>(cosine, n.make<arith::MulFOp>(n.number(0.5f), z));
  cosine = n.make<arith::AddFOp>(cosine, n.number(1.0f));
  Value swap = n.isOdd(quadrant);
  Value c = n.select(swap, sine, cosine), s = n.select(swap, cosine, sine);
  auto isNegative = [&](Value number) {
    return n.isOdd(n.make<arith::ShRUIOp>(number, n.word(1)));
  };
  Value next = n.make<arith::AddIOp>(quadrant, n.word(1));
  return {n.select(isNegative(quadrant), n.negate(s), s),
          n.select(isNegative(next), n.negate(c), c)};
}

/// philoxNormalPair: its second number if `isSecond`.
static Value makeNormal(NumberBuilder &n, Value a, Value b, Value isSecond) {
  Value u = n.make<arith::MulFOp>(
      n.toFloat(n.make<arith::AddIOp>(upperBits(n, a), n.word(1))),
      n.number(0x1p-24f));
  Value radius =
      n.squareRoot(n.make<arith::MulFOp>(n.number(-2.0f), logarithm(n, u)));
  auto [sine, cosine] = sineAndCosine(n, upperBits(n, b));
  return n.make<arith::MulFOp>(radius, n.select(isSecond, sine, cosine));
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

namespace {
/// One number out of the block of four that its element is in.
struct PhiloxModel
    : ScalarBodyOpInterface::ExternalModel<PhiloxModel, PhiloxOp> {
  Value buildScalarBody(Operation *op, OpBuilder &b, Location loc,
                        ValueRange s) const {
    Value seed = s[0], stream = s[1], row = s[2], element = s[3];
    NumberBuilder n(b, loc, element);
    Value key = mix(n, n.make<arith::AddIOp>(mix(n, seed), stream));
    Value block = n.make<arith::ShRUIOp>(element, n.wide(2));
    Value c[] = {n.lowWord(block), n.highWord(block), n.lowWord(row),
                 n.highWord(row)};
    runRounds(n, key, c);
    Value lane = n.lowWord(element);
    Value isOdd = n.isOdd(lane);
    Value isUpper = n.isOdd(n.make<arith::ShRUIOp>(lane, n.word(1)));
    Value even = n.select(isUpper, c[2], c[0]);
    Value odd = n.select(isUpper, c[3], c[1]);
    if (cast<PhiloxOp>(op).getKind() == PhiloxKind::Normal)
      return makeNormal(n, even, odd, isOdd);
    Value bits = upperBits(n, n.select(isOdd, odd, even));
    return n.make<arith::MulFOp>(n.toFloat(bits), n.number(0x1p-24f));
  }
};
} // namespace

void registerPhiloxBody(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    context->loadDialect<arith::ArithDialect, math::MathDialect>();
    PhiloxOp::attachInterface<PhiloxModel>(*context);
  });
}

} // namespace weft
