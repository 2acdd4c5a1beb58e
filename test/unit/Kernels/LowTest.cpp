//===- LowTest.cpp - Routines on f16 and bf16 -----------------------------===//
//
// The contract: operands are widened, arithmetic is that of the f32 routine,
// and the result is rounded once. The f32 routines are compared with double
// references elsewhere, so here results are compared bit by bit with the
// rounded results of the f32 routine on the same numbers. Products have sums of
// their own and are in GemmTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "IsaLoops.h"

using namespace weft;

namespace {

constexpr int64_t kLowTypes[] = {WEFT_F16, WEFT_BF16};

/// Runs body(type, threads, isa) for what a result must not depend on.
template <typename Body> void forEachLowRun(Body body) {
  for (int64_t type : kLowTypes)
    for (CpuIsa isa : kAllIsas)
      for (int threads : {1, 2, 3})
        body(type, threads, isa);
}

/// All patterns, or patterns close to where rounding changes its mind.
std::vector<uint32_t> interestingFloats() {
  std::vector<uint32_t> patterns;
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u,
                         0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      patterns.push_back(high << 16 | low);
  return patterns;
}

/// Numbers that are exact in the type.
Elements lows(int64_t count, unsigned seed, int64_t type) {
  return Elements(randomFloats(count, seed), type);
}

} // namespace

TEST(Low, WideningIsThatOfHalf) {
  Lows all(65536);
  for (int i = 0; i < 65536; ++i)
    all[i] = static_cast<uint16_t>(i);
  for (int64_t type : kLowTypes)
    for (CpuIsa isa : kAllIsas)
      if (const Loops *loops = loopsFor(isa)) {
        Floats want, got(65536);
        for (uint16_t bits : all)
          want.push_back(fromLow(bits, type));
        loops->widen(static_cast<int>(type), 65535, all.data(), got.data());
        loops->widen(static_cast<int>(type), 1, &all[65535], &got[65535]);
        EXPECT_TRUE(sameBits(got, want)) << type << cpuIsaName(isa);
      }
}

TEST(Low, RoundingIsThatOfHalf) {
  std::vector<uint32_t> patterns = interestingFloats();
  Floats values(patterns.size());
  std::memcpy(values.data(), patterns.data(), patterns.size() * 4);
  for (int64_t type : kLowTypes)
    for (CpuIsa isa : kAllIsas)
      if (const Loops *loops = loopsFor(isa)) {
        Lows want, got(values.size());
        for (float value : values)
          want.push_back(toLow(value, type));
        int64_t split = static_cast<int64_t>(values.size()) - 3;
        loops->narrow(static_cast<int>(type), split, values.data(), got.data());
        loops->narrow(static_cast<int>(type), 3, &values[split], &got[split]);
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got[i], want[i]) << std::hex << patterns[i] << " in "
                                     << type << " " << cpuIsaName(isa);
      }
}

TEST(Low, Attention) {
  constexpr int64_t b = 2, t = 70, h = 4, hkv = 2, d = 20;
  constexpr int64_t row = (h + 2 * hkv) * d, outRow = h * d;
  Ints rng = {9, 100};
  const WeftHeadStrides slice = {t * row, row, d};
  const WeftHeadStrides dense = {t * outRow, outRow, d};
  auto makeRecord = [&](int64_t type) {
    return WeftAttentionRecord{
        b,    t,   t,    h,     hkv,   d,     /*causal=*/1, /*opId=*/3,
        type, 0.2, 0.25, slice, slice, slice, dense};
  };

  struct Result {
    Floats out, lse, grad;
  };
  auto run = [&](int64_t type, const Floats &qkvNumbers, const Floats &dNumbers,
                 const Floats *out, int threads, CpuIsa isa) {
    TestContext context(threads, isa);
    Elements qkv(qkvNumbers, type), dout(dNumbers, type);
    Elements result(Floats(b * t * outRow, NAN), type);
    Elements grad(Floats(b * t * row, 0.0f), type);
    Result r;
    r.lse.assign(b * h * t, NAN);
    int64_t k = h * d, v = k + hkv * d;
    callOk(context, weft_cpu_attention,
           {qkv.at(0), qkv.at(k), qkv.at(v), result.data(), r.lse.data(),
            rng.data()},
           makeRecord(type));
    r.out = result.values();
    Elements saved(out ? *out : r.out, type);
    callOk(
        context, weft_cpu_attention_grad,
        {dout.data(), qkv.at(0), qkv.at(k), qkv.at(v), saved.data(),
         r.lse.data(), grad.at(0), grad.at(k), grad.at(v), rng.data()},
        WeftAttentionGradRecord{makeRecord(type), dense, slice, slice, slice});
    r.grad = grad.values();
    return r;
  };
  forEachLowRun([&](int64_t type, int threads, CpuIsa isa) {
    Floats qkv = lows(b * t * row, 1, type).values();
    Floats dout = lows(b * t * outRow, 2, type).values();
    Result low = run(type, qkv, dout, nullptr, threads, isa);
    Result wide = run(WEFT_F32, qkv, dout, &low.out, threads, isa);
    EXPECT_TRUE(sameBits(low.out, rounded(wide.out, type)));
    EXPECT_TRUE(sameBits(low.lse, wide.lse));
    EXPECT_TRUE(sameBits(low.grad, rounded(wide.grad, type)));
  });
}

