//===- AttentionTest.cpp - Attention against a naive reference ------------===//

#include "Harness.h"
#include "weft/Runtime/Philox.h"

using namespace weft;

namespace {

struct Case {
  int64_t b = 2, t = 5, s = 5, h = 2, hkv = 2, d = 8, causal = 1;
  double dropout = 0.0;
  double scale() const { return 1.0 / std::sqrt(d); }
  int64_t qRow() const { return (h + 2 * hkv) * d; } // one qkv tensor
};

constexpr int64_t kOpId = 17;
const Ints kRng = {99, 1000};

/// Inputs as slices of one buffer [B, max(T, S), (H + 2 Hkv) D].
struct Data {
  Floats qkv, dout;
  explicit Data(const Case &c)
      : qkv(randomFloats(c.b * std::max(c.t, c.s) * c.qRow(), 1)),
        dout(randomFloats(c.b * c.t * c.h * c.d, 2)) {
    for (float &x : qkv)
      x *= 2.0f;
  }
};

struct Result {
  Floats out, lse, dq, dk, dv;
};

Ints makeInts(const Case &c, bool gradient) {
  int64_t row = c.qRow(), batch = std::max(c.t, c.s) * row;
  Ints ints = {c.b, c.t, c.s, c.h, c.hkv, c.d, c.causal, kOpId};
  auto add = [&](int64_t batchStride, int64_t rowStride, int64_t headStride) {
    ints.insert(ints.end(), {batchStride, rowStride, headStride});
  };
  for (int i = 0; i < 3; ++i)
    add(batch, row, c.d);
  int64_t outRow = c.h * c.d;
  add(c.t * outRow, outRow, c.d);
  if (!gradient) {
    ints.push_back(WEFT_F32);
    return ints;
  }
  add(c.t * outRow, outRow, c.d); // dout
  for (int i = 0; i < 3; ++i)     // slices of one dqkv tensor
    add(batch, row, c.d);
  ints.push_back(WEFT_F32);
  return ints;
}

Result run(const Case &c, int threads, CpuIsa isa, int64_t shift = 0) {
  TestContext context(threads, isa);
  Data data(c);
  Floats qkv(shift, 0.0f);
  qkv.insert(qkv.end(), data.qkv.begin(), data.qkv.end());
  const float *q = qkv.data() + shift, *k = q + c.h * c.d;
  const float *v = k + c.hkv * c.d;
  Result r;
  r.out.assign(c.b * c.t * c.h * c.d, NAN);
  r.lse.assign(c.b * c.h * c.t, NAN);
  callOk(context, weft_cpu_attention,
         {q, k, v, r.out.data(), r.lse.data(), kRng.data()}, makeInts(c, false),
         {c.scale(), c.dropout});
  Floats dqkv(qkv.size(), 0.0f);
  float *dq = dqkv.data() + shift, *dk = dq + c.h * c.d;
  float *dv = dk + c.hkv * c.d;
  callOk(context, weft_cpu_attention_grad,
         {data.dout.data(), q, k, v, r.out.data(), r.lse.data(), dq, dk, dv,
          kRng.data()},
         makeInts(c, true), {c.scale(), c.dropout});
  r.dq.assign(dqkv.begin() + shift, dqkv.end());
  return r;
}

/// out (double) from inputs given as doubles.
Doubles forward(const Case &c, const Doubles &qkv, Doubles *lse = nullptr) {
  int64_t row = c.qRow(), batch = std::max(c.t, c.s) * row;
  PhiloxKey key = philoxKey(static_cast<uint64_t>(kRng[0]), kOpId);
  Doubles out(c.b * c.t * c.h * c.d, 0.0);
  for (int64_t b = 0; b < c.b; ++b)
    for (int64_t h = 0; h < c.h; ++h)
      for (int64_t i = 0; i < c.t; ++i) {
        const double *q = &qkv[b * batch + i * row + h * c.d];
        int64_t group = c.h + h / (c.h / c.hkv);
        int64_t last = c.causal ? i + c.s - c.t : c.s - 1;
        Doubles p;
        double sum = 0.0, max = -INFINITY;
        for (int64_t j = 0; j <= last; ++j) {
          const double *k = &qkv[b * batch + j * row + group * c.d];
          double dot = 0.0;
          for (int64_t d = 0; d < c.d; ++d)
            dot += q[d] * k[d];
          p.push_back(dot * c.scale());
          max = std::max(max, p.back());
        }
        for (double &x : p)
          sum += x = std::exp(x - max);
        if (lse)
          (*lse)[(b * c.h + h) * c.t + i] =
              p.empty() ? -INFINITY : max + std::log(sum);
        for (int64_t j = 0; j <= last; ++j) {
          uint64_t element = static_cast<uint64_t>((h * c.t + i) * c.s + j);
          double keep = 1.0;
          if (c.dropout > 0.0)
            keep = philoxKeeps(philoxNumber(key, kRng[1] + b, element),
                               philoxDropThreshold(c.dropout))
                       ? 1.0 / (1.0 - c.dropout)
                       : 0.0;
          const double *v = &qkv[b * batch + j * row + (group + c.hkv) * c.d];
          for (int64_t d = 0; d < c.d; ++d)
            out[((b * c.t + i) * c.h + h) * c.d + d] +=
                p[j] / sum * keep * v[d];
        }
      }
  return out;
}

/// <dout, out>, whose gradient the backward pass computes.
double objective(const Case &c, const Doubles &qkv, const Floats &dout) {
  Doubles out = forward(c, qkv);
  double sum = 0.0;
  for (size_t i = 0; i < out.size(); ++i)
    sum += out[i] * dout[i];
  return sum;
}

/// Central differences at `count` places spread over qkv.
void checkGradient(const Case &c, const Result &r, int64_t count) {
  Data data(c);
  Doubles qkv(data.qkv.begin(), data.qkv.end());
  int64_t stride = std::max<int64_t>(1, qkv.size() / count);
  for (size_t i = 0; i < qkv.size(); i += stride) {
    double old = qkv[i], step = 1e-4;
    qkv[i] = old + step;
    double up = objective(c, qkv, data.dout);
    qkv[i] = old - step;
    double down = objective(c, qkv, data.dout);
    qkv[i] = old;
    double want = (up - down) / (2 * step);
    ASSERT_NEAR(r.dq[i], want, 2e-5 * (1.0 + std::fabs(want))) << "at " << i;
  }
}

void check(const Case &c, CpuIsa isa, int64_t gradients) {
  SCOPED_TRACE(testing::Message()
               << "b " << c.b << " t " << c.t << " s " << c.s << " h " << c.h
               << " hkv " << c.hkv << " d " << c.d << " causal " << c.causal
               << " dropout " << c.dropout << " isa " << cpuIsaName(isa));
  Result r = run(c, 1, isa);
  Data data(c);
  Doubles lse(r.lse.size());
  Doubles out = forward(c, Doubles(data.qkv.begin(), data.qkv.end()), &lse);
  EXPECT_LT(largestError(r.out, out), 5e-6);
  EXPECT_LT(largestError(r.lse, lse), 2e-6);
  checkGradient(c, r, gradients);
  for (const Result &other :
       {run(c, 2, isa), run(c, 3, isa), run(c, 2, isa, /*shift=*/1)}) {
    EXPECT_TRUE(sameBits(r.out, other.out));
    EXPECT_TRUE(sameBits(r.lse, other.lse));
    EXPECT_TRUE(sameBits(r.dq, other.dq));
  }
}

} // namespace

