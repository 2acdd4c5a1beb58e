//===- ReplicasTest.cpp - Replicas hold the same values -------------------===//

#include "RankToy.h"

#include "weft/Runtime/Checkpoints/CheckpointShares.h"

using namespace weft;

namespace {

class ReplicasTest : public RankTest {
protected:
  /// Compares states of zeros in which `change` has changed something.
  std::vector<RankEnd>
  compare(int ranks, const std::function<void(WeftContext &)> &change) {
    ThreadRanks all(ranks);
    std::vector<RankEnd> ends(static_cast<size_t>(ranks));
    all.run([&](Consensus &consensus) {
      ContextOptions wanted;
      wanted.rank = consensus.rank();
      wanted.ranks = ranks;
      wanted.threads = 1;
      std::string error;
      auto context = WeftContext::create(rankToy(), wanted, error);
      change(*context);
      Status same = compareReplicas(*context, consensus, 7);
      ends[size_t(wanted.rank)] = {
          same ? 0 : same.error().exitStatus(),
          same ? "" : same.error().where(),
          !same && same.error().isOfAllProcesses() ? 1 : 0};
    });
    return ends;
  }
};

/// The weight of all ranks is at byte 0, the slice of the moment at 128.
float &at(WeftContext &context, int64_t offset, int element = 0) {
  return static_cast<float *>(context.at(offset))[element];
}

TEST_F(ReplicasTest, SlicesAndGradientsMayDiffer) {
  for (const RankEnd &end : compare(3, [](WeftContext &context) {
         at(context, 64) = at(context, 128) = float(context.rank());
       }))
    EXPECT_EQ(end.code, 0) << end.error;
}

TEST_F(ReplicasTest, ADifferenceIsNamedByAll) {
  const auto ends = compare(3, [](WeftContext &context) {
    at(context, 0, 2) = context.rank() == 0 ? 1.0f : 0.0f;
  });
  const std::string start = "after step 7: expects tensor 'w' to have one "
                            "digest on all ranks that store it, but got ";
  for (const RankEnd &end : ends) {
    EXPECT_EQ(end.code, 7);
    EXPECT_EQ(end.step, 1);
    EXPECT_EQ(end.error.substr(0, start.size()), start);
    // Most ranks come first.
    EXPECT_NE(end.error.find(" on ranks 1 and 2 and "), std::string::npos)
        << end.error;
    EXPECT_EQ(end.error.substr(end.error.size() - 10), " on rank 0") << start;
    EXPECT_EQ(end.error, ends[0].error);
  }
}

// As on a mesh replica:2,shard:3: ranks 1 and 4 hold the second slice.
TEST_F(ReplicasTest, ReplicasOfASliceAreCompared) {
  auto ends = compare(6, [](WeftContext &context) {
    at(context, 128) = float(context.rank() % 3);
  });
  EXPECT_EQ(ends[5].code, 0) << ends[5].error;
  ends = compare(6, [](WeftContext &context) {
    at(context, 128) = float(context.rank() % 3 + (context.rank() == 4));
  });
  for (const RankEnd &end : ends) {
    EXPECT_EQ(end.code, 7);
    EXPECT_NE(end.error.find("'w.exp_avg'"), std::string::npos) << end.error;
    EXPECT_NE(end.error.find(" on rank 1 and "), std::string::npos);
    EXPECT_NE(end.error.find(" on rank 4"), std::string::npos);
  }
}

// Nothing of a state that differs is saved.
TEST_F(ReplicasTest, ASaveComparesFirst) {
  auto parsed = Faults::parse("flip@step=4,rank=2");
  ASSERT_TRUE(parsed.ok());
  faults = *parsed;
  options.saveEvery = 2;
  ToyStop signals[kToyRanks];
  auto fine = [](int, int64_t) { return Status::success(); };
  for (const RankEnd &end : trainAll(fine, signals)) {
    EXPECT_EQ(end.code, 7);
    EXPECT_EQ(end.error.find("after step 4: expects tensor 'w'"), 0u)
        << end.error;
  }
  EXPECT_EQ(stepsOf("saves"), "2 ");
  // Without saves, only where it is asked for.
  for (const RankEnd &end : trainAll(fine, signals, /*isSaved=*/false))
    EXPECT_EQ(end.code, 0) << end.error;
  options.checkReplicas = 4;
  for (const RankEnd &end : trainAll(fine, signals, /*isSaved=*/false)) {
    EXPECT_EQ(end.code, 7);
    EXPECT_EQ(end.error.find("after step 4: expects tensor 'w'"), 0u);
  }
}

} // namespace