TEST(Low, CrossEntropy) {
  constexpr int64_t n = 7, v = 131;
  std::vector<int32_t> targets = {5, 0, 130, -100, 64, 127, 128};
  Floats weights = randomFloats(v, 3);
  struct Result {
    Floats numbers, gradient;
  };
  auto run = [&](int64_t type, const Floats &numbers, double smoothing,
                 bool inPlace, int threads, CpuIsa isa) {
    TestContext context(threads, isa);
    Elements logits(numbers, type), gradient(Floats(n * v, NAN), type);
    Result r;
    r.numbers.assign(n + 2, NAN);
    float *lse = r.numbers.data(), *loss = lse + n, *denom = loss + 1;
    float dloss = 3.0f;
    WeftCrossEntropyRecord record = {
        n, v, -100, /*isSum=*/0, /*hasWeights=*/1, WEFT_I32, type, smoothing};
    callOk(context, weft_cpu_cross_entropy,
           {logits.data(), targets.data(), loss, lse, denom, weights.data()},
           record);
    callOk(context, weft_cpu_cross_entropy_grad,
           {&dloss, logits.data(), targets.data(), lse, denom,
            inPlace ? logits.data() : gradient.data(), weights.data()},
           record);
    r.gradient = inPlace ? logits.values() : gradient.values();
    return r;
  };
  forEachLowRun([&](int64_t type, int threads, CpuIsa isa) {
    Floats logits = randomFloats(n * v, 1);
    for (float &x : logits)
      x = fromLow(toLow(x * 8.0f, type), type);
    for (double smoothing : {0.0, 0.1}) {
      Result low = run(type, logits, smoothing, false, threads, isa);
      Result place = run(type, logits, smoothing, true, threads, isa);
      Result wide = run(WEFT_F32, logits, smoothing, false, threads, isa);
      EXPECT_TRUE(sameBits(low.numbers, wide.numbers));
      EXPECT_TRUE(sameBits(low.gradient, rounded(wide.gradient, type)));
      EXPECT_TRUE(sameBits(low.gradient, place.gradient));
    }
  });
}

TEST(Low, Embedding) {
  constexpr int64_t n = 50, v = 13, c = 2100;
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < n; ++i)
    ids.push_back(i * i % v);
  forEachLowRun([&](int64_t type, int threads, CpuIsa isa) {
    TestContext context(threads, isa);
    Elements table = lows(v * c, 1, type), out(Floats(n * c, NAN), type);
    callOk(context, weft_cpu_embedding, {table.data(), ids.data(), out.data()},
           WeftEmbeddingRecord{n, v, c, WEFT_I32, type});
    Floats rows = table.values(), got = out.values();
    for (int64_t i = 0; i < n * c; ++i)
      ASSERT_EQ(got[i], rows[ids[i / c] * c + i % c]);
  });
}

