//===- DurableTest.cpp - The commit protocol ------------------------------===//

#include "weft/Formats/StepDirectories.h"
#include "weft/Base/Durable.h"
#include "weft/Formats/Manifest.h"

#include "../Base/TestSupport.h"

#include <csignal>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace weft;

static Manifest manifestOf(int64_t step, int64_t seed = 0) {
  Manifest manifest;
  manifest.step = step;
  manifest.seed = seed;
  return manifest;
}

/// The newest usable step, or -1.
static int64_t newestGood(const std::string &saves) {
  auto steps = listSteps(saves);
  EXPECT_EQ(errorOf(steps), "ok");
  int64_t newest = -1;
  for (const StepEntry &entry : *steps)
    if (!entry.problem)
      newest = entry.step;
  return newest;
}

class DurableTest : public ::testing::Test {
protected:
  void save(int64_t step, int64_t seed = 0) {
    auto writer = StepWriter::begin(dir.path(), step);
    ASSERT_EQ(errorOf(writer), "ok");
    auto path = writer->commit(manifestOf(step, seed));
    ASSERT_EQ(errorOf(path), "ok");
    EXPECT_EQ(*path, dir.file(stepDirectoryName(step)));
  }
  std::set<std::string> names() {
    std::set<std::string> result;
    for (const auto &entry : std::filesystem::directory_iterator(dir.path()))
      result.insert(entry.path().filename().string());
    return result;
  }
  int64_t newest() { return newestGood(dir.path()); }
  TempDir dir;
};

TEST(StepName, BothWays) {
  EXPECT_EQ(stepDirectoryName(10), "step_00000010");
  EXPECT_EQ(parseStepDirectoryName("step_00000010"), 10);
  EXPECT_EQ(parseStepDirectoryName(stepDirectoryName(1234567890)), 1234567890);
  for (const char *name :
       {"step_10", "step_0000001x", "step_000000010", "xstep_00000010",
        "step_00000010~", "step_99999999999999999999999", "", "step_-0000010"})
    EXPECT_FALSE(parseStepDirectoryName(name)) << name;
}

TEST_F(DurableTest, AStepAppearsAtCommit) {
  auto writer = StepWriter::begin(dir.file("deep/er"), 3);
  ASSERT_EQ(errorOf(writer), "ok");
  EXPECT_EQ(listSteps(dir.file("deep/er"))->size(), 0u);
  ASSERT_EQ(errorOf(writer->commit(manifestOf(3))), "ok");
  auto steps = listSteps(dir.file("deep/er"));
  ASSERT_EQ(steps->size(), 1u);
  EXPECT_FALSE((*steps)[0].problem);
}

