//===- LowTest.cpp - Routines on f16 and bf16 -----------------------------===//
//
// The contract: operands are widened, arithmetic is as in the f32 routine, and
// the result is rounded once. The f32 routines are compared with double
// references elsewhere, so here results are compared bit by bit with the
// rounded results of the f32 routine on the same numbers. Products have sums of
// their own and are in GemmTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "IsaLoops.h"

using namespace weft;

namespace {

constexpr int64_t kLowTypes[] = {WEFT_F16, WEFT_BF16};

/// Runs body(type, threads, isa) for settings that must not change results.
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
        type, 0.2, 0.25, slice, slice, slice, dense,        /*hasBits=*/0};
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
    if (type == WEFT_BF16 &&
        TestContext(threads, isa).isa() >= CpuIsa::Avx512Bf16)
      return; // AttentionWordsTest.cpp
    Floats qkv = lows(b * t * row, 1, type).values();
    Floats dout = lows(b * t * outRow, 2, type).values();
    Result low = run(type, qkv, dout, nullptr, threads, isa);
    Result wide = run(WEFT_F32, qkv, dout, &low.out, threads, isa);
    EXPECT_TRUE(sameBits(low.out, rounded(wide.out, type)));
    EXPECT_TRUE(sameBits(low.lse, wide.lse));
    EXPECT_TRUE(sameBits(low.grad, rounded(wide.grad, type)));
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
