//===- CpuTargetTest.cpp - Targets, determinism of object code ------------===//

#include "weft/Lowering/Cpu/Cpu.h"

#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(CpuTarget, ParsesLevels) {
  std::string error;
  auto level = CpuTarget::parse("cpu:x86-64-v3", error);
  ASSERT_TRUE(llvm::succeeded(level)) << error;
  EXPECT_TRUE(level->hasFma());
  EXPECT_EQ(level->getRequiredFeatures(),
            (std::vector<std::string>{"avx2", "f16c", "fma"}));
  auto old = CpuTarget::parse("cpu:x86-64-v2", error);
  ASSERT_TRUE(llvm::succeeded(old)) << error;
  EXPECT_FALSE(old->hasFma());
  EXPECT_TRUE(old->getRequiredFeatures().empty());
}

TEST(CpuTarget, RejectsUnknownNames) {
  std::string error;
  EXPECT_TRUE(llvm::failed(CpuTarget::parse("cpu:z80", error)));
  EXPECT_EQ(error, "expects the target cpu, cpu:x86-64-v2, cpu:x86-64-v3 or "
                   "cpu:x86-64-v4, but got cpu:z80");
}

} // namespace
} // namespace weft
