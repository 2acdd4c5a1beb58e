//===- PhiloxNumbers.cpp - Random numbers in ops on numbers ---------------===//
//
// The numbers of include/weft/Abi/Philox.h, op by op and in the same
// order, so that the bits are the same: nothing here is contracted.
//
//===----------------------------------------------------------------------===//

#include "weft/Lowering/Linalg/PhiloxNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace weft;

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
  /// The polynomial of `x` with these coefficients, highest power first.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value sum = number(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = multiplyAdd(sum, x, number(coefficient));
    return sum;
  }

  bool isVector() const { return isa<VectorType>(like); }
  /// A loop that hands values on.
  template <typename Values, typename Body>
  Values repeat(int64_t count, const Values &from, Body body) {
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
    };
    auto loop = scf::ForOp::create(b, loc, number(0), number(count), number(1),
                                   ValueRange(from));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Values next = body(Values(loop.getRegionIterArgs().begin(),
                              loop.getRegionIterArgs().end()));
    scf::YieldOp::create(b, loc, ValueRange(next));
    return Values(loop.getResults().begin(), loop.getResults().end());
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

/// Four words of the counter, two of the key.
using PhiloxState = SmallVector<Value, 6>;

/// One of ten rounds; the key of the next one.
static PhiloxState runRound(NumberBuilder &n, const PhiloxState &s) {
  auto join = [&](Value product, Value word, Value roundKey) {
    Value high = n.make<arith::XOrIOp>(n.highWord(product), word);
    return n.make<arith::XOrIOp>(high, roundKey);
  };
  Value first = n.make<arith::MulIOp>(n.widen(s[0]), n.wide(0xD2511F53u));
  Value second = n.make<arith::MulIOp>(n.widen(s[2]), n.wide(0xCD9E8D57u));
  return {join(second, s[1], s[4]),
          n.lowWord(second),
          join(first, s[3], s[5]),
          n.lowWord(first),
          n.make<arith::AddIOp>(s[4], n.word(0x9E3779B9u)),
          n.make<arith::AddIOp>(s[5], n.word(0xBB67AE85u))};
}

/// philoxRounds: the four words of a block, in place of its counter. For
/// vectors the rounds are a loop, because unrolled rounds compile slowly. LLVM
/// asks for the known bits of each word, back through several rounds.
static PhiloxState runRounds(NumberBuilder &n, PhiloxState state) {
  constexpr int kRounds = 10;
  if (n.isVector())
    return n.repeat(kRounds, state,
                    [&](const PhiloxState &s) { return runRound(n, s); });
  for (int round = 0; round < kRounds; ++round)
    state = runRound(n, state);
  return state;
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

namespace {
/// philoxNormalPair: two numbers are products with one factor.
struct NormalPair {
  Value radius, cosine, sine;
};
} // namespace

static NormalPair makeNormals(NumberBuilder &n, Value a, Value b) {
  Value u = n.make<arith::MulFOp>(
      n.toFloat(n.make<arith::AddIOp>(upperBits(n, a), n.word(1))),
      n.number(0x1p-24f));
  Value radius =
      n.squareRoot(n.make<arith::MulFOp>(n.number(-2.0f), logarithm(n, u)));
  auto [sine, cosine] = sineAndCosine(n, upperBits(n, b));
  return {radius, cosine, sine};
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// A multiple of 2^-24 in [0, 1).
static Value makeUniform(NumberBuilder &n, Value word) {
  return n.make<arith::MulFOp>(n.toFloat(upperBits(n, word)),
                               n.number(0x1p-24f));
}

/// The four words of block `block` of a row.
static std::array<Value, 4> makeWords(NumberBuilder &n, Value key, Value row,
                                      Value block) {
  PhiloxState state =
      runRounds(n, {n.lowWord(block), n.highWord(block), n.lowWord(row),
                    n.highWord(row), n.lowWord(key), n.highWord(key)});
  return {state[0], state[1], state[2], state[3]};
}

std::array<Value, 4> weft::buildPhiloxBlock(OpBuilder &b, Location loc,
                                            PhiloxKind kind, Value key,
                                            Value row, Value block) {
  NumberBuilder n(b, loc, block);
  std::array<Value, 4> numbers = makeWords(n, key, row, block);
  if (kind == PhiloxKind::Uniform) {
    for (Value &number : numbers)
      number = makeUniform(n, number);
    return numbers;
  }
  for (size_t i = 0; i < numbers.size(); i += 2) {
    NormalPair pair = makeNormals(n, numbers[i], numbers[i + 1]);
    numbers[i] = n.make<arith::MulFOp>(pair.radius, pair.cosine);
    numbers[i + 1] = n.make<arith::MulFOp>(pair.radius, pair.sine);
  }
  return numbers;
}

Value weft::buildPhiloxNumber(OpBuilder &b, Location loc, PhiloxKind kind,
                              Value key, Value row, Value element) {
  NumberBuilder n(b, loc, element);
  Value block = n.make<arith::ShRUIOp>(element, n.wide(2));
  std::array<Value, 4> words = makeWords(n, key, row, block);
  Value lane = n.lowWord(element);
  Value isOdd = n.isOdd(lane);
  Value isUpper = n.isOdd(n.make<arith::ShRUIOp>(lane, n.word(1)));
  Value even = n.select(isUpper, words[2], words[0]);
  Value odd = n.select(isUpper, words[3], words[1]);
  if (kind == PhiloxKind::Uniform)
    return makeUniform(n, n.select(isOdd, odd, even));
  NormalPair pair = makeNormals(n, even, odd);
  return n.make<arith::MulFOp>(pair.radius,
                               n.select(isOdd, pair.sine, pair.cosine));
}