TEST(Attention, Sizes) {
  for (CpuIsa isa : kAllIsas)
    for (int64_t t : {1, 7, 63, 65, 130})
      for (int64_t d : {1, 20, 64})
        for (int64_t causal : {0, 1}) {
          Case c;
          c.b = 1, c.t = c.s = t, c.d = d, c.causal = causal;
          check(c, isa, t > 8 ? 6 : 24);
        }
}

TEST(Attention, GroupedHeads) {
  for (CpuIsa isa : kAllIsas)
    for (int64_t hkv : {1, 2, 4}) {
      Case c;
      c.t = c.s = 70, c.h = 4, c.hkv = hkv, c.d = 16;
      check(c, isa, 12);
    }
}

TEST(Attention, MoreKeysThanQueries) {
  for (CpuIsa isa : kAllIsas)
    for (int64_t causal : {0, 1}) {
      Case c;
      c.b = 1, c.t = 30, c.s = 100, c.causal = causal;
      check(c, isa, 40);
    }
}

TEST(Attention, Dropout) {
  for (CpuIsa isa : kAllIsas)
    for (int64_t t : {33, 64, 67, 132})
      for (int64_t causal : {0, 1}) {
        Case c;
        c.t = c.s = t, c.dropout = 0.25, c.causal = causal;
        check(c, isa, 12);
      }
}

