//===- SaveLocksTest.cpp - Locks of writers and readers of checkpoints ----===//

#include "weft/Formats/SaveLocks.h"
#include "weft/Base/Descriptor.h"

#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"

#include "../Base/TestSupport.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace weft;

/// A process that takes the lock and waits; returns when it has it.
static pid_t holdInChild(const std::string &path) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  pid_t child = ::fork();
  if (child == 0) {
    auto lock = SaveLock::take(path);
    char byte = lock && lock->holds() ? 'y' : 'n';
    if (::write(pipe[1], &byte, 1) == 1)
      ::pause();
    ::_exit(1);
  }
  char byte = '?';
  EXPECT_EQ(::read(pipe[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  ::close(pipe[0]);
  ::close(pipe[1]);
  return child;
}

static void killAndWait(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(SaveLock, LeavesNothing) {
  TempDir dir;
  {
    auto lock = SaveLock::take(dir.file("made"));
    ASSERT_EQ(errorOf(lock), "ok");
    EXPECT_TRUE(lock->holds());
    EXPECT_TRUE(std::filesystem::exists(dir.file("made/.lock")));
  }
  EXPECT_FALSE(std::filesystem::exists(dir.file("made")));
  // A folder that existed before stays, and so does one that is not empty.
  {
    ASSERT_TRUE(SaveLock::take(dir.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  {
    auto lock = SaveLock::take(dir.file("made"));
    ASSERT_TRUE(lock);
    dir.write("made/x", "x");
  }
  EXPECT_EQ(readBytes(dir.file("made/x")), "x");
}

TEST(SaveLock, KeepsOthersOutAndSaysWhoHoldsIt) {
  TempDir dir;
  pid_t child = holdInChild(dir.path());
  char host[256] = "";
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(errorOf(SaveLock::take(dir.path())),
            "5|" + dir.path() +
                ": expects a save directory that no other run uses, but "
                "process " +
                std::to_string(child) + " on " + host +
                " does|wait for its end, or choose another --save-dir");
  // A stopped process holds it still, a killed one does not.
  ::kill(child, SIGSTOP);
  EXPECT_FALSE(SaveLock::take(dir.path()));
  killAndWait(child);
  EXPECT_TRUE(std::filesystem::exists(dir.file(".lock")));
  EXPECT_EQ(errorOf(SaveLock::take(dir.path())), "ok");
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(SaveLock, TextsOfOthersArePrintedSafely) {
  TempDir dir;
  pid_t child = holdInChild(dir.path());
  dir.write(".lock", "\x1b[2J" + std::string(1000, 'x'));
  std::string error = errorOf(SaveLock::take(dir.path()));
  EXPECT_NE(error.find("but ?[2Jxxx"), error.npos) << error;
  EXPECT_LT(error.size(), dir.path().size() + 500);
  dir.write(".lock", "");
  error = errorOf(SaveLock::take(dir.path()));
  EXPECT_NE(error.find("but another process does"), error.npos) << error;
  killAndWait(child);
}

TEST(SaveLock, PlacesThatCannotBeLocked) {
  TempDir dir;
  std::string file = dir.write("file", "x");
  EXPECT_EQ(errorOf(SaveLock::take(file)),
            "8|" + file + ": cannot create the directory: file exists");
  std::filesystem::create_directory(dir.file(".lock"));
  EXPECT_EQ(errorOf(SaveLock::take(dir.path())),
            "8|" + dir.file(".lock") +
                ": cannot open the lock: is a directory");
  std::filesystem::remove(dir.file(".lock"));
  std::filesystem::create_symlink(file, dir.file(".lock"));
  EXPECT_EQ(errorOf(SaveLock::take(dir.path())).substr(0, 2), "8|");
  EXPECT_EQ(readBytes(file), "x");
}

/// Processes that take the lock, check that they are alone, and let it go.
[[noreturn]] static void contend(const std::string &path) {
  for (int i = 0; i < 300; ++i) {
    auto lock = SaveLock::take(path + "/saves");
    if (!lock) {
      if (lock.error().code() != ExitCode::Checkpoint)
        ::_exit(2);
      continue;
    }
    if (::mkdir((path + "/alone").c_str(), 0777) != 0 ||
        ::rmdir((path + "/alone").c_str()) != 0)
      ::_exit(3);
  }
  ::_exit(0);
}

TEST(SaveLock, OneAtATimeThoughTheFileComesAndGoes) {
  TempDir dir;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() == 0)
      contend(dir.path());
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_FALSE(std::filesystem::exists(dir.file("saves/.lock")));
}

//===----------------------------------------------------------------------===//
// StepGuard
//===----------------------------------------------------------------------===//

static void save(const TempDir &dir, int64_t step) {
  auto writer = StepWriter::begin(dir.path(), step);
  ASSERT_TRUE(writer);
  Manifest manifest;
  manifest.step = step;
  ASSERT_EQ(errorOf(writer->commit(manifest)), "ok");
}

TEST(FileLock, KeepsOthersOutForItsLife) {
  TempDir dir;
  std::string path = dir.file("m");
  dir.write("m", "x");
  {
    auto lock = FileLock::take(path);
    ASSERT_EQ(errorOf(lock), "ok");
    EXPECT_TRUE(lock->holds());
    EXPECT_EQ(errorOf(FileLock::take(path)),
              "8|" + path +
                  ": expects a file that no other run writes, but another "
                  "process has locked it");
    // The name of a new file: the lock went with the old one.
    std::filesystem::rename(path, dir.file("old"));
    dir.write("m", "y");
    EXPECT_TRUE(FileLock::take(path)->holds());
  }
  EXPECT_TRUE(FileLock::take(dir.file("old"))->holds());
}

TEST(FileLock, HoldsNothingWhereThereIsNoFile) {
  TempDir dir;
  for (const std::string &path :
       {dir.file("no"), dir.path(), std::string("/dev/null")}) {
    auto lock = FileLock::take(path);
    ASSERT_EQ(errorOf(lock), "ok") << path;
    EXPECT_FALSE(lock->holds()) << path;
  }
}

TEST(StepGuard, AStepThatIsReadIsRetiredLater) {
  TempDir dir;
  for (int64_t step : {1, 2, 3})
    save(dir, step);
  StepGuard reader = StepGuard::ofReader(dir.file("step_00000001"));
  EXPECT_TRUE(reader.isThere());
  EXPECT_TRUE(StepGuard::ofReader(dir.file("step_00000001")).isThere());
  EXPECT_FALSE(StepGuard::ofWriter(dir.file("step_00000001")).isAlone());
  ASSERT_EQ(errorOf(retireSteps(dir.path(), 1)), "ok");
  EXPECT_TRUE(std::filesystem::exists(dir.file("step_00000001")));
  EXPECT_FALSE(std::filesystem::exists(dir.file("step_00000002")));
  reader.release();
  ASSERT_EQ(errorOf(retireSteps(dir.path(), 1)), "ok");
  EXPECT_FALSE(std::filesystem::exists(dir.file("step_00000001")));
}

TEST(StepGuard, WhatCannotBeOpenedMayBeRead) {
  TempDir dir;
  for (int64_t step : {1, 2})
    save(dir, step);
  rlimit before, none;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  StepGuard writer = StepGuard::ofWriter(dir.file("step_00000001"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(writer.isThere());
  EXPECT_FALSE(writer.isAlone());
}

TEST(StepGuard, WhatIsBeingRetiredIsGone) {
  TempDir dir;
  save(dir, 1);
  save(dir, 2);
  std::string newest = dir.file("step_00000002");
  StepGuard writer = StepGuard::ofWriter(newest);
  EXPECT_TRUE(writer.isAlone());
  EXPECT_FALSE(StepGuard::ofReader(newest).isThere());
  EXPECT_EQ(holdStep(dir.path())->path, dir.file("step_00000001"));
  std::string locked =
      "8|" + dir.path() +
      ": cannot lock a checkpoint: another process has locked its directory";
  // An older step is no answer while the newest may come back.
  EXPECT_EQ(errorOf(listSteps(dir.path())), locked);
  StepGuard other = StepGuard::ofWriter(dir.file("step_00000001"));
  EXPECT_EQ(errorOf(holdStep(dir.path())), locked);
  writer.release();
  EXPECT_EQ(holdStep(dir.path())->path, newest);
  EXPECT_FALSE(StepGuard::ofReader(dir.file("no")).isThere());
  // An entry that is no directory gives its own error when it is read.
  dir.write("step_00000003", "x");
  std::filesystem::create_symlink("no", dir.file("step_00000004"));
  EXPECT_TRUE(StepGuard::ofReader(dir.file("step_00000003")).isThere());
  EXPECT_TRUE(StepGuard::ofReader(dir.file("step_00000004")).isThere());
}
