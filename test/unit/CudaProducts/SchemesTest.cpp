//===- SchemesTest.cpp - Sums over the parts of a product -----------------===//
//
// cuBLASLt may cut K into parts. They have to meet as f32 in the workspace: in
// the type of C each of them is rounded first, in C the order is open.
//
//===----------------------------------------------------------------------===//

#include "ProductHarness.h"

#include "cuda/CublasLtPlan.h"
#include "weft/Base/Text.h"

#include <set>

using namespace weft;
using namespace weft::cuda;

namespace {

/// One element of f16, a sum that is long enough to be cut in two.
struct LongSum {
  static constexpr int64_t kBytes = 4096;
  const WeftGemmRecord s = productOf(1, 1, 64, 0, 0, WEFT_F16).s;
  std::unique_ptr<BlasLt> library = std::move(*BlasLt::open());
  Elements a{Floats(64, 1.0f), WEFT_F16}, b{Floats(64, 0.0f), WEFT_F16};
  Elements c{Floats(1, NAN), WEFT_F16};
  alignas(256) char workspace[kBytes];

  GemmOperands operands() {
    return {a.data(), b.data(), c.data(), nullptr, nullptr, nullptr, nullptr};
  }
  GemmPlan plan() {
    return std::move(*makePlan(*library, s, operands(), kBytes));
  }
  uint32_t schemeOf(const cublasLtMatmulAlgo_t &algorithm) const;
  /// The library's own first choice where that scheme is allowed.
  cublasLtMatmulAlgo_t firstOf(uint32_t scheme);
  float run(const GemmPlan &plan);
};

} // namespace

uint32_t LongSum::schemeOf(const cublasLtMatmulAlgo_t &algorithm) const {
  uint32_t scheme = 99;
  EXPECT_EQ(0, library->entries().MatmulAlgoConfigGetAttribute(
                   &algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                   sizeof scheme, nullptr));
  return scheme;
}

cublasLtMatmulAlgo_t LongSum::firstOf(uint32_t scheme) {
  const BlasLtEntries &lt = library->entries();
  const GemmPlan made = plan();
  cublasLtMatmulPreference_t wish = nullptr;
  EXPECT_EQ(0, lt.MatmulPreferenceCreate(&wish));
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t name, auto value) {
    EXPECT_EQ(
        0, lt.MatmulPreferenceSetAttribute(wish, name, &value, sizeof value));
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(kBytes));
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, scheme);
  for (auto name : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    prefer(name, uint32_t(2));
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  EXPECT_EQ(0, lt.MatmulAlgoGetHeuristic(
                   library->handle(), made.operation.get(), made.first.get(),
                   made.second.get(), made.target.get(), made.target.get(),
                   wish, 1, &found, &count));
  EXPECT_EQ(schemeOf(found.algo), scheme);
  lt.MatmulPreferenceDestroy(wish);
  return found.algo;
}

float LongSum::run(const GemmPlan &plan) {
  Status ran = enqueue(*library, plan, operands(),
                       {/*adds=*/false, /*shares=*/false}, workspace,
                       /*stream=*/nullptr);
  EXPECT_TRUE(bool(ran));
  return c.values()[0];
}

/// All that are found repeat their bits, though the library would rather give
/// others: whoever asks for those gets no other ones.
TEST(CudaProduct, PartsMeetAsF32) {
  LongSum sum;
  auto found = findAlgorithms(*sum.library, sum.s, sum.plan(), sum.operands(),
                              sum.kBytes);
  ASSERT_TRUE(bool(found));
  std::set<uint32_t> schemes;
  for (const GemmAlgorithm &one : *found)
    schemes.insert(sum.schemeOf(one.algorithm));
  EXPECT_EQ(schemes,
            (std::set<uint32_t>{CUBLASLT_REDUCTION_SCHEME_NONE,
                                CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}));
}

/// An algorithm of a file of --tuning is asked how its parts meet as well.
TEST(CudaProduct, TunedPartsMeetAsF32) {
  LongSum sum;
  auto make = [&](uint32_t scheme) {
    const cublasLtMatmulAlgo_t tuned = sum.firstOf(scheme);
    return makePlan(*sum.library, sum.s, sum.operands(), sum.kBytes, &tuned);
  };
  EXPECT_TRUE(bool(make(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)));
  for (uint32_t scheme : {CUBLASLT_REDUCTION_SCHEME_INPLACE,
                          CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE}) {
    auto plan = make(scheme);
    ASSERT_FALSE(bool(plan)) << scheme;
    EXPECT_EQ(plan.error().code(), ExitCode::Input);
    EXPECT_EQ(plan.error().message(),
              "expects an algorithm of " + sum.library->describe() +
                  " for a product of 1 x 1 x 1 x 64 (batch, M, N, K), but got "
                  "one whose partial sums are not f32");
  }
}

/// 2049 and 1: rounded to f16 before they meet, the first is 2048.
TEST(CudaProduct, PartsAreNotRounded) {
  LongSum sum;
  Floats values(64, 0.0f);
  values[0] = 2048.0f, values[1] = values[32] = 1.0f;
  sum.b = Elements(values, WEFT_F16);
  GemmPlan plan = sum.plan();
  ASSERT_EQ(sum.schemeOf(plan.algorithm),
            uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  EXPECT_EQ(sum.run(plan), 2050.0f);
  plan.algorithm = sum.firstOf(CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
  EXPECT_EQ(sum.run(plan), 2048.0f);
}
