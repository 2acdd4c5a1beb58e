//===- CulpritsTest.cpp - Whose value was not finite first ----------------===//

#include "weft/Runtime/Run/Culprits.h"

#include "gtest/gtest.h"

using namespace weft;

static std::string first(const std::vector<Culprit> &culprits) {
  std::vector<std::string> texts;
  for (const Culprit &culprit : culprits)
    texts.push_back(culpritText(culprit));
  return firstCulprit(texts);
}

TEST(Culprits, OneRankHasNoName) {
  EXPECT_EQ(first({{Culprit::Made, 3, "log made inf"}}), "log made inf");
  EXPECT_EQ(first({{}}), "");
}

TEST(Culprits, WhatAnOpMadeComesBeforeWhatWasSent) {
  const Culprit sent = {Culprit::Received, 9, "reduce_scatter made inf"};
  const Culprit made = {Culprit::Made, 30, "exp made inf"};
  EXPECT_EQ(first({sent, made, sent}), "rank 1: exp made inf");
  EXPECT_EQ(first({sent, sent}), "rank 0: reduce_scatter made inf");
  EXPECT_EQ(first({{}, sent}), "rank 1: reduce_scatter made inf");
}

TEST(Culprits, TheEarlierOneOfALike) {
  auto came = [](int64_t command) {
    return Culprit{Culprit::CameIn, command, std::to_string(command)};
  };
  EXPECT_EQ(first({came(5), came(0), came(0)}), "rank 1: 0");
  EXPECT_EQ(first({came(0), {Culprit::Made, 7, "log"}}), "rank 1: log");
}

TEST(Culprits, OtherTextsAreNone) {
  EXPECT_EQ(firstCulprit({"", "x", "1", "1 2"}), "");
  EXPECT_EQ(firstCulprit({"", "0 1 log (2 3) 4"}), "rank 1: log (2 3) 4");
}

TEST(Culprits, ARunOfOneRankAsksNobody) {
  OneRank alone;
  EXPECT_EQ(findCulprit(alone, 3, {Culprit::Made, 1, "log made inf"}),
            "log made inf");
}
