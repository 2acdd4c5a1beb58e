//===- CpuLevelTest.cpp - oneDNN's instruction sets of processors ---------===//

#include "weft/Runtime/Execute/CpuFeatures.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace weft;

namespace {

TEST(CpuLevel, TheLeastOfAllRanks) {
  EXPECT_EQ(findLeastLevel({"AVX512_CORE", "AVX2", "AVX512_CORE_AMX", "AVX2"}),
            1u);
  EXPECT_EQ(findLeastLevel({"ALL", "AVX512_CORE_BF16"}), 1u);
  EXPECT_EQ(findLeastLevel({"AVX2"}), 0u);
}

TEST(CpuLevel, TheVariableCapsIt) {
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
  const std::string own = cpuLevel();
  capCpuLevel("SSE41");
  EXPECT_EQ(cpuLevel(), "SSE41");
  capCpuLevel("ALL"); // no cap
  EXPECT_EQ(cpuLevel(), own);
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
}

/// As oneDNN 2.6.3 reads them: in any case, the old name where the new one has
/// no value or one of more than 31 letters.
TEST(CpuLevel, AllNamesOfTheVariableCapIt) {
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
  ::unsetenv("DNNL_MAX_CPU_ISA");
  const std::string own = cpuLevel();
  auto levelOf = [](const char *now, const char *old) {
    ::setenv("ONEDNN_MAX_CPU_ISA", now, /*replace=*/1);
    ::setenv("DNNL_MAX_CPU_ISA", old, /*replace=*/1);
    return cpuLevel();
  };
  EXPECT_EQ(levelOf("sse41", ""), "SSE41");
  EXPECT_EQ(levelOf("", "Sse41"), "SSE41");
  EXPECT_EQ(levelOf(std::string(32, 'x').c_str(), "SSE41"), "SSE41");
  EXPECT_EQ(levelOf(std::string(31, 'x').c_str(), "SSE41"), own);
  EXPECT_EQ(levelOf("all", "SSE41"), own);
  EXPECT_EQ(levelOf("SSE41 ", "SSE41"), own);
  EXPECT_EQ(levelOf("SSE41", "AVX"), "SSE41");
  if (findLeastLevel({own, "AVX2"}) == 1) {
    EXPECT_EQ(levelOf("avx2_vnni", ""), "AVX2");
  }
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
  ::unsetenv("DNNL_MAX_CPU_ISA");
}

} // namespace
