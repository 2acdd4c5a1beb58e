//===- GemmTest.cpp - Products against a naive reference ------------------===//

#include "GemmCases.h"

#include <cstdlib>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace weft;

TEST(Gemm, SizesAndTransposes) {
  for (int64_t trans = 0; trans < 4; ++trans)
    for (int64_t m : {1, 7, 65})
      for (int64_t n : {1, 63, 100})
        for (int64_t k : {1, 5, 64, 129})
          check(shaped(m, n, k, trans & 1, trans >> 1));
}

TEST(Gemm, StridesBiasAccumulate) {
  for (int64_t trans = 0; trans < 4; ++trans)
    for (int64_t accumulate = 0; accumulate < 3; ++accumulate)
      for (bool bias : {false, true})
        for (float flag : {0.0f, 1.0f}) {
          Gemm g = shaped(33, 47, 21, trans & 1, trans >> 1);
          g.padA = 3, g.padB = 5, g.padC = 7;
          g.bias = bias, g.accumulate = accumulate, g.flag = flag;
          check(g);
        }
}

TEST(Gemm, Batches) {
  for (int64_t trans = 0; trans < 4; ++trans)
    for (int share = 0; share < 3; ++share)
      for (bool bias : {false, true}) {
        Gemm g = shaped(17, 33, 20, trans & 1, trans >> 1);
        g.batch = 5, g.shareA = share & 1, g.shareB = share >> 1;
        g.bias = bias, g.accumulate = bias;
        check(g);
        g.padA = 2, g.padC = 1;
        check(g);
      }
}

// oneDNN alone would split K among threads here.
TEST(Gemm, LongTransposedSums) {
  for (int64_t k : {1537, 2048, 9000})
    for (int64_t n : {10, 64}) {
      check(shaped(17, n, k, 1, 0));
      check(shaped(17, n, k, 0, 1));
      Gemm g = shaped(17, n, k, 1, 1);
      g.bias = true, g.accumulate = 1;
      check(g);
      g.batch = 2;
      check(g);
    }
}

TEST(Gemm, TransformerShapesHaveTheSameBitsForEveryThreadCount) {
  for (const Gemm &g :
       {shaped(512, 2304, 768, 0, 0), shaped(512, 768, 3072, 0, 0),
        shaped(768, 2304, 512, 1, 0), shaped(512, 768, 2304, 0, 1),
        shaped(128, 128, 4096, 1, 0), shaped(1024, 256, 128, 0, 1),
        shaped(128, 512, 1024, 1, 0), shaped(256, 768, 5000, 0, 0),
        shaped(5000, 768, 256, 1, 0), shaped(1, 5000, 768, 0, 1)}) {
    Floats one = run(g, 1);
    for (int threads : {2, 3})
      EXPECT_TRUE(sameBits(one, run(g, threads)))
          << g.m << " " << g.n << " " << g.k << " threads " << threads;
  }
}

/// Low operands with a low and with an f32 result, with bf16 instructions
/// (where the machine has them) and without.
template <typename Body> void forEachLowType(Body body) {
  struct Case {
    int64_t type;
    CpuIsa isa;
  };
  for (Case c : {Case{WEFT_F16, kBestIsa}, Case{WEFT_F16, CpuIsa::Baseline},
                 Case{WEFT_BF16, kBestIsa}, Case{WEFT_BF16, CpuIsa::Avx2}})
    for (int64_t typeC : {c.type, static_cast<int64_t>(WEFT_F32)})
      body(c.type, typeC, c.isa);
}

TEST(Gemm, LowSizesAndTransposes) {
  forEachLowType([&](int64_t type, int64_t typeC, CpuIsa isa) {
    for (int64_t trans = 0; trans < 4; ++trans)
      for (int64_t m : {1, 7, 65})
        for (int64_t n : {1, 63})
          for (int64_t k : {1, 5, 129}) {
            Gemm g = shaped(m, n, k, trans & 1, trans >> 1);
            g.type = type, g.typeC = typeC;
            check(g, isa);
          }
  });
}

