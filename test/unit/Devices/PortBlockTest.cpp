//===- PortBlockTest.cpp - Where ports lie between host and device --------===//

#include "weft/Runtime/Devices/CudaPorts.h"

#include <gtest/gtest.h>

using namespace weft;

TEST(PortBlock, PortsOfAProgramLieTogether) {
  const WeftPort micro[] = {{"tokens", WEFT_I32, 0, nullptr, 4096, 600},
                            {"accumulate", WEFT_F32, 0, nullptr, 64, 4}};
  const WeftPort eval[] = {{"tokens", WEFT_I32, 0, nullptr, 8192, 300},
                           {"targets", WEFT_I32, 0, nullptr, 64, 300}};
  const WeftProgram programs[] = {
      {"micro", "micro", nullptr, micro, nullptr, 0, 2, 0},
      {"eval", "eval", nullptr, eval, nullptr, 0, 2, 0},
      {"init", "init", nullptr, nullptr, nullptr, 0, 0, 0}};
  WeftExecutable executable = {};
  executable.programs = programs;
  executable.numPrograms = 3;
  const PortBlock block(executable, PortBlock::Inputs);
  // The larger of two ports at one place counts.
  EXPECT_EQ(block.bytes(), 768 + 512 + 512);
  EXPECT_EQ(block.find(4096)->begin, 0);
  EXPECT_EQ(block.find(64)->begin, 768);
  EXPECT_EQ(block.find(64)->bytes, 300);
  EXPECT_EQ(block.find(8192)->begin, 1280);
  EXPECT_EQ(block.find(65), nullptr);
  EXPECT_EQ(block.rangeOf(programs[0]).begin, 0);
  EXPECT_EQ(block.rangeOf(programs[0]).end, 772);
  EXPECT_EQ(block.rangeOf(programs[1]).begin, 768);
  EXPECT_EQ(block.rangeOf(programs[1]).end, 1580);
  EXPECT_EQ(block.rangeOf(programs[2]).begin, block.rangeOf(programs[2]).end);
  EXPECT_EQ(PortBlock(executable, PortBlock::Outputs).bytes(), 0);
}
