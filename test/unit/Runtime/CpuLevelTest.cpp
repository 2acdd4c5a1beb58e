//===- CpuLevelTest.cpp - The instruction set of a process ----------------===//

#include "weft/Runtime/Execute/CpuLevel.h"

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

/// The message about the two variables, or "".
std::string checkedLevel(const char *now, const char *old) {
  ::setenv("ONEDNN_MAX_CPU_ISA", now, /*replace=*/1);
  ::setenv("DNNL_MAX_CPU_ISA", old, /*replace=*/1);
  Status checked = checkCpuLevel();
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
  ::unsetenv("DNNL_MAX_CPU_ISA");
  return checked ? "" : checked.takeError().message();
}

TEST(CpuLevel, AnUnknownCapIsAnError) {
  const std::string names =
      "ALL, AVX2_VNNI, SSE41, AVX, AVX2, AVX512_CORE, AVX512_CORE_VNNI, "
      "AVX512_CORE_BF16, AVX512_CORE_AMX";
  EXPECT_EQ(checkedLevel("avx512", ""), "ONEDNN_MAX_CPU_ISA expects one of " +
                                            names + ", but got 'avx512'");
  EXPECT_EQ(checkedLevel("", "AVX2 "),
            "DNNL_MAX_CPU_ISA expects one of " + names + ", but got 'AVX2 '");
  const std::string longest(40, 'x');
  EXPECT_EQ(checkedLevel(longest.c_str(), ""),
            "ONEDNN_MAX_CPU_ISA expects one of " + names + ", but got '" +
                longest + "'");
  for (const char *level : {"", "ALL", "avx2_vnni", "Sse41", "AVX512_CORE_AMX"})
    EXPECT_EQ(checkedLevel(level, ""), "");
  // oneDNN reads the first one that has a value.
  EXPECT_EQ(checkedLevel("AVX2", "none"), "");
}

/// Each level has the kernels that a processor of it would have.
TEST(CpuLevel, KernelsFollowTheCap) {
  const std::string own = cpuLevel();
  const std::pair<const char *, CpuIsa> all[] = {
      {"SSE41", CpuIsa::Baseline},
      {"AVX", CpuIsa::Baseline},
      {"AVX2", CpuIsa::Avx2},
      {"AVX512_CORE", CpuIsa::Avx512},
      {"AVX512_CORE_VNNI", CpuIsa::Avx512},
      {"AVX512_CORE_BF16", CpuIsa::Avx512Bf16},
      {"AVX512_CORE_AMX", CpuIsa::Amx}};
  for (const auto &[level, isa] : all) {
    if (findLeastLevel({level, own}) == 1 && level != own)
      break; // the processor has less
    capCpuLevel(level);
    EXPECT_EQ(cpuLevel(), level);
    EXPECT_EQ(detectCpuIsa(), isa);
  }
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
}

} // namespace