TEST(Gemm, LowStridesBiasAccumulate) {
  forEachLowType([&](int64_t type, int64_t typeC, CpuIsa isa) {
    for (int64_t trans = 0; trans < 4; ++trans)
      for (int64_t accumulate = 0; accumulate < 3; ++accumulate)
        for (bool bias : {false, true}) {
          Gemm g = shaped(33, 47, 21, trans & 1, trans >> 1);
          g.type = type, g.typeC = typeC;
          g.padA = 3, g.padB = 5, g.padC = 7;
          g.bias = bias, g.accumulate = accumulate, g.flag = bias;
          check(g, isa);
          g.batch = 3, g.shareB = accumulate == 1, g.shareA = accumulate == 2;
          check(g, isa);
        }
  });
}

// More than one block in each direction; K past every limit of a stage.
TEST(Gemm, LowBlocksAndLongSums) {
  forEachLowType([&](int64_t type, int64_t typeC, CpuIsa isa) {
    for (int64_t trans : {1, 2}) {
      Gemm g = shaped(300, 270, 1100, trans & 1, trans >> 1);
      g.type = type, g.typeC = typeC, g.bias = true;
      check(g, isa);
      g = shaped(17, 100, 5000, trans & 1, trans >> 1);
      g.type = type, g.typeC = typeC, g.accumulate = 1;
      check(g, isa);
      g = shaped(50, 70, 1696, trans & 1, trans >> 1); // pieces of 576
      g.type = type, g.typeC = typeC, g.bias = true, g.accumulate = trans;
      check(g, isa);
    }
  });
}

TEST(Gemm, LowTransformerShapesHaveTheSameBitsForEveryThreadCount) {
  forEachLowType([&](int64_t type, int64_t typeC, CpuIsa isa) {
    for (Gemm g : {shaped(512, 768, 3072, 0, 0), shaped(768, 2304, 512, 1, 0),
                   shaped(128, 128, 4096, 1, 0), shaped(128, 512, 2048, 1, 1),
                   shaped(1024, 256, 128, 0, 1), shaped(1, 5000, 768, 0, 1)}) {
      g.type = type, g.typeC = typeC;
      Floats one = run(g, 1, 0, isa);
      for (int threads : {2, 3})
        EXPECT_TRUE(sameBits(one, run(g, threads, 0, isa))) << describe(g);
    }
  });
}

// Sums that tiles (AMX) compute in one go, and sums that they would split.
TEST(Gemm, LowSumsAroundTheLongestOfTilesHaveTheSameBits) {
  for (int64_t k : {32, 64, 96, 608, 640, 832, 864, 1024, 1248, 4096})
    for (int64_t trans = 0; trans < 4; ++trans)
      for (auto [m, n] : {std::pair<int64_t, int64_t>{256, 384},
                          {1024, 1536},
                          {40, 1000},
                          {700, 17}}) {
        Gemm g = shaped(m, n, k, trans & 1, trans >> 1);
        g.type = WEFT_BF16, g.accumulate = trans == 1;
        g.typeC = k % 64 == 0 && m < 1024 ? WEFT_BF16 : WEFT_F32;
        Floats one = run(g, 1, 0, kBestIsa);
        for (int threads : {2, 3, 8})
          EXPECT_TRUE(sameBits(one, run(g, threads, 0, kBestIsa)))
              << describe(g);
      }
}

/// One product of two numbers in the type.
float multiply(int64_t type, float a, float b, CpuIsa isa = kBestIsa) {
  TestContext context(1, isa);
  Elements x({a}, type), y({b}, type), z({0.0f}, type);
  Gemm g;
  g.type = g.typeC = type;
  callOk(context, weft_cpu_gemm, {x.data(), y.data(), z.data()}, g.record());
  return z.values()[0];
}