// An f32 table: sums in f64, rounded once. A low one is rounded after every
// addition.
TEST(Low, EmbeddingGradient) {
  constexpr int64_t n = 50, v = 13, c = 1100;
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < n; ++i)
    ids.push_back(i * i % v);
  forEachLowRun([&](int64_t type, int threads, CpuIsa isa) {
    for (int64_t tableType : {type, static_cast<int64_t>(WEFT_F32)})
      for (int64_t accumulate : {0, 1}) {
        TestContext context(threads, isa);
        Elements dout = lows(n * c, 1, type), table = lows(v * c, 2, tableType);
        Floats start = accumulate ? table.values() : Floats(v * c, 0.0f);
        Doubles want(start.begin(), start.end());
        callOk(context, weft_cpu_embedding_grad,
               {dout.data(), ids.data(), table.data()},
               WeftEmbeddingGradRecord{n, v, c, WEFT_I32, accumulate, type,
                                       tableType});
        Floats from = dout.values();
        for (int64_t i = 0; i < n * c; ++i) {
          double &to = want[ids[i / c] * c + i % c];
          to += from[i];
          if (tableType != WEFT_F32)
            to = rounded({static_cast<float>(to)}, tableType)[0];
        }
        Floats numbers(want.begin(), want.end());
        EXPECT_TRUE(sameBits(table.values(), numbers));
      }
  });
}

TEST(Low, Accumulate) {
  constexpr int64_t count = 20001;
  forEachLowRun([&](int64_t type, int threads, CpuIsa isa) {
    TestContext context(threads, isa);
    Elements old = lows(count, 1, type), value = lows(count, 2, type);
    Floats want, a = old.values(), b = value.values();
    for (int64_t i = 0; i < count; ++i)
      want.push_back(fromLow(toLow(a[i] + b[i], type), type));
    float zero = 0.0f, one = 1.0f;
    callOk(context, weft_cpu_accumulate,
           {old.data(), value.data(), &one, old.data()},
           WeftAccumulateRecord{count, type});
    EXPECT_TRUE(sameBits(old.values(), want));
    callOk(context, weft_cpu_accumulate,
           {old.data(), value.data(), &zero, old.data()},
           WeftAccumulateRecord{count, type});
    EXPECT_TRUE(sameBits(old.values(), b));
  });
  float x = 0.0f;
  expectError(
      70, "expects values of dtype f32 (0), f16 (2) or bf16 (3), but got 6",
      weft_cpu_accumulate, {&x, &x, &x, &x}, WeftAccumulateRecord{1, WEFT_I64});
}

TEST(Low, Dropout) {
  constexpr int64_t rows = 3, size = 5001;
  Ints rng = {42, 1000};
  forEachLowRun([&](int64_t type, int threads, CpuIsa isa) {
    TestContext context(threads, isa);
    Elements x = lows(rows * size, 1, type), out(x);
    Floats numbers = x.values(), wide(numbers.size());
    callOk(context, weft_cpu_dropout, {x.data(), rng.data(), out.data()},
           WeftDropoutRecord{rows, size, 6, type, 0.3});
    callOk(context, weft_cpu_dropout, {numbers.data(), rng.data(), wide.data()},
           WeftDropoutRecord{rows, size, 6, WEFT_F32, 0.3});
    EXPECT_TRUE(sameBits(out.values(), rounded(wide, type)));
  });
}

// Gradients of all types in one call.
TEST(Low, Norm) {
  forEachLowRun([&](int64_t type, int threads, CpuIsa isa) {
    TestContext context(threads, isa);
    Elements low = lows(40001, 1, type);
    Floats wide = randomFloats(20000, 2), widened = low.values();
    double norm = 0.0, want = 0.0;
    uint8_t bad = 7;
    callOk(context, weft_cpu_norm_and_check,
           {low.data(), wide.data(), &want, &bad},
           {WeftNormAndCheckRecord{2.0, 2},
            std::vector<WeftNormPart>{{40001, type}, {20000, WEFT_F32}}});
    callOk(context, weft_cpu_norm_and_check,
           {widened.data(), wide.data(), &norm, &bad},
           {WeftNormAndCheckRecord{2.0, 2},
            std::vector<WeftNormPart>{{40001, WEFT_F32}, {20000, WEFT_F32}}});
    EXPECT_EQ(norm, want);
    EXPECT_EQ(bad, 0);
    Elements infinite({1.0f, 70000.0f * 1e34f}, type);
    callOk(
        context, weft_cpu_norm_and_check, {infinite.data(), &norm, &bad},
        {WeftNormAndCheckRecord{2.0, 1}, std::vector<WeftNormPart>{{2, type}}});
    EXPECT_EQ(bad, 1);
  });
}

