//===- SaveDirTest.cpp - Directories that a run may save to ---------------===//

#include "ToyTool.h"

using namespace weft;

namespace {

class SaveDirTest : public ToyTest {
protected:
  /// Steps 1 to 5, each saved.
  void save(const std::string &name) const {
    ASSERT_EQ(train({"--steps", "9", "--stop-after", "5", "--save-every", "1",
                     "--save-dir", name})
                  .status,
              0);
  }
  Args steps(const std::string &name) const {
    Args names;
    for (const std::string &entry : list(name))
      if (entry.compare(0, 5, "step_") == 0)
        names.push_back(entry);
    return names;
  }
  Args endless() const {
    return {"--data",     "text.txt", "--steps", "1000000",    "--save-every",
            "1",          "--keep",   "3",       "--save-dir", "a",
            "--progress", "none",     "--accum", "50"};
  }
  bool isSaving() const {
    for (const std::string &entry : list("a"))
      if (entry.compare(0, 5, ".tmp-") == 0)
        return true;
    return false;
  }
  /// A run that has saved into "a", and is stopped between two saves.
  pid_t startStopped() const {
    pid_t child = start(TOY_BIGRAM, endless());
    while (isRunning(child)) {
      usleep(1000);
      if (!exists("a") || steps("a").empty())
        continue;
      int status;
      kill(child, SIGSTOP);
      waitpid(child, &status, WUNTRACED);
      if (!isSaving())
        return child;
      kill(child, SIGCONT);
    }
    ADD_FAILURE() << read("stderr");
    return child;
  }
};

TEST_F(SaveDirTest, whatAnotherRunSavedIsNeitherMixedNorRetired) {
  save("a");
  save("b");
  auto run = bigram({"--resume", "a/step_00000003", "--save-dir", "b", "--keep",
                     "1", "--progress", "none"});
  expectError(run, 5,
              "b: expects an empty save directory, but it has 5 checkpoints, "
              "the newest of step 5\n");
  EXPECT_EQ(steps("b").size(), 5u);
  run = bigram({"--resume", "a", "--save-dir", "c", "--progress", "none"});
  EXPECT_EQ(run.status, 0) << run.err;
  // Its own directory, however it is written.
  std::filesystem::create_directory_symlink("a", path("link"));
  run = bigram({"--resume", "link/step_00000005", "--save-dir", "./a/",
                "--progress", "none"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(steps("a").back(), "step_00000009");
}

TEST_F(SaveDirTest, aResumedRunSavesWhereItsStepReallyLies) {
  save("a");
  std::filesystem::create_directory(path("elsewhere"));
  std::filesystem::create_directory_symlink("../a/step_00000005",
                                            path("elsewhere/latest"));
  int last = 5;
  for (const char *spelling : {"a/step_%08d", "a/step_%08d/", "a/step_%08d/.",
                               "elsewhere/../a/step_%08d"}) {
    char resume[100];
    snprintf(resume, sizeof resume, spelling, last);
    auto run =
        bigram({"--resume", resume, "--stop-after", "1", "--progress", "none"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(steps("a").size(), size_t(++last)) << spelling;
  }
  std::filesystem::rename(path("a"), path("b"));
  std::filesystem::create_directory_symlink("../b/step_00000009",
                                            path("elsewhere/newest"));
  auto run = bigram(
      {"--resume", "elsewhere/newest", "--steps", "11", "--progress", "none"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(steps("b").back(), "step_00000011");
  EXPECT_EQ(list("elsewhere"), (Args{"latest", "newest"}));
}

TEST_F(SaveDirTest, aCheckpointIsNoSaveDirectory) {
  save("a");
  const Args before = list("a/step_00000005");
  expectError(train({"--steps", "9", "--save-dir", "a/step_00000005"}), 5,
              "a/step_00000005: expects a save directory, but got a "
              "checkpoint\n");
  EXPECT_EQ(list("a/step_00000005"), before);
}

TEST_F(SaveDirTest, aMovedDirectoryIsMadeAgain) {
  pid_t child = startStopped();
  std::filesystem::rename(path("a"), path("old"));
  const Args before = steps("old");
  kill(child, SIGCONT);
  while (isRunning(child) && (!exists("a") || steps("a").empty()))
    usleep(1000);
  kill(child, SIGTERM);
  auto run = finish(child);
  EXPECT_EQ(run.status, 75) << run.err;
  EXPECT_EQ(run.err, "weft: warning: a: the directory was moved or removed; "
                     "saves go into a new one\n");
  EXPECT_EQ(steps("old"), before);
  EXPECT_FALSE(exists("a/.lock"));
}

TEST_F(SaveDirTest, aDirectoryThatAnotherRunMadeMeanwhileIsLeftToIt) {
  pid_t child = startStopped();
  std::filesystem::rename(path("a"), path("old"));
  // Its output goes to the same files: only the error below is looked at.
  pid_t other = startStopped();
  const Args before = steps("a");
  kill(child, SIGCONT);
  EXPECT_EQ(wait(child), 5);
  EXPECT_NE(read("stderr").find("expects a save directory that no other run "
                                "uses"),
            std::string::npos)
      << read("stderr");
  EXPECT_EQ(steps("a"), before);
  EXPECT_TRUE(exists("a/.lock"));
  EXPECT_FALSE(exists("old/.lock"));
  kill(other, SIGCONT);
  kill(other, SIGTERM);
  EXPECT_EQ(wait(other), 75);
}

TEST_F(SaveDirTest, aLockFileThatIsRemovedIsMadeAgain) {
  pid_t child = startStopped();
  const size_t before = std::stoul(steps("a").back().substr(5));
  std::filesystem::remove(path("a/.lock"));
  kill(child, SIGCONT);
  while (isRunning(child) &&
         std::stoul(steps("a").back().substr(5)) < before + 2)
    usleep(1000);
  EXPECT_TRUE(exists("a/.lock"));
  kill(child, SIGTERM);
  auto run = finish(child);
  EXPECT_EQ(run.status, 75) << run.err;
  EXPECT_EQ(run.err, "");
}

//===----------------------------------------------------------------------===//
// Other outputs
//===----------------------------------------------------------------------===//

TEST_F(SaveDirTest, namedPipesGetEveryByte) {
  for (const char *flag : {"--metrics", "--trace", "--dump-grads"}) {
    int whole = 0;
    for (int i = 0; i < 5; ++i) {
      std::filesystem::remove(path("pipe"));
      ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
      pid_t reader = fork();
      if (reader == 0) {
        if (chdir(folder.c_str()) != 0)
          _exit(1);
        execl("/bin/sh", "sh", "-c", "exec cat pipe > got", nullptr);
        _exit(1);
      }
      usleep(100000);
      auto run = train({"--steps", "3", flag, "pipe"});
      // The reader may not have opened it yet; that is an error, not a wait.
      if (run.status == 8) {
        EXPECT_NE(run.err.find("expects a named pipe with a reader"),
                  std::string::npos)
            << run.err;
        kill(reader, SIGKILL);
        wait(reader);
        continue;
      }
      EXPECT_EQ(run.status, 0) << flag << run.err;
      EXPECT_EQ(wait(reader), 0);
      const std::string got = read("got");
      EXPECT_EQ(train({"--steps", "3", flag, "file"}).status, 0);
      if (std::string(flag) == "--metrics")
        EXPECT_EQ(std::count(got.begin(), got.end(), '\n'), 4) << got;
      else
        EXPECT_GT(got.size(), read("file").size() / 2) << flag;
      std::filesystem::remove(path("file"));
      ++whole;
    }
    EXPECT_GE(whole, 3) << flag;
  }
}

TEST_F(SaveDirTest, aSignalRemovesTemporaries) {
  int caught = 0;
  for (int i = 0; i < 40 && caught == 0; ++i) {
    pid_t child =
        start(TOY_BIGRAM, {"--data", "text.txt", "--steps", "1", "--accum",
                           "4000", "--trace", "t.json", "--progress", "none"});
    auto isBeingWritten = [&] {
      for (const std::string &name : list("."))
        if (name.compare(0, 11, "t.json.tmp-") == 0)
          return true;
      return false;
    };
    // The first one is the trial whether it can be written at all.
    while (isRunning(child) && !isBeingWritten())
      usleep(50);
    while (isRunning(child) && isBeingWritten())
      usleep(50);
    while (isRunning(child) && !isBeingWritten())
      usleep(50);
    kill(child, SIGTERM);
    caught += wait(child) == 143 && !exists("t.json");
    EXPECT_FALSE(isBeingWritten());
    std::filesystem::remove(path("t.json"));
  }
  EXPECT_GT(caught, 0);
}

} // namespace
