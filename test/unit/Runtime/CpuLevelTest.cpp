//===- CpuLevelTest.cpp - What oneDNN makes of processors -----------------===//

#include "weft/Runtime/Run/CpuLevel.h"

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

} // namespace