TEST(Gemm, LowEdgesOfTheRange) {
  for (CpuIsa isa : kAllIsas) {
    EXPECT_EQ(multiply(WEFT_F16, 255.0f, 257.0f, isa), INFINITY); // 65535
    EXPECT_EQ(multiply(WEFT_F16, 256.0f, -255.875f, isa), -65504.0f);
    EXPECT_EQ(multiply(WEFT_F16, 0x1p-12f, 0x1p-12f, isa), 0x1p-24f);
    EXPECT_EQ(multiply(WEFT_F16, 0x1p-24f, 1024.0f, isa), 0x1p-14f);
    EXPECT_EQ(multiply(WEFT_F16, 1.5f * 0x1p-12f, 0x1p-12f, isa), 0x1p-23f);
    for (int64_t type : {WEFT_F16, WEFT_BF16}) {
      EXPECT_EQ(multiply(type, INFINITY, -1.0f, isa), -INFINITY);
      EXPECT_TRUE(std::isnan(multiply(type, INFINITY, 0.0f, isa)));
      EXPECT_TRUE(std::isnan(multiply(type, NAN, 1.0f, isa)));
    }
    EXPECT_EQ(multiply(WEFT_BF16, 0x1p100f, 0x1p28f, isa), INFINITY);
  }
}

TEST(Gemm, FlagOfZeroDoesNotReadTheDestination) {
  Gemm g = shaped(9, 9, 9, 0, 0);
  g.accumulate = 2, g.flag = 0.0f; // run() fills C with NaN
  for (float value : run(g, 2))
    EXPECT_FALSE(std::isnan(value));
}

TEST(Gemm, SmallWorkspacesTakeAnotherWay) {
  for (int64_t type : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
    Gemm g = shaped(300, 200, 700, 1, 0);
    g.type = g.typeC = type, g.bias = true;
    WeftGemmRecord record = g.record();
    Operands numbers(g);
    for (int threads : {1, 2}) {
      ContextOptions options = TestContext::options(threads, kBestIsa);
      options.maxThreads = threads;
      WeftContext context(options);
      Elements a(numbers.a, type), b(numbers.b, type), bias(numbers.bias, type);
      Elements c(Floats(300 * 200, NAN), type);
      int64_t bytes = packedBytes(record, smallBlocks(record), threads);
      ASSERT_LT(bytes, gemmWorkspaceBytes(record, threads));
      GuardedWorkspace workspace(bytes);
      callIn(workspace, bytes, context, weft_cpu_gemm,
             {a.data(), b.data(), c.data(), bias.data()}, record);
      ASSERT_FALSE(context.failed()) << context.message();
      EXPECT_LT(largestError(c.values(), reference(g)),
                2e-6 * std::sqrt(g.k) + roundingError(type));
    }
  }
}

// The way follows from the threads that the program may have, not from those
// that it runs on: also where the workspace is too short for the fastest one.
TEST(Gemm, FewerThreadsThanTheProgramMayHaveChangeNoBits) {
  constexpr int most = 8;
  for (int64_t type : {WEFT_F32, WEFT_BF16, WEFT_F16})
    for (Gemm g : {shaped(300, 200, 700, 1, 0), shaped(128, 384, 256, 0, 1)}) {
      g.type = g.typeC = type;
      WeftGemmRecord record = g.record();
      Operands numbers(g);
      Elements a(numbers.a, type), b(numbers.b, type);
      int64_t whole = gemmWorkspaceBytes(record, most);
      int64_t least = packedBytes(record, smallBlocks(record), most);
      for (int64_t bytes : {whole, (whole + least) / 2, least}) {
        Floats first;
        for (int threads : {1, 2, 3}) {
          ContextOptions options = TestContext::options(threads, kBestIsa);
          options.maxThreads = most;
          WeftContext context(options);
          Elements c(Floats(g.m * g.n, NAN), type);
          GuardedWorkspace workspace(bytes);
          callIn(workspace, bytes, context, weft_cpu_gemm,
                 {a.data(), b.data(), c.data()}, record);
          ASSERT_FALSE(context.failed()) << context.message();
          if (threads == 1)
            first = c.values();
          EXPECT_TRUE(sameBits(first, c.values())) << describe(g) << bytes;
        }
      }
    }
}

