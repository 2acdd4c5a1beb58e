//===- WorkspaceTest.cpp - Workspaces are known before routines run -------===//

#include "GemmPlan.h"
#include "Harness.h"
#include "isa/AttentionScratch.h"

using namespace weft;

namespace {

struct Shape {
  int64_t batch, m, n, k, transA, transB;
};

/// Products of transformers and odd ones.
const Shape kShapes[] = {
    {1, 512, 2304, 768, 0, 0},   {1, 512, 3072, 768, 0, 0},
    {1, 512, 768, 3072, 0, 0},   {1, 512, 5003, 768, 0, 1},
    {1, 512, 768, 50257, 0, 0},  {1, 50257, 768, 512, 1, 0},
    {1, 768, 2304, 512, 1, 0},   {1, 3072, 768, 512, 1, 0},
    {1, 256, 128, 4096, 1, 0},   {1, 128, 384, 256, 1, 0},
    {1, 256, 128, 384, 0, 1},    {1, 4096, 256, 128, 0, 1},
    {1, 4096, 4096, 4096, 0, 0}, {1, 4096, 4096, 4096, 1, 0},
    {1, 4096, 1100, 4096, 0, 1}, {1, 100, 3000, 2000, 1, 1},
    {8, 128, 128, 64, 0, 1},     {8, 16, 128, 64, 0, 0},
    {1, 1, 5000, 768, 0, 1},     {1, 16, 32, 8, 0, 0},
    {1, 32, 2, 16, 0, 0},        {1, 1, 1, 1, 0, 0},
    {1, 17, 1000, 3, 1, 1},
};

WeftGemmRecord recordOf(const Shape &s, int64_t type, int64_t typeC) {
  WeftGemmRecord record = {};
  record.batch = s.batch, record.m = s.m, record.n = s.n, record.k = s.k;
  record.transA = s.transA, record.transB = s.transB;
  record.lda = s.transA ? s.m : s.k;
  record.ldb = s.transB ? s.k : s.n;
  record.ldc = s.n;
  if (s.batch > 1) {
    record.batchStrideA = s.m * s.k;
    record.batchStrideB = s.m == 16 ? 0 : s.k * s.n; // or one for all
    record.batchStrideC = s.m * s.n;
  }
  record.dtype = type, record.dtypeC = typeC;
  return record;
}

} // namespace

namespace {

std::string describe(const WeftGemmRecord &s) {
  auto text = [](int64_t value) { return std::to_string(value) + " "; };
  return text(s.batch) + text(s.m) + text(s.n) + text(s.k) + "trans " +
         text(s.transA) + text(s.transB) + "types " + text(s.dtype) +
         text(s.dtypeC);
}

/// Odd sizes and the sizes of models.
WeftGemmRecord drawRecord(std::mt19937 &random) {
  auto below = [&](int64_t count) { return int64_t(random() % count); };
  auto size = [&] {
    const int64_t usual[] = {16,   32,   64,   96,   128,  192,
                             256,  384,  512,  768,  1024, 1536,
                             2048, 2304, 3072, 4096, 5000, 50257};
    const int64_t most[] = {300, 300, 1200, 6000};
    return below(2) == 0 ? 1 + below(most[below(std::size(most))])
                         : usual[below(std::size(usual))];
  };
  const int64_t types[] = {WEFT_F32, WEFT_F32, WEFT_BF16, WEFT_F16};
  int64_t way = below(3); // neither, A, B
  Shape shape = {below(4) == 0 ? 1 + below(8) : 1,
                 size(),
                 size(),
                 size(),
                 way == 1,
                 way == 2};
  int64_t type = types[below(4)];
  WeftGemmRecord record =
      recordOf(shape, type, below(2) == 0 ? int64_t(WEFT_F32) : type);
  record.accumulate = below(2);
  // oneDNN needs more for both, so such a product may take another way.
  record.hasBias = !record.accumulate && below(4) == 0;
  return record;
}

/// Whether the fastest way of a product fits the workspace of the compiler, and
/// so does the one that needs least.
void expectFits(const WeftGemmRecord &record, int threads, bool mayUseBf16) {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  int64_t bytes = gemmWorkspaceBytes(record, threads);
  for (int64_t room : {INT64_MAX, int64_t(0)})
    EXPECT_LE(makePlan(record, engine, {threads, threads, mayUseBf16, room})
                  .countBytes(threads),
              bytes)
        << describe(record) << "threads " << threads;
}

} // namespace

// The bound was derived from its sources.
TEST(Workspace, TheBoundIsThatOfOneDnn26) {
  EXPECT_EQ(dnnl_version()->major, 2);
  EXPECT_EQ(dnnl_version()->minor, 6)
      << "derive oneDnnThreadBytes (CpuWorkspaces.h) from this version's "
         "brgemm_matmul_utils.cpp";
}

