//===- EpochsTest.cpp - A training whose length is given in epochs --------===//
//
// The text has 344 rows of 8 tokens, and a step 4 rows.
//
//===----------------------------------------------------------------------===//

#include "ToyTool.h"

#include "weft/Runtime/Run/Run.h"

using namespace weft;

namespace {
class EpochsTest : public ToyTest {
protected:
  int64_t lastStep(const std::string &metrics) const {
    return lines(metrics).back().find("step")->asInt();
  }
};
} // namespace

TEST_F(EpochsTest, areStepsThatReadAllRows) {
  ASSERT_EQ(train({"--epochs", "1", "--save-dir", "a", "--lr-schedule",
                   "cosine", "--metrics", "a.jsonl"})
                .status,
            0);
  ASSERT_EQ(
      train({"--steps", "86", "--save-dir", "b", "--lr-schedule", "cosine"})
          .status,
      0);
  expectSameFiles("a/step_00000086", "b/step_00000086");
  const Json head = lines("a.jsonl")[0];
  EXPECT_EQ(head.find("epochs")->asInt(), 1);
  EXPECT_EQ(head.find("steps")->asInt(), 86);
  EXPECT_EQ(head.find("lr_decay_steps")->asInt(), 86);
  EXPECT_EQ(head.find("rows")->asInt(), 344);
}

/// The last step begins another epoch where the rows of a step do not divide
/// the rows of the data.
TEST_F(EpochsTest, theLastStepIsWhole) {
  auto run = bigram(
      {"--data", "text.txt", "--epochs", "2", "--accum", "3", "--dry-run"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("; steps 1 to 58, 2 x 344 rows of data\n"),
            std::string::npos)
      << run.out;
  // Less than a step.
  run = bigram(
      {"--data", "text.txt", "--epochs", "1", "--accum", "100", "--dry-run"});
  EXPECT_NE(run.out.find("; steps 1 to 1, 1 x 344 rows"), std::string::npos)
      << run.out;
}

TEST_F(EpochsTest, aResumedRunEndsWhereAWholeOneDoes) {
  ASSERT_EQ(
      train({"--epochs", "1", "--save-dir", "a", "--stop-after", "5"}).status,
      0);
  auto run = bigram({"--resume", "a", "--metrics", "m.jsonl"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find(" --epochs=1 "), std::string::npos) << run.out;
  EXPECT_EQ(lastStep("m.jsonl"), 86);
  run = bigram({"--resume", "a"});
  EXPECT_NE(run.out.find("already at step 86 of 86\n"), std::string::npos);
  // One more epoch.
  run = bigram({"--resume", "a", "--epochs", "2", "--metrics", "n.jsonl"});
  EXPECT_EQ(run.err,
            "weft: warning: --epochs was 1 in the checkpoint, now 2\n");
  EXPECT_EQ(lastStep("n.jsonl"), 172);
}

/// The default of --lr-decay-steps follows from the data and the micro-steps.
TEST_F(EpochsTest, moreEpochsMoveTheLearningRate) {
  const Args cosine = {"--epochs",     "1", "--save-dir",    "a",
                       "--stop-after", "5", "--lr-schedule", "cosine"};
  ASSERT_EQ(train(cosine).status, 0);
  const std::string keeps = "; --lr-decay-steps=86 keeps the course\n";
  for (const Args &more :
       {Args{"--epochs", "2"}, Args{"--accum", "2"}, Args{"--steps", "90"}}) {
    Args args = {"--resume", "a", "--dry-run"};
    args.insert(args.end(), more.begin(), more.end());
    const auto run = bigram(args);
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.err.find("weft: warning: the learning rate of step 6 is "),
              std::string::npos)
        << run.err;
    EXPECT_NE(run.err.find(keeps), std::string::npos) << run.err;
  }
}

/// Rows count, not steps: 20 are read, and 8 a step are left of 344.
TEST_F(EpochsTest, aResumedRunMayHaveOtherSteps) {
  ASSERT_EQ(
      train({"--epochs", "1", "--save-dir", "a", "--stop-after", "5"}).status,
      0);
  auto run = bigram({"--resume", "a", "--accum", "2", "--metrics", "m.jsonl",
                     "--save-dir", "none"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(lastStep("m.jsonl"), 46);
  // --steps takes the place of kept epochs, and the reverse.
  run = bigram({"--resume", "a", "--steps", "7", "--metrics", "n.jsonl"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(lastStep("n.jsonl"), 7);
  run = bigram({"--resume", "a", "--epochs", "1", "--dry-run"});
  EXPECT_NE(run.out.find("; steps 8 to 86"), std::string::npos) << run.out;
}

TEST_F(EpochsTest, warmupEndsBeforeThem) {
  expectError(
      train({"--epochs", "1", "--lr-schedule", "cosine", "--warmup", "86"}), 2,
      "--warmup expects less than the 86 steps of --epochs=1, but got 86\n");
  EXPECT_EQ(
      train({"--epochs", "1", "--lr-schedule", "cosine", "--warmup", "85"})
          .status,
      0);
}

TEST(Epochs, countsStepsFromTheRowsThatAreLeft) {
  TrainState state;
  auto steps = [&](int64_t epochs, int64_t rows, int64_t rowsOfStep) {
    auto count = countEpochSteps(state, epochs, rows, rowsOfStep);
    return count ? *count : -1;
  };
  EXPECT_EQ(steps(1, 10, 10), 1);
  EXPECT_EQ(steps(1, 10, 4), 3);
  EXPECT_EQ(steps(2, 10, 4), 5);
  EXPECT_EQ(steps(1, 1, 1000), 1);
  EXPECT_EQ(steps(int64_t(1) << 61, 2, 1), int64_t(1) << 62);
  state.step = 7;
  state.cursor.rows = 12;
  EXPECT_EQ(steps(2, 10, 4), 9);
  EXPECT_EQ(steps(1, 10, 4), 7); // all are read
  auto far = countEpochSteps(state, (int64_t(1) << 61) + 1, 2, 1);
  ASSERT_FALSE(far.ok());
  EXPECT_EQ(far.error().message(),
            "--epochs expects a training of at most 4611686018427387904 rows, "
            "but got 2305843009213693953 times 2");
  EXPECT_EQ(far.error().code(), ExitCode::Usage);
}