TEST(Attention, DropoutOfEverything) {
  Case c;
  c.dropout = 1.0;
  Result r = run(c, 2, CpuIsa::Avx512);
  EXPECT_TRUE(sameBits(r.out, Floats(r.out.size(), 0.0f)));
}

// Fewer keys than queries: the first queries see none.
TEST(Attention, RowsWithoutKeys) {
  for (CpuIsa isa : kAllIsas) {
    Case c;
    c.b = 1, c.h = c.hkv = 1, c.t = 80, c.s = 10;
    Result r = run(c, 2, isa);
    for (int64_t i = 0; i < 70; ++i) {
      EXPECT_EQ(r.lse[i], -INFINITY);
      EXPECT_EQ(r.out[i * c.d], 0.0f);
      EXPECT_EQ(r.dq[i * c.qRow()], 0.0f);
    }
    EXPECT_TRUE(std::isfinite(r.lse[70]));
    for (float x : r.dq)
      EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(Attention, LargeScoresDoNotOverflow) {
  for (CpuIsa isa : kAllIsas) {
    TestContext context(1, isa);
    Floats q = {100.0f, 100.0f}, k = {100.0f, -100.0f}, v = {3.0f, 5.0f};
    Floats out(2), lse(2);
    Ints ints = {1, 2, 2, 1, 1, 1, 0, 0, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 0};
    callOk(context, weft_cpu_attention,
           {q.data(), k.data(), v.data(), out.data(), lse.data()}, ints,
           {1.0, 0.0});
    EXPECT_EQ(out, (Floats{3.0f, 3.0f}));
    EXPECT_EQ(lse, (Floats{10000.0f, 10000.0f}));
  }
}

TEST(Attention, NanReachesTheOutput) {
  for (CpuIsa isa : kAllIsas) {
    TestContext context(1, isa);
    Floats q = {1.0f, 1.0f}, k = {NAN, 1.0f}, v = {3.0f, 5.0f};
    Floats out(2), lse(2);
    Ints ints = {1, 2, 2, 1, 1, 1, 1, 0, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 0};
    callOk(context, weft_cpu_attention,
           {q.data(), k.data(), v.data(), out.data(), lse.data()}, ints,
           {1.0, 0.0});
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
  }
}

TEST(Attention, ScratchBytesCoverWhatIsUsed) {
  Case c;
  c.t = c.s = 300;
  TestContext context(2);
  Ints ints = makeInts(c, true);
  run(c, 2, CpuIsa::Avx512);
  int64_t forward[2] = {}, backward[2] = {};
  weft_cpu_attention_scratch_bytes(ints.data(), false, forward, 2);
  weft_cpu_attention_scratch_bytes(ints.data(), true, backward, 2);
  for (int worker : {0, 1}) {
    EXPECT_GT(forward[worker], 0);
    EXPECT_GT(backward[worker], forward[worker]);
  }
}

TEST(Attention, Errors) {
  float x[64] = {};
  Case c;
  auto expect = [&](const std::string &message, size_t index, int64_t value,
                    double dropout) {
    Ints ints = makeInts(c, false);
    ints[index] = value;
    expectError(70, message, weft_cpu_attention, {x, x, x, x, x}, ints,
                {1.0, dropout});
  };
  expect("expects Hkv that divides H 3, but got 2", 3, 3, 0.0);
  expect("expects dropout in [0, 1], but got 2.000000", 3, 2, 2.0);
  expect("expects 6 buffers, but got 5", 3, 2, 0.5);
  expect("expects T of at least 1 and at most 1073741824, but got 0", 1, 0,
         0.0);
  expect("expects q, k, v and out of dtype f32 (0), f16 (2) or bf16 (3), but "
         "got 1",
         20, WEFT_F64, 0.0);
  expectError(70, "expects 9 buffers, but got 1", weft_cpu_attention_grad, {x},
              {}, {});
  expectError(70, "expects 33 ints, but got 21", weft_cpu_attention_grad,
              {x, x, x, x, x, x, x, x, x}, makeInts(c, false), {1.0, 0.0});
}
