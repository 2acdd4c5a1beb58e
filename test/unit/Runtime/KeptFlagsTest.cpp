//===- KeptFlagsTest.cpp - Flags that a resumed run restores --------------===//

#include "ToyTool.h"

#include "weft/Formats/Manifest.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <filesystem>
#include <set>

using namespace weft;

namespace {

class KeptFlagsTest : public ToyTest {
protected:
  /// Five of ten steps.
  void SetUp() override {
    ToyTest::SetUp();
    auto run = train({"--steps", "10", "--stop-after", "5", "--save-dir", "a",
                      "--lr", "1e-2", "--accum", "2", "--val-fraction", "0.1"});
    ASSERT_EQ(run.status, 0) << run.err;
  }
  std::string flag(const std::string &step, const std::string &name) const {
    auto manifest = Manifest::read(path(step));
    EXPECT_TRUE(manifest.ok() && manifest->run);
    const std::string *text = findSetting(manifest->run->flags, name);
    return text ? *text : "absent";
  }
};

TEST_F(KeptFlagsTest, theManifestRecordsFlagsDataAndProgram) {
  auto manifest = Manifest::read(path("a/step_00000005"));
  ASSERT_TRUE(manifest.ok() && manifest->run);
  const RunRecord &run = *manifest->run;
  EXPECT_EQ(*findSetting(run.flags, "lr"), "0.01");
  EXPECT_EQ(*findSetting(run.flags, "beta1"), "0.9");
  EXPECT_EQ(findSetting(run.flags, "stop-after"), nullptr);
  EXPECT_EQ(findSetting(run.flags, "save-dir"), nullptr);
  EXPECT_EQ(*findSetting(run.flags, "data"), "text.txt");
  EXPECT_EQ(*findSetting(run.files, "data"), path("text.txt"));
  EXPECT_EQ(run.program,
            (Settings{{"batch", "4"}, {"seq", "8"}, {"precision", "f32"}}));
  ASSERT_TRUE(run.data);
  EXPECT_EQ(run.data->kind, "text");
  EXPECT_EQ(run.data->length, 2760);
  EXPECT_EQ(run.data->xxh3.size(), 32u);
  EXPECT_FALSE(run.valData);
}

TEST_F(KeptFlagsTest, resumeWithoutFlagsGoesOnAsItWas) {
  auto run = bigram({"--resume", "a"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("\nkept      --data=text.txt --val-fraction=0.1 "
                         "--steps=10 --accum=2 --lr=0.01 --save-dir=a\n"),
            std::string::npos)
      << run.out;
  EXPECT_EQ(list("a"), (Args{"step_00000005", "step_00000010"}));
  EXPECT_EQ(read("a/step_00000005/MANIFEST.json").find("\"lr\": \"0.05\""),
            std::string::npos);
  run = bigram({"--resume", "a"});
  EXPECT_NE(run.out.find("already at step 10 of 10\n"), std::string::npos);
}

TEST_F(KeptFlagsTest, aGivenFlagOverridesWithAWarning) {
  auto run = bigram({"--resume", "a", "--lr", "0.020", "--progress", "none"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err,
            "weft: warning: --lr was 0.01 in the checkpoint, now 0.02\n");
  EXPECT_EQ(flag("a/step_00000010", "lr"), "0.02");
  // The same value in another spelling is no change.
  run = bigram({"--resume", "a/step_00000005", "--lr", "1e-2", "--save-dir",
                "b", "--progress", "none"});
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(flag("b/step_00000010", "lr"), "0.01");
}

/// A run of ten steps with a schedule, stopped after five.
class RateTest : public ToyTest {
protected:
  void SetUp() override {
    ToyTest::SetUp();
    auto run = begin({});
    ASSERT_EQ(run.status, 0) << run.err;
    ASSERT_EQ(run.err, "");
  }
  ToolResult begin(const Args &more) {
    std::filesystem::remove_all(path("a"));
    Args args = {"--steps", "10",   "--stop-after",  "5",     "--save-dir", "a",
                 "--lr",    "0.01", "--lr-schedule", "linear"};
    args.insert(args.end(), more.begin(), more.end());
    return train(args);
  }
  std::string warnings(const Args &more) const {
    Args args = {"--resume", "a", "--dry-run"};
    args.insert(args.end(), more.begin(), more.end());
    auto run = bigram(args);
    EXPECT_EQ(run.status, 0) << run.err;
    return run.err;
  }
};

TEST_F(RateTest, moreStepsMoveTheLearningRate) {
  const std::string steps =
      "weft: warning: --steps was 10 in the checkpoint, now 20\n";
  EXPECT_EQ(warnings({"--steps", "20"}),
            steps + "weft: warning: the learning rate of step 6 is 0.0075 "
                    "instead of 0.005, since the training has 20 steps "
                    "instead of 10; --lr-decay-steps=10 keeps the course\n");
  EXPECT_EQ(warnings({}), "");
  // The flag that it names does, and says what that means.
  EXPECT_EQ(
      warnings({"--steps", "20", "--lr-decay-steps", "10"}),
      steps + "weft: warning: --lr-decay-steps was not set in the checkpoint, "
              "now 10\nweft: warning: --lr-decay-steps=10 is below --steps=20: "
              "from step 11 on the learning rate is --min-lr=0; "
              "--lr-decay-steps=20 makes the schedule last the run\n");
  // A constant rate has no course to lose, and no step is left of five.
  EXPECT_EQ(warnings({"--steps", "20", "--lr-schedule", "constant"}),
            steps + "weft: warning: --lr-schedule was linear in the "
                    "checkpoint, now constant\n");
  EXPECT_EQ(warnings({"--steps", "5"}),
            "weft: warning: --steps was 10 in the checkpoint, now 5\n");
}

TEST_F(RateTest, whatWasChosenStaysTheCourse) {
  ASSERT_EQ(begin({"--lr-decay-steps", "30"}).status, 0);
  EXPECT_EQ(warnings({"--steps", "20"}),
            "weft: warning: --steps was 10 in the checkpoint, now 20\n");
}

// It holds --lr before it decays: nothing changes at the next step.
TEST_F(RateTest, wsdMovesItsDecayAlone) {
  std::filesystem::remove_all(path("a"));
  ASSERT_EQ(train({"--steps", "10", "--stop-after", "5", "--save-dir", "a",
                   "--lr-schedule", "wsd"})
                .status,
            0);
  EXPECT_EQ(warnings({"--steps", "20"}),
            "weft: warning: --steps was 10 in the checkpoint, now 20\n");
}

TEST_F(RateTest, aKeptScheduleIsCheckedWithTheGivenFlags) {
  ASSERT_EQ(begin({"--warmup", "4", "--min-lr", "0.001"}).status, 0);
  expectError(bigram({"--resume", "a", "--lr", "1e-4"}), 2,
              "--min-lr expects at most --lr=0.0001, but got 0.001\n");
  expectError(bigram({"--resume", "a", "--steps", "4"}), 2,
              "--warmup expects less than --steps=4, but got 4\n");
}

TEST_F(RateTest, aScheduleThatEndsBeforeTheRun) {
  EXPECT_EQ(begin({"--lr-decay-steps", "8", "--min-lr", "1e-4"}).err,
            "weft: warning: --lr-decay-steps=8 is below --steps=10: from step "
            "9 on the learning rate is --min-lr=0.0001; --lr-decay-steps=10 "
            "makes the schedule last the run\n");
}

TEST_F(KeptFlagsTest, aGivenFlagTakesTheMeaningOfAKeptOne) {
  ASSERT_EQ(bigram({"--resume", "a", "--lr-schedule", "cosine", "--min-lr",
                    "0.001", "--stop-after", "1"})
                .status,
            0);
  auto run = bigram({"--resume", "a", "--lr-schedule", "constant",
                     "--stop-after", "1", "--progress", "none"});
  EXPECT_EQ(run.status, 0) << run.err;
  write("val.txt", read("text.txt").substr(0, 500));
  run =
      bigram({"--resume", "a", "--val-data", "val.txt", "--progress", "none"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(flag("a/step_00000010", "val-fraction"), "0");
  EXPECT_EQ(flag("a/step_00000010", "val-data"), "val.txt");
}

TEST_F(KeptFlagsTest, aKeptFileThatIsGoneIsToldAsOne) {
  const std::string text = read("text.txt");
  std::filesystem::remove(path("text.txt"));
  expectError(bigram({"--resume", "a"}), 3,
              "text.txt: cannot open: no such file or directory\nhint: it is "
              "the --data of the run that saved the checkpoint: give --data "
              "the file that takes its place\n");
  EXPECT_EQ(list("a"), Args{"step_00000005"});
  write("moved.txt", text);
  auto run = bigram({"--resume", "a", "--data", "moved.txt"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
}

TEST_F(KeptFlagsTest, saveDirNoneSavesNothing) {
  auto run = bigram({"--resume", "a", "--save-dir", "none"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(list("a"), Args{"step_00000005"});
}

TEST_F(KeptFlagsTest, aSampleTakesNoFlagsOfTheTraining) {
  auto run = bigram({"--resume", "a", "--generate", "th", "--seed", "9",
                     "--max-new-tokens", "3"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out.size(), 6u) << run.out;
  EXPECT_EQ(list("a"), Args{"step_00000005"});
}

TEST_F(KeptFlagsTest, wrongFlagsComeBeforeAMissingCheckpoint) {
  expectError(bigram({"--resume", "nowhere", "--init-from", "x"}), 2,
              "--init-from expects a run that does not resume\n");
  expectError(bigram({"--resume", "nowhere"}), 5, "nowhere: ");
}

TEST_F(KeptFlagsTest, aManifestWithoutARunKeepsNothing) {
  auto manifest = Manifest::read(path("a/step_00000005"));
  ASSERT_TRUE(manifest.ok());
  manifest->run.reset();
  ASSERT_TRUE(manifest->write(path("a/step_00000005")).ok());
  expectError(bigram({"--resume", "a"}), 2, "expects --steps N");
}

TEST_F(KeptFlagsTest, aRecordWithABadValueIsAnError) {
  auto manifest = Manifest::read(path("a/step_00000005"));
  ASSERT_TRUE(manifest.ok());
  for (auto &[name, text] : manifest->run->flags)
    if (name == "lr")
      text = "fast";
  ASSERT_TRUE(manifest->write(path("a/step_00000005")).ok());
  expectError(bigram({"--resume", "a"}), 2,
              "flag '--lr' expects a number from 0 to 1e+30, but got 'fast'");
}

/// A device is told apart by all that bits depend on.
TEST(KeptFlags, anotherDeviceIsNamed) {
  RunRecord was, now;
  was.device = {{"gpu", "NVIDIA H100"},
                {"multiprocessors", "132"},
                {"driver", "for CUDA 13.0"},
                {"cublaslt", "13.1.0"}};
  now = was;
  EXPECT_EQ(changedSettings(was, now), std::vector<std::string>());
  now.device[0].second = "NVIDIA H200";
  now.device[3].second = "13.2.0";
  now.device.push_back({"tuning", "c0ffee"});
  EXPECT_EQ(
      changedSettings(was, now),
      (std::vector<std::string>{
          "the GPU was NVIDIA H100 in the checkpoint, now NVIDIA H200",
          "the version of cuBLASLt was 13.1.0 in the checkpoint, now 13.2.0",
          "the digest of --tuning was not set in the checkpoint, now c0ffee"}));
}

/// cuDNN or own kernels: they have other last bits.
TEST(KeptFlags, otherAttentionIsNamed) {
  RunRecord was, now;
  was.device = {{"attention", "cudnn"}, {"cudnn", "9.19.0"}};
  now.device = {{"attention", "own"}};
  EXPECT_EQ(changedSettings(was, was), std::vector<std::string>());
  EXPECT_EQ(
      changedSettings(was, now),
      (std::vector<std::string>{
          "the code of attention was cudnn in the checkpoint, now own",
          "the version of cuDNN was 9.19.0 in the checkpoint, now not set"}));
}

/// Only a run with gradients that differ from run to run records it.
TEST(KeptFlags, otherDeterminismIsNamed) {
  RunRecord was, now;
  was.device = now.device = {{"attention", "cudnn"}};
  now.device.push_back({"deterministic", "off"});
  EXPECT_EQ(changedSettings(was, now),
            (std::vector<std::string>{
                "the determinism of attention's gradients was on in the "
                "checkpoint, now off"}));
  EXPECT_EQ(changedSettings(now, was),
            (std::vector<std::string>{
                "the determinism of attention's gradients was off in the "
                "checkpoint, now on"}));
  EXPECT_EQ(changedSettings(now, now), std::vector<std::string>());
}

/// Only programs with native reductions record NCCL.
TEST(KeptFlags, ncclIsComparedWhereBothRecordIt) {
  RunRecord was, now;
  was.device = {{"nccl", "2.28.9"}, {"NCCL_P2P_LEVEL", "NVL"}};
  EXPECT_EQ(changedSettings(was, now), std::vector<std::string>());
  EXPECT_EQ(changedSettings(now, was), std::vector<std::string>());
  now.device = {{"nccl", "2.29.0"}};
  EXPECT_EQ(changedSettings(was, now),
            (std::vector<std::string>{
                "the version of NCCL was 2.28.9 in the checkpoint, now 2.29.0",
                "the variable NCCL_P2P_LEVEL was NVL in the checkpoint, now "
                "not set"}));
}

/// Written and read again, and absent where there is none.
TEST(KeptFlags, aRecordKeepsTheDevice) {
  RunRecord record;
  EXPECT_EQ(record.json().find("device"), nullptr);
  record.device = {{"gpu", "NVIDIA H200"}};
  Json json = record.json();
  auto read = RunRecord::read(JsonCursor(json, "MANIFEST.json"));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->device, record.device);
}

/// Every flag has a decision, which the test repeats: kept by a resume or not.
TEST(KeptFlags, everyFlagIsKeptOrNot) {
  const std::set<std::string> notKept = {
      "shuffle",   "stop-after", "seed",    "init-from",    "save-dir",
      "resume",    "eval-only",  "trace",   "dump-grads",   "progress",
      "threads",   "loopback",   "timeout", "no-graph",     "dry-run",
      "tune",      "version",    "help",    "help-all",     "check-replicas",
      "overwrite", "gather",     "config",  "print-config", "generate-ids",
      "stop-ids",  "predictions"};
  std::set<std::string> kept, all;
  for (const KeptFlag &flag : keptFlags())
    kept.insert(flag.name);
  for (const FlagSpec &spec : runFlagSpecs()) {
    all.insert(spec.name);
    EXPECT_NE(kept.count(spec.name), notKept.count(spec.name)) << spec.name;
  }
  for (const std::string &name : kept)
    EXPECT_EQ(all.count(name), 1u) << name;
}

} // namespace
