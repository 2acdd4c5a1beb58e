//===- BlockSharesTest.cpp - Digests that processes find together ---------===//

#include "weft/Runtime/Checkpoints/CheckpointShares.h"

#include <gtest/gtest.h>

#include <random>

using namespace weft;

namespace {

using Files = std::vector<BlockDigests>;

TEST(BlockShares, AreJoined) {
  const JoinedShares joined =
      joinShares({shareText({{"a", "", "c"}, {}, {"", "y"}}),
                  shareText({{"", "b", "c"}, {}, {"x", ""}})});
  EXPECT_EQ(joined.files, (Files{{"a", "b", "c"}, {}, {"x", "y"}}));
  EXPECT_FALSE(joined.different);
  EXPECT_EQ(joinShares({}).files, Files());
}

TEST(BlockShares, WhatProcessesReadDifferently) {
  EXPECT_EQ(joinShares({shareText({{"a"}, {"b", "c"}}),
                        shareText({{"a"}, {"b", "d"}})})
                .different,
            1u);
  EXPECT_EQ(joinShares({shareText({{"a"}, {"b"}}), shareText({{"a"}, {"c"}}),
                        shareText({{"d"}, {""}})})
                .different,
            0u);
}

TEST(BlockShares, AnyDivisionGivesTheWhole) {
  std::minstd_rand random(1);
  for (int round = 0; round < 200; ++round) {
    Files whole(random() % 4);
    for (BlockDigests &file : whole)
      for (size_t n = random() % 9; n > 0; --n)
        file.push_back(std::to_string(random()));
    const size_t processes = 1 + random() % 5;
    std::vector<Files> parts(processes, whole);
    for (size_t file = 0; file < whole.size(); ++file)
      for (size_t block = 0; block < whole[file].size(); ++block) {
        const size_t reader = random() % processes;
        for (size_t p = 0; p < processes; ++p)
          if (p != reader && random() % 3 > 0)
            parts[p][file][block].clear();
      }
    std::vector<std::string> shares;
    for (const Files &part : parts)
      shares.push_back(shareText(part));
    EXPECT_EQ(joinShares(shares).files, whole) << "round " << round;
    EXPECT_FALSE(joinShares(shares).different);
  }
}

} // namespace
