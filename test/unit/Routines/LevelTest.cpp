//===- LevelTest.cpp - The instruction set of a process -------------------===//
//
// One level decides the code of oneDNN and of the hand-written kernels. The
// oracles are the features that Linux lists, and arithmetic that differs:
// products of bf16 take subnormals as zero.
// test/Lowering/Cpu/levels.test runs this for each ONEDNN_MAX_CPU_ISA.
//
//===----------------------------------------------------------------------===//

#include "AttentionCases.h"
#include "FloatRuns.h"
#include "GemmCases.h"
#include "IsaLoops.h"

#include <fstream>
#include <iterator>
#include <set>

using namespace weft;

namespace {

/// The words of /proc/cpuinfo: features of the processor, and its maker.
std::set<std::string> cpuWords() {
  std::ifstream info("/proc/cpuinfo");
  return {std::istream_iterator<std::string>(info), {}};
}

/// The best instruction set up to `most` that Linux lists.
CpuIsa findIsa(const std::set<std::string> &words, CpuIsa most) {
  const std::pair<CpuIsa, std::vector<std::string>> all[] = {
      {CpuIsa::Avx2, {"avx2", "fma", "f16c", "bmi1", "bmi2", "abm", "movbe"}},
      {CpuIsa::Avx512,
       {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
      {CpuIsa::Avx512Bf16, {"avx512_vnni", "avx512_bf16"}},
      {CpuIsa::Amx, {"amx_tile", "amx_int8", "amx_bf16"}}};
  CpuIsa best = CpuIsa::Baseline;
  for (const auto &[isa, features] : all)
    for (const std::string &feature : features)
      if (isa > most || !words.count(feature))
        return best;
      else if (feature == features.back())
        best = isa;
  return best;
}

CpuIsa capOfEnvironment() {
  const char *value = std::getenv("ONEDNN_MAX_CPU_ISA");
  const std::string cap = value ? value : "";
  return cap == "SSE41" || cap == "AVX"                      ? CpuIsa::Baseline
         : cap == "AVX2" || cap == "AVX2_VNNI"               ? CpuIsa::Avx2
         : cap == "AVX512_CORE" || cap == "AVX512_CORE_VNNI" ? CpuIsa::Avx512
         : cap == "AVX512_CORE_BF16" ? CpuIsa::Avx512Bf16
                                     : CpuIsa::Amx;
}

/// A product of bf16 with a subnormal factor.
float multiplySubnormal() {
  TestContext context(1);
  Elements x({0x1p-130f, 0.0f}, WEFT_BF16), y({0x1p100f}, WEFT_BF16);
  Elements z({1.0f, 1.0f}, WEFT_BF16);
  Gemm g = shaped(2, 1, 1, 0, 0); // single rows are always widened
  g.type = g.typeC = WEFT_BF16;
  callOk(context, weft_cpu_gemm, {x.data(), y.data(), z.data()}, g.record());
  return z.values()[0];
}

} // namespace

TEST(Levels, OfProcessorAndVariable) {
  const std::set<std::string> words = cpuWords();
  const CpuIsa cap = capOfEnvironment();
  CpuIsa want = findIsa(words, cap);
  // Their f32 instructions are faster.
  if (want == CpuIsa::Avx512Bf16 && cap != want && words.count("GenuineIntel"))
    want = CpuIsa::Avx512;
  TestContext context(1);
  EXPECT_EQ(context.isa(), want) << cpuIsaName(want);
  EXPECT_EQ(&loopsOf(context), loopsFor(want));
}

TEST(Levels, AContextMayHaveLess) {
  for (CpuIsa isa : kAllIsas) {
    TestContext context(1, isa);
    EXPECT_EQ(context.isa(), std::min(isa, detectCpuIsa()));
    EXPECT_EQ(&loopsOf(context), loopsFor(context.isa()));
  }
}

TEST(Levels, OfProducts) {
  const bool isLow = detectCpuIsa() >= CpuIsa::Avx512Bf16;
  EXPECT_EQ(multiplySubnormal(), isLow ? 0.0f : 0x1p-30f);
}