namespace {

/// State and numbers of one update.
struct Update {
  Floats first, second;
  float coef = 0.25f;
  uint8_t bad = 0;
  int64_t step = 3;
  double lr = 1e-2, decay = 0.1, beta1 = 0.9, beta2 = 0.99, eps = 1e-8;
  explicit Update(int64_t count)
      : first(randomFloats(count, 5)), second(randomFloats(count, 6)) {
    for (float &x : second)
      x = std::fabs(x);
  }
  void run(WeftContext &context, WeftLibraryFn routine, Elements &param,
           Elements &grad, Elements *working, const Ints &types) {
    std::vector<const void *> buffers = {param.data(), first.data()};
    bool sgd = routine == weft_cpu_sgd;
    if (!sgd)
      buffers.push_back(second.data());
    for (const void *buffer : std::initializer_list<const void *>{
             grad.data(), &coef, &bad, &step, &lr, &decay, &beta1})
      buffers.push_back(buffer);
    if (!sgd)
      buffers.insert(buffers.end(), {&beta2, &eps});
    if (working)
      buffers.push_back(working->data());
    const int64_t count = static_cast<int64_t>(first.size());
    if (sgd)
      callOk(context, routine, buffers,
             WeftSgdRecord{count, /*nesterov=*/1, types[0], types[1], types[2],
                           1.0, 1.0});
    else
      callOk(context, routine, buffers,
             WeftAdamRecord{count, types[0], types[1], types[2], 1.0, 1.0});
  }
};

} // namespace

TEST(Low, Optimizers) {
  constexpr int64_t count = 20001;
  forEachLowRun([&](int64_t type, int threads, CpuIsa isa) {
    for (WeftLibraryFn routine : {weft_cpu_adamw, weft_cpu_adam, weft_cpu_sgd})
      for (int64_t paramType : {type, static_cast<int64_t>(WEFT_F32)}) {
        TestContext context(threads, isa);
        Elements param = lows(count, 1, paramType), grad = lows(count, 2, type);
        Elements working(Floats(count, NAN), type);
        Elements wide(param.values(), WEFT_F32),
            wideGrad(grad.values(), WEFT_F32);
        Update low(count), reference(count);
        low.run(context, routine, param, grad, &working,
                {paramType, type, type});
        reference.run(context, routine, wide, wideGrad, nullptr,
                      {WEFT_F32, WEFT_F32, -1});
        EXPECT_TRUE(
            sameBits(param.values(), rounded(wide.values(), paramType)));
        EXPECT_TRUE(sameBits(low.first, reference.first));
        EXPECT_TRUE(sameBits(low.second, reference.second));
        EXPECT_TRUE(sameBits(working.values(), rounded(wide.values(), type)));
      }
  });
}

// A skipped update still gives the working copy, of the parameter as it is.
TEST(Low, SkippedUpdateWritesTheWorkingCopy) {
  constexpr int64_t count = 3000;
  for (WeftLibraryFn routine : {weft_cpu_adamw, weft_cpu_adam, weft_cpu_sgd}) {
    TestContext context(2);
    Elements param(randomFloats(count, 1), WEFT_F32);
    Elements grad(Floats(count, NAN), WEFT_BF16), working(grad);
    Floats before = param.values();
    Update update(count), untouched(count);
    update.bad = 1, update.step = 0;
    update.run(context, routine, param, grad, &working,
               {WEFT_F32, WEFT_BF16, WEFT_BF16});
    EXPECT_TRUE(sameBits(param.values(), before));
    EXPECT_TRUE(sameBits(update.first, untouched.first));
    EXPECT_TRUE(sameBits(working.values(), rounded(before, WEFT_BF16)));
  }
}

TEST(Low, OptimizerErrors) {
  float x[1] = {};
  std::vector<const void *> buffers(12, x);
  auto expect = [&](const std::string &message, int64_t param, int64_t grad,
                    int64_t working) {
    expectError(70, message, weft_cpu_adamw, buffers,
                WeftAdamRecord{1, param, grad, working, 1.0, 1.0});
  };
  expect("expects the parameter of dtype f32 (0), f16 (2) or bf16 (3), but got "
         "1",
         WEFT_F64, WEFT_F32, -1);
  expect("expects the gradient of dtype f32 (0), f16 (2) or bf16 (3), but got "
         "5",
         WEFT_F32, WEFT_I32, -1);
  expect("expects the working copy of dtype f32 (0), f16 (2) or bf16 (3), but "
         "got 7",
         WEFT_F32, WEFT_F32, 7);
  expect("expects 13 buffers, but got 12", WEFT_F32, WEFT_F32, WEFT_F16);
}