// The compiler does not ask oneDNN: on this processor (and on what
// ONEDNN_MAX_CPU_ISA makes of it, test/Tools/workspaces.test) no product has to
// leave its fastest way.
TEST(Workspace, HoldsTheFastestWayOfEveryProduct) {
  for (const Shape &shape : kShapes)
    for (int64_t type : {WEFT_F32, WEFT_BF16, WEFT_F16})
      for (int64_t typeC : {type, int64_t(WEFT_F32)})
        for (int threads : {1, 2, 3, 8, 16})
          for (bool mayUseBf16 : {true, false})
            expectFits(recordOf(shape, type, typeC), threads, mayUseBf16);
}

/// Whether oneDNN uses f32 kernels that may read operands in place.
static bool readsInPlace() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  return isa != dnnl::cpu_isa::sse41 && isa < dnnl::cpu_isa::avx512_core;
}

// Rows that alias are copied where oneDNN would read them in place, unless the
// workspace is too short.
TEST(Workspace, HoldsCopiesOfRowsThatAlias) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  WeftGemmRecord record =
      recordOf({1, 384, 1536, 2048, 1, 0}, WEFT_F32, WEFT_F32);
  auto plan = [&](int64_t bytes) {
    return makePlan(record, engine, {2, 2, true, bytes});
  };
  const int64_t copies = PaddedRows(record, 2).bytes();
  ASSERT_LE(copies, gemmWorkspaceBytes(record, 2));
  EXPECT_EQ(plan(INT64_MAX).padded.has_value(), readsInPlace());
  EXPECT_EQ(plan(copies).padded.has_value(), readsInPlace());
  EXPECT_FALSE(plan(copies - 1).padded.has_value());
}

// Nobody else could compute a part of it.
TEST(Workspace, ProgramsOfOneThreadHaveProductsInOnePiece) {
  if (!readsInPlace())
    GTEST_SKIP() << "oneDNN reads no operand in place on this processor";
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  for (int64_t transA : {0, 1}) {
    WeftGemmRecord record =
        recordOf({1, 384, 1500, 4096, transA, 0}, WEFT_F32, WEFT_F32);
    GemmPlan plan = makePlan(record, engine, {1, 1, true, INT64_MAX});
    EXPECT_FALSE(plan.padded.has_value());
    for (const GemmStage &stage : plan.stages)
      EXPECT_EQ(stage.products.size(), size_t(1));
  }
}

// Sums of 256 rows by up to 1024 columns, where A is transposed and K is cut.
TEST(Workspace, HoldsTheSumsOfManyColumns) {
  for (int64_t n : {64, 65, 960, 1000, 1023, 1100})
    for (int64_t type : {WEFT_F32, WEFT_BF16})
      for (int threads : {1, 2, 3, 8}) {
        WeftGemmRecord record =
            recordOf({1, 512, n, 1536, 1, 0}, type, WEFT_F32);
        record.accumulate = WEFT_ADD;
        expectFits(record, threads, /*mayUseBf16=*/true);
      }
}

TEST(Workspace, HoldsTheFastestWayOfRandomProducts) {
  std::mt19937 random(20);
  for (int i = 0; i < 3000; ++i) {
    WeftGemmRecord record = drawRecord(random);
    const int threads[] = {1, 2, 3, 4, 8, 16};
    expectFits(record, threads[random() % std::size(threads)],
               /*mayUseBf16=*/random() % 4 != 0);
  }
}

TEST(Workspace, HoldsTheTilesOfAttention) {
  for (int64_t dtype : {WEFT_F32, WEFT_BF16, WEFT_F16})
    for (auto [keys, width] : {std::pair<int64_t, int64_t>{1, 1},
                               {17, 5},
                               {17, 64},
                               {128, 16},
                               {128, 100},
                               {1000, 5},
                               {1000, 64}}) {
      WeftAttentionRecord record = {};
      record.dtype = dtype;
      record.batch = 2, record.queries = 70, record.keys = keys;
      record.heads = 4, record.keyHeads = 2, record.headSize = width;
      int64_t row = (width + kMostLanes - 1) / kMostLanes * kMostLanes;
      EXPECT_EQ(AttentionWork(record, false).bytes,
                layForward(nullptr, width).floats * 4);
      EXPECT_EQ(AttentionWork(record, true).bytes,
                layBackward(nullptr, dtype, keys, width, row).floats * 4);
      EXPECT_EQ(AttentionWork(record, false).units, 2 * 4 * 2);
      EXPECT_EQ(AttentionWork(record, true).units, 2 * 2);
    }
}

// A program for many threads may run on fewer.
TEST(Workspace, GrowsWithThreads) {
  for (const Shape &shape : kShapes)
    for (int64_t type : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
      WeftGemmRecord record = recordOf(shape, type, type);
      for (int64_t threads = 1; threads < 20; ++threads)
        EXPECT_LE(gemmWorkspaceBytes(record, threads),
                  gemmWorkspaceBytes(record, threads + 1));
    }
}