TEST(Gemm, TooSmallAWorkspaceIsAnError) {
  Gemm g = shaped(300, 200, 700, 1, 0);
  g.type = g.typeC = WEFT_F16;
  WeftGemmRecord record = g.record();
  TestContext context(1);
  Floats x(700 * 300);
  GuardedWorkspace workspace(64);
  callIn(workspace, 64, context, weft_cpu_gemm, {x.data(), x.data(), x.data()},
         record);
  EXPECT_EQ(context.error(), 70);
  EXPECT_EQ(context.message().find("routine in h.3: expects a workspace of at "
                                   "least "),
            size_t(0))
      << context.message();
}

TEST(Gemm, Errors) {
  float x[64] = {};
  using Record = WeftGemmRecord;
  auto expect = [&](const std::string &message, int64_t Record::*field,
                    int64_t value) {
    Gemm g = shaped(4, 4, 4, 0, 0);
    g.batch = 2;
    Record record = g.record();
    record.*field = value;
    expectError(70, message, weft_cpu_gemm, {x, x, x}, record);
  };
  expect("expects batch, M, N and K of at least 1, but got 0", &Record::k, 0);
  const char *most = "expects batch, M, N and K of at most 2^30 and matrices "
                     "of at most 2^34 elements, but got ";
  int64_t large = (int64_t(1) << 30) + 1;
  expect((most + std::to_string(large)).c_str(), &Record::k, large);
  expect("expects rows at most 2^32 elements apart, but got 4294967297",
         &Record::ldc, (int64_t(1) << 32) + 1);
  expect("expects lda of at least the length of a row of A, but got 3",
         &Record::lda, 3);
  expect("expects ldb of at least the length of a row of B, but got 3",
         &Record::ldb, 3);
  expect("expects ldc of at least N, but got 3", &Record::ldc, 3);
  expect("expects batch strides of at least 0, but got -1",
         &Record::batchStrideA, -1);
  expect("expects a batch stride of C that keeps results apart, but got 0",
         &Record::batchStrideC, 0);
  expect("expects accumulate of 0, 1 or 2, but got 3", &Record::accumulate, 3);
  Record shared = shaped(4, 4, 4, 0, 0).record();
  shared.batch = 2, shared.batchStrideA = shared.batchStrideB = 0;
  expectError(70, "expects A or B to differ within a batch, but got strides 0",
              weft_cpu_gemm, {x, x, x}, shared);
  expect("expects 4 buffers, but got 3", &Record::hasBias, 1);
  expect("expects A and B of dtype f32 (0), f16 (2) or bf16 (3), but got 1",
         &Record::dtype, WEFT_F64);
  expect("expects C of dtype f32 (0) or the dtype of A, but got 3",
         &Record::dtypeC, WEFT_BF16);
  expect("expects an epilogue of 0 to 4, but got 5", &Record::epilogue, 5);
  expect("expects a product with at most a bias on the CPU, but got epilogue 1",
         &Record::epilogue, WEFT_EPILOGUE_RELU);
  expect("expects a product with at most a bias on the CPU, but got epilogue 0",
         &Record::hasColumnSum, 1);
  expect("expects a product with at most a bias on the CPU, but got epilogue 0",
         &Record::hasSumA, 1);
  expect("expects a product with at most a bias on the CPU, but got epilogue 0",
         &Record::hasSumB, 1);
}

/// Private memory that may be written, of this process now.
static rlim_t dataBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmData:", 0) == 0)
      return std::stoul(line.substr(7)) * 1024;
  return 0;
}

// oneDNN itself would crash where it gets none: more than it needs must be
// left.
TEST(GemmDeathTest, WithoutMemoryForAPlan) {
  auto run = [] {
    Gemm g = shaped(64, 64, 64, 0, 0);
    Floats x(64 * 64);
    TestContext context(1);
    const rlim_t bytes = dataBytes() + (8 << 20);
    const rlimit little = {bytes, bytes};
    ::setrlimit(RLIMIT_DATA, &little);
    int code = 0;
    try {
      callOk(context, weft_cpu_gemm, {x.data(), x.data(), x.data()},
             g.record());
    } catch (const std::bad_alloc &) {
      code = 4;
    }
    ::_exit(code);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(4), "");
}
