//===- NanCausesTest.cpp - First non-finite value of all ranks ------------===//

#include "weft/Runtime/Run/Trainer.h"

#include "gtest/gtest.h"

using namespace weft;

static std::string first(const std::vector<NanCause> &causes) {
  std::vector<std::string> texts;
  for (const NanCause &cause : causes)
    texts.push_back(formatNanCause(cause));
  return describeFirstCause(texts);
}

TEST(NanCauses, OneRankHasNoName) {
  EXPECT_EQ(first({{NanCause::Made, 3, "log made inf"}}), "log made inf");
  EXPECT_EQ(first({{}}), "");
}

TEST(NanCauses, WhatAnOpMadeComesBeforeWhatWasSent) {
  const NanCause sent = {NanCause::Received, 9, "reduce_scatter made inf"};
  const NanCause made = {NanCause::Made, 30, "exp made inf"};
  EXPECT_EQ(first({sent, made, sent}), "rank 1: exp made inf");
  EXPECT_EQ(first({sent, sent}), "rank 0: reduce_scatter made inf");
  EXPECT_EQ(first({{}, sent}), "rank 1: reduce_scatter made inf");
}

TEST(NanCauses, TheEarlierOneOfALike) {
  auto came = [](int64_t command) {
    return NanCause{NanCause::CameIn, command, std::to_string(command)};
  };
  EXPECT_EQ(first({came(5), came(0), came(0)}), "rank 1: 0");
  EXPECT_EQ(first({came(0), {NanCause::Made, 7, "log"}}), "rank 1: log");
}

TEST(NanCauses, OtherTextsAreNone) {
  EXPECT_EQ(describeFirstCause({"", "x", "1", "1 2"}), "");
  EXPECT_EQ(describeFirstCause({"", "0 1 log (2 3) 4"}), "rank 1: log (2 3) 4");
}

TEST(NanCauses, ARunOfOneRankAsksNobody) {
  OneRank alone;
  EXPECT_EQ(findFirstCause(alone, 3, {NanCause::Made, 1, "log made inf"}),
            "log made inf");
}
