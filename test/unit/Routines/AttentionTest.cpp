//===- AttentionTest.cpp - Attention against a naive reference ------------===//

#include "AttentionCases.h"
#include "weft/Abi/Philox.h"

using namespace weft;
using namespace weft::attention;

namespace {

/// One head of width 1 over two positions.
WeftAttentionRecord twoPositions(int64_t causal) {
  WeftHeadStrides dense = {2, 1, 1};
  return {1,        2,   2,   1,     1,     1,     causal, 0,
          WEFT_F32, 1.0, 0.0, dense, dense, dense, dense,  /*hasBits=*/0};
}

Result run(const Case &c, int threads, CpuIsa isa, int64_t shift = 0) {
  TestContext context(threads, isa);
  return attention::run(c, context, WEFT_F32, shift);
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
        Doubles p;
        std::vector<int64_t> seen;
        double sum = 0.0, max = -INFINITY;
        for (int64_t j = 0; j < c.s; ++j) {
          if (!c.sees(b, i, j))
            continue;
          const double *k = &qkv[b * batch + j * row + group * c.d];
          double dot = 0.0;
          for (int64_t d = 0; d < c.d; ++d)
            dot += q[d] * k[d];
          double score = dot * c.scale();
          if (c.softcap != 0.0)
            score = c.softcap * std::tanh(score / c.softcap);
          p.push_back(score);
          seen.push_back(j);
          max = std::max(max, score);
        }
        for (double &x : p)
          sum += x = std::exp(x - max);
        if (lse)
          (*lse)[(b * c.h + h) * c.t + i] =
              p.empty() ? -INFINITY : max + std::log(sum);
        for (size_t n = 0; n < seen.size(); ++n) {
          const int64_t j = seen[n];
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
                p[n] / sum * keep * v[d];
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
               << " dropout " << c.dropout << " window " << c.window
               << " softcap " << c.softcap << " documents " << c.documents
               << " isa " << cpuIsaName(isa));
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

TEST(Attention, Variants) {
  for (CpuIsa isa : kAllIsas)
    for (int64_t window : {0, 1, 40, 90})
      for (int64_t documents : {0, 3, -2})
        for (int64_t causal : {0, 1}) {
          Case c;
          c.t = c.s = 150, c.causal = causal, c.window = window;
          c.documents = documents, c.softcap = causal ? 0.7 : 0.0;
          c.dropout = window == 40 ? 0.25 : 0.0;
          check(c, isa, 12);
        }
}

// A window over keys that come before the queries.
TEST(Attention, WindowOfLaterQueries) {
  for (CpuIsa isa : kAllIsas) {
    Case c;
    c.t = 30, c.s = 200, c.window = 70;
    check(c, isa, 40);
  }
}

// Keys of a document get no gradient from queries of another one.
TEST(Attention, NoGradientAcrossDocuments) {
  for (CpuIsa isa : kAllIsas) {
    Case c;
    c.b = 1, c.t = c.s = 100, c.documents = 2, c.causal = 0;
    Result whole = run(c, 1, isa);
    c.documents = 1;
    EXPECT_FALSE(sameBits(whole.dq, run(c, 1, isa).dq));
    c.documents = 2, c.window = 100; // hides nothing
    EXPECT_TRUE(sameBits(whole.dq, run(c, 1, isa).dq));
  }
}

TEST(Attention, DropoutOfEverything) {
  Case c;
  c.dropout = 1.0;
  Result r = run(c, 2, kBestIsa);
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
    callOk(context, weft_cpu_attention,
           {q.data(), k.data(), v.data(), out.data(), lse.data()},
           twoPositions(/*causal=*/0));
    EXPECT_EQ(out, (Floats{3.0f, 3.0f}));
    EXPECT_EQ(lse, (Floats{10000.0f, 10000.0f}));
  }
}

TEST(Attention, NanReachesTheOutput) {
  for (CpuIsa isa : kAllIsas) {
    TestContext context(1, isa);
    Floats q = {1.0f, 1.0f}, k = {NAN, 1.0f}, v = {3.0f, 5.0f};
    Floats out(2), lse(2);
    callOk(context, weft_cpu_attention,
           {q.data(), k.data(), v.data(), out.data(), lse.data()},
           twoPositions(/*causal=*/1));
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
  }
}

TEST(Attention, Errors) {
  float x[64] = {};
  Case c;
  auto expect = [&](const std::string &message, auto change) {
    WeftAttentionRecord record = makeRecord(c);
    change(record);
    expectError(70, message, weft_cpu_attention, {x, x, x, x, x}, record);
  };
  using Record = WeftAttentionRecord;
  expect("expects keyHeads that divides heads 3, but got 2",
         [](Record &r) { r.heads = 3; });
  expect("expects dropout in [0, 1], but got 2.000000",
         [](Record &r) { r.dropout = 2.0; });
  expect("expects 6 buffers, but got 5", [](Record &r) { r.dropout = 0.5; });
  expect("expects hasBits of at least 0 and at most 0, but got 1",
         [](Record &r) { r.dropout = 0.5, r.hasBits = 1; });
  expect("expects queries of at least 1 and at most 1073741824, but got 0",
         [](Record &r) { r.queries = 0; });
  expect("expects q, k, v and out of dtype f32 (0), f16 (2) or bf16 (3), but "
         "got 1",
         [](Record &r) { r.dtype = WEFT_F64; });
  c.documents = 2;
  expectError(70, "expects 6 buffers, but got 5", weft_cpu_attention,
              {x, x, x, x, x}, c.bytes(makeRecord(c)));
  c.s = 6;
  expectError(70, "expects as many keys as queries 5, but got 6",
              weft_cpu_attention, {x, x, x, x, x, x}, c.bytes(makeRecord(c)));
  c.s = 5, c.documents = 0, c.softcap = -1.0;
  expectError(70, "expects a softcap of at least 0, but got -1.000000",
              weft_cpu_attention, {x, x, x, x, x}, c.bytes(makeRecord(c)));
  c.softcap = 0.0;
  expectError(70, "expects 9 buffers, but got 1", weft_cpu_attention_grad, {x},
              makeGradRecord(c));
  expectError(70, "expects a record of 288 bytes, but got 192",
              weft_cpu_attention_grad, {x, x, x, x, x, x, x, x, x},
              makeRecord(c));
}
