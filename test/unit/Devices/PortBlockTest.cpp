//===- PortBlockTest.cpp - Offsets of ports between host and device -------===//

#include "weft/Runtime/Devices/CudaPorts.h"

#include <gtest/gtest.h>

using namespace weft;

TEST(PortBlock, PortsSideBySideAreOnePiece) {
  // A port and a part of it; padding up to the next one; a large one apart.
  const WeftPort ports[] = {{"c", WEFT_F32, 0, nullptr, 65536, 4000},
                            {"a", WEFT_I32, 0, nullptr, 4096, 600},
                            {"a2", WEFT_I32, 0, nullptr, 4096, 300},
                            {"b", WEFT_F32, 0, nullptr, 4864, 4}};
  const PortBlock block(ports, 4);
  ASSERT_EQ(block.pieces().size(), 2u);
  EXPECT_EQ(block.pieces()[0].offset, 4096);
  EXPECT_EQ(block.pieces()[0].bytes, 772);
  EXPECT_EQ(block.pieces()[0].begin, 0);
  EXPECT_EQ(block.pieces()[1].offset, 65536);
  EXPECT_EQ(block.pieces()[1].begin, 1024);
  EXPECT_EQ(block.bytes(), 5024);
  EXPECT_EQ(block.find(4096), 0);
  EXPECT_EQ(block.find(4864), 768);
  EXPECT_EQ(block.find(65540), 1028);
  EXPECT_EQ(block.find(4868), -1);
  EXPECT_EQ(block.find(0), -1);
  EXPECT_EQ(PortBlock(nullptr, 0).bytes(), 0);
}