TEST_F(DurableTest, AWriterThatIsDroppedLeavesNothing) {
  {
    ASSERT_TRUE(StepWriter::begin(dir.path(), 3));
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(DurableTest, CommitNeedsTheManifestOfThisStep) {
  auto writer = StepWriter::begin(dir.path(), 3);
  ASSERT_TRUE(writer);
  EXPECT_EQ(errorOf(writer->commit(manifestOf(4))),
            "70|" + writer->directory() +
                ": expects the manifest of step 3, but got step 4");
}

TEST_F(DurableTest, NewestUsableStepIsFound) {
  EXPECT_EQ(newest(), -1);
  save(10);
  save(20);
  EXPECT_EQ(newest(), 20);
  // A directory without manifest, one with a broken one, one of another step.
  std::filesystem::create_directory(dir.file("step_00000030"));
  std::filesystem::create_directory(dir.file("step_00000040"));
  dir.write("step_00000040/MANIFEST.json", "{");
  std::filesystem::create_directory(dir.file("step_00000050"));
  ASSERT_EQ(errorOf(manifestOf(51).write(dir.file("step_00000050"))), "ok");
  EXPECT_EQ(newest(), 20);
  auto steps = listSteps(dir.path());
  ASSERT_EQ(steps->size(), 5u);
  EXPECT_EQ((*steps)[0].step, 10);
  EXPECT_FALSE((*steps)[1].problem);
  EXPECT_EQ((*steps)[2].problem->where(),
            dir.file("step_00000030/MANIFEST.json") +
                ": cannot open: no such file or directory");
  EXPECT_EQ((*steps)[3].problem->where(),
            dir.file("step_00000040/MANIFEST.json") +
                ": expects a manifest that starts with its digest");
  EXPECT_EQ((*steps)[4].problem->where(),
            dir.file("step_00000050/MANIFEST.json") +
                ": expects step 50, but got 51");
}

TEST_F(DurableTest, ASavedStepIsNeverReplaced) {
  const std::string error = "5|" + dir.file("step_00000010") +
                            ": step 10 is already saved|save into "
                            "another directory, or resume from its newest step";
  save(10, /*seed=*/1);
  EXPECT_EQ(errorOf(StepWriter::begin(dir.path(), 10)), error);
  // Two writers without a lock between them: the slower one does not win.
  {
    auto slow = StepWriter::begin(dir.path(), 20);
    ASSERT_TRUE(slow);
    save(20, /*seed=*/1);
    EXPECT_EQ(errorOf(slow->commit(manifestOf(20, /*seed=*/2))),
              "5|" + dir.file("step_00000020") +
                  error.substr(error.find(':')).replace(7, 2, "20"));
  }
  EXPECT_EQ(Manifest::read(dir.file("step_00000020"))->seed, 1);
  EXPECT_EQ(names(), (std::set<std::string>{"step_00000010", "step_00000020"}));
}

TEST_F(DurableTest, NorIsWhatElseHasTheName) {
  std::filesystem::create_directory(dir.file("step_00000010"));
  dir.write("step_00000011", "x");
  std::filesystem::create_symlink("nowhere", dir.file("step_00000012"));
  for (int64_t step : {10, 11, 12})
    EXPECT_EQ(errorOf(StepWriter::begin(dir.path(), step)).substr(0, 2), "5|");
  // Created while the writer is at work; a rename would replace an empty one.
  auto writer = StepWriter::begin(dir.path(), 13);
  ASSERT_TRUE(writer);
  std::filesystem::create_directory(dir.file("step_00000013"));
  EXPECT_EQ(errorOf(writer->commit(manifestOf(13))).substr(0, 2), "5|");
  EXPECT_TRUE(std::filesystem::is_empty(dir.file("step_00000013")));
  auto steps = listSteps(dir.path());
  ASSERT_EQ(errorOf(steps), "ok");
  ASSERT_EQ(steps->size(), 4u);
  for (const StepEntry &entry : *steps)
    EXPECT_TRUE(entry.problem->isDamage()) << entry.path;
}

TEST_F(DurableTest, DamagedStepsAreSetAsideUnderNewNames) {
  dir.write("step_00000010.damaged.2", "x");
  const char *names[] = {".damaged", ".damaged.3", ".damaged.4"};
  for (int64_t i : {0, 1, 2}) {
    save(10, i);
    StepEntry entry = {10, dir.file("step_00000010"), std::nullopt};
    auto aside = setAside(entry);
    ASSERT_EQ(errorOf(aside), "ok");
    EXPECT_EQ(*aside, entry.path + names[i]);
  }
  for (int64_t i : {0, 1, 2})
    EXPECT_EQ(Manifest::read(dir.file("step_00000010") + names[i])->seed, i);
  EXPECT_EQ(readBytes(dir.file("step_00000010.damaged.2")), "x");
  StepEntry missing = {11, dir.file("step_00000011"), std::nullopt};
  EXPECT_EQ(errorOf(setAside(missing)),
            "8|" + missing.path +
                ": cannot move a damaged checkpoint aside: no such file or "
                "directory");
}

TEST_F(DurableTest, ADirectoryBearsTheStepOfItsManifest) {
  save(10);
  std::filesystem::rename(dir.file("step_00000010"), dir.file("step_00000020"));
  const std::string what = ": expects step 20, but got 10|the directory was "
                           "renamed: its name belongs to another step";
  for (const std::string &path :
       {dir.file("step_00000020"), dir.file("step_00000020/"),
        dir.file("step_00000020/."), dir.file("link")}) {
    if (path == dir.file("link"))
      std::filesystem::create_symlink("step_00000020", path);
    EXPECT_EQ(errorOf(Manifest::read(path)),
              "5|" + path + "/MANIFEST.json" + what);
  }
  std::filesystem::rename(dir.file("step_00000020"), dir.file("best"));
  EXPECT_EQ(errorOf(Manifest::read(dir.file("best"))), "ok");
}

TEST_F(DurableTest, WhatCannotBeReadIsNotDamaged) {
  save(10);
  rlimit before, none;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  auto manifest = Manifest::read(dir.file("step_00000010"));
  auto steps = listSteps(dir.path());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(errorOf(manifest), "8|" + dir.file("step_00000010/MANIFEST.json") +
                                   ": cannot open: too many open files");
  EXPECT_EQ(errorOf(steps),
            "8|" + dir.path() + ": cannot list: too many open files");
}

TEST_F(DurableTest, RetireKeepsTheNewestUsable) {
  for (int64_t step : {1, 2, 3, 4})
    save(step);
  std::filesystem::create_directory(dir.file("step_00000009"));
  ASSERT_EQ(errorOf(retireSteps(dir.path(), 0)), "ok");
  EXPECT_EQ(names().size(), 5u);
  ASSERT_EQ(errorOf(retireSteps(dir.path(), 2)), "ok");
  EXPECT_EQ(names(), (std::set<std::string>{"step_00000003", "step_00000004",
                                            "step_00000009"}));
}

// A step that was saved for its loss alone goes when another one is better.
TEST_F(DurableTest, RetireKeepsOneBest) {
  const std::vector<std::pair<std::optional<double>, bool>> losses = {
      {5.0, true},
      {4.0, false},
      {3.0, true},
      {3.5, true},
      {std::nullopt, false}};
  auto saveAll = [&] {
    for (size_t i = 0; i < losses.size(); ++i) {
      auto writer = StepWriter::begin(dir.path(), int64_t(i + 1));
      ASSERT_EQ(errorOf(writer), "ok");
      Manifest manifest = manifestOf(int64_t(i + 1));
      manifest.valLoss = losses[i].first;
      manifest.onlyBest = losses[i].second;
      ASSERT_EQ(errorOf(writer->commit(manifest)), "ok");
    }
  };
  saveAll();
  ASSERT_EQ(errorOf(retireSteps(dir.path(), 0)), "ok");
  EXPECT_EQ(names().size(), 5u);
  ASSERT_EQ(errorOf(retireSteps(dir.path(), 0, /*keepBest=*/true)), "ok");
  EXPECT_EQ(names(), (std::set<std::string>{"step_00000002", "step_00000003",
                                            "step_00000005"}));
  ASSERT_EQ(errorOf(retireSteps(dir.path(), 1, /*keepBest=*/true)), "ok");
  EXPECT_EQ(names(), (std::set<std::string>{"step_00000003", "step_00000005"}));
}

// A run resumes from the newest step.
TEST_F(DurableTest, RetireKeepsTheNewestOfSeveralBest) {
  for (int64_t step : {1, 2}) {
    auto writer = StepWriter::begin(dir.path(), step);
    ASSERT_EQ(errorOf(writer), "ok");
    Manifest manifest = manifestOf(step);
    manifest.valLoss = 1.0; // of other data: the earlier one counts as best
    manifest.onlyBest = true;
    ASSERT_EQ(errorOf(writer->commit(manifest)), "ok");
  }
  ASSERT_EQ(errorOf(retireSteps(dir.path(), 0, /*keepBest=*/true)), "ok");
  EXPECT_EQ(names(), (std::set<std::string>{"step_00000001", "step_00000002"}));
}

TEST_F(DurableTest, LeftOversAreCleaned) {
  save(1);
  std::filesystem::create_directories(dir.file(".tmp-step_00000002-1-0/sub"));
  dir.write(".tmp-step_00000002-1-0/x", "x");
  std::filesystem::create_directory(dir.file(".tmp-retired-step_00000001-1"));
  std::filesystem::create_directory(dir.file("mine"));
  dir.write(".tmp-notes", "x");
  ASSERT_EQ(errorOf(cleanTemporaries(dir.path())), "ok");
  EXPECT_EQ(names(),
            (std::set<std::string>{"step_00000001", "mine", ".tmp-notes"}));
  EXPECT_EQ(errorOf(cleanTemporaries(dir.file("no"))), "ok");
}

TEST_F(DurableTest, ALeftOverWithOurNumberIsNoObstacle) {
  // Containers give the same process number again and again.
  for (int i = 0; i < 50; ++i)
    std::filesystem::create_directory(dir.file(".tmp-step_00000005-" +
                                               std::to_string(::getpid()) +
                                               "-" + std::to_string(i)));
  save(5);
  EXPECT_EQ(newest(), 5);
}

TEST_F(DurableTest, PlacesThatCannotBeWritten) {
  std::string file = dir.write("file", "x");
  EXPECT_EQ(errorOf(StepWriter::begin(file, 1)),
            "8|" + file + ": cannot create the directory: file exists");
  EXPECT_EQ(errorOf(makeDirectories(file + "/x")),
            "8|" + file + ": cannot create the directory: file exists");
  EXPECT_EQ(errorOf(syncPath(dir.file("no"))),
            "8|" + dir.file("no") +
                ": cannot flush to disk: no such file or directory");
  EXPECT_EQ(errorOf(listSteps(file)),
            "5|" + file + ": expects a folder of checkpoints, but got a file");
}

/// Saves steps for ever; tells each committed one through the pipe.
[[noreturn]] static void saveForEver(const std::string &path, int out) {
  for (int64_t step = 1;; ++step) {
    auto writer = StepWriter::begin(path, step);
    if (!writer || !writer->commit(manifestOf(step)))
      ::_exit(1);
    if (::write(out, &step, sizeof step) != sizeof step)
      ::_exit(1);
    if (!retireSteps(path, 2))
      ::_exit(1);
  }
}

TEST_F(DurableTest, KillAtAnyTimeLosesNothingThatWasCommitted) {
  for (int round = 0; round < 20; ++round) {
    TempDir saves;
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    pid_t child = ::fork();
    if (child == 0)
      saveForEver(saves.path(), pipe[1]);
    ::close(pipe[1]);
    ::usleep(static_cast<useconds_t>(3000 + 1777 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    int64_t step = 0, told = 0;
    while (::read(pipe[0], &step, sizeof step) == sizeof step)
      told = step;
    ::close(pipe[0]);
    ASSERT_EQ(errorOf(cleanTemporaries(saves.path())), "ok");
    // At most one more than was told: killed between commit and telling.
    int64_t found = std::max<int64_t>(newestGood(saves.path()), 0);
    EXPECT_GE(found, told);
    EXPECT_LE(found, told + 1);
    for (const auto &entry : std::filesystem::directory_iterator(saves.path()))
      EXPECT_TRUE(parseStepDirectoryName(entry.path().filename().string()));
    auto steps = listSteps(saves.path());
    for (const StepEntry &entry : *steps)
      EXPECT_FALSE(entry.problem);
  }
}
