//===- RankLoopTest.cpp - Training loops of several ranks -----------------===//

#include "RankToy.h"

using namespace weft;

namespace {

class RankLoopTest : public RankTest {
protected:
  static Status fine(int, int64_t) { return Status::success(); }
  ToyStop signals[kToyRanks];
};

void expectEnds(const std::vector<RankEnd> &ends, int code, int64_t step) {
  for (const RankEnd &end : ends) {
    EXPECT_EQ(end.code, code) << end.error;
    EXPECT_EQ(end.step, step);
  }
}

TEST_F(RankLoopTest, AllComeToTheLastStep) {
  options.saveEvery = 4;
  expectEnds(trainAll(fine, signals), 0, 10);
  EXPECT_EQ(stepsOf("saves"), "4 8 10 ");
  options.stopAfter = 3;
  std::filesystem::remove_all(path("saves"));
  expectEnds(trainAll(fine, signals), 0, 3);
  EXPECT_EQ(stepsOf("saves"), "3 ");
}

// The signal comes to one rank while it reads the rows of step 5; the others
// are in any step by then that they may be in.
TEST_F(RankLoopTest, ASignalToOneStopsAllAtOneStep) {
  for (int seen = 0; seen < kToyRanks; ++seen) {
    std::filesystem::remove_all(path("saves"));
    auto signal = [&](int rank, int64_t step) {
      if (rank == seen && step == 5)
        signals[rank].signal = SIGTERM;
      if (rank != seen)
        std::this_thread::sleep_for(std::chrono::microseconds(50 * rank));
      return Status::success();
    };
    expectEnds(trainAll(signal, signals), 75, 5);
    EXPECT_EQ(stepsOf("saves"), "5 ");
    signals[seen].signal = 0;
  }
}

TEST_F(RankLoopTest, OneThatFailsEndsAll) {
  auto ends = trainAll(
      [](int rank, int64_t step) {
        return rank == 2 && step == 4 ? Status(inputError("no rows left"))
                                      : Status::success();
      },
      signals);
  for (const RankEnd &end : ends)
    EXPECT_EQ(end.code, 3) << end.error;
  EXPECT_EQ(ends[0].error, "rank 2 cannot continue");
  EXPECT_EQ(ends[1].error, "rank 2 cannot continue");
  EXPECT_EQ(ends[2].error, "no rows left");
  EXPECT_EQ(ends[2].step, 3);
  // The others have made step 4: the ranks have no common state.
  EXPECT_EQ(stepsOf("saves"), "");
}

// The rows are gone on every rank, as of a file that was cut.
TEST_F(RankLoopTest, WholeStepsAreSavedWhenDataIsGone) {
  auto ends = trainAll(
      [](int, int64_t step) {
        return step == 4 ? Status(inputError("no rows left"))
                         : Status::success();
      },
      signals);
  expectEnds(ends, 3, 3);
  EXPECT_EQ(ends[0].error, "no rows left");
  EXPECT_EQ(stepsOf("saves"), "3 ");
}

TEST_F(RankLoopTest, TheWorstOfTwoFailuresIsTheCodeOfAll) {
  auto ends = trainAll(
      [](int rank, int64_t step) -> Status {
        if (step != 4 || rank == 0)
          return Status::success();
        return rank == 1 ? inputError("no rows left")
                         : Error(ExitCode::Device, "no device left");
      },
      signals);
  for (const RankEnd &end : ends)
    EXPECT_EQ(end.code, 9);
  EXPECT_EQ(ends[2].error, "no device left");
  EXPECT_EQ(stepsOf("saves"), "");
}

TEST_F(RankLoopTest, AnUnfinishedRankLeavesNobodyWaiting) {
  for (int gone = 0; gone < kToyRanks; ++gone) {
    auto ends = trainAll(
        [&](int rank, int64_t step) {
          if (rank == gone && step == 6)
            throw std::bad_alloc();
          return Status::success();
        },
        signals);
    for (int rank = 0; rank < kToyRanks; ++rank) {
      const RankEnd &end = ends[size_t(rank)];
      EXPECT_EQ(end.code, rank == gone ? -1 : 7);
      if (rank != gone)
        EXPECT_EQ(end.error,
                  "rank " + std::to_string(gone) + " has left the run");
    }
  }
}

// Without a loss scale.
TEST_F(RankLoopTest, GradientsThatAreNotFiniteEndAll) {
  auto parsed = Faults::parse("num:inf@step=3");
  ASSERT_TRUE(parsed.ok());
  faults = *parsed;
  auto ends = trainAll(fine, signals);
  expectEnds(ends, 6, 2);
  EXPECT_EQ(ends[0].error,
            "step 3: expects finite gradients, but the gradient of 'w' "
            "is not (element 0); nothing was updated");
  EXPECT_EQ(stepsOf("saves"), "");
}

} // namespace
