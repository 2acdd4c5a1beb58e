//===- TemporariesTest.cpp - Temporaries are removed ----------------------===//

#include "weft/Base/Temporaries.h"
#include "TestSupport.h"
#include "weft/Base/OutputFile.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;

namespace {

size_t countIn(const std::string &folder) {
  std::filesystem::directory_iterator it(folder), end;
  return size_t(std::distance(it, end));
}

} // namespace

TEST(Temporaries, AreGoneWithTheirOwner) {
  TempDir dir;
  {
    auto file = Temporary::file(dir.file("a"));
    auto folder = Temporary::folder(dir.file("b"));
    ASSERT_TRUE(file.ok() && folder.ok());
    writeFile(folder->path() + "/x", "x").ok();
    EXPECT_EQ(countIn(dir.path()), 2u);
  }
  EXPECT_EQ(countIn(dir.path()), 0u);
}

TEST(Temporaries, LeftOversGoWithTheNext) {
  TempDir dir;
  dir.write("out.tmp-1-0", "left by a process that is gone");
  std::filesystem::create_directory(dir.file("out.tmp-1-1"));
  dir.write("out.tmp-1-1/x", "x");
  dir.write("out.tmp-1", "of the user");
  dir.write("out2.tmp-1-0", "of another file");
  ASSERT_TRUE(writeFile(dir.file("out"), "text").ok());
  EXPECT_FALSE(std::filesystem::exists(dir.file("out.tmp-1-0")));
  EXPECT_FALSE(std::filesystem::exists(dir.file("out.tmp-1-1")));
  EXPECT_TRUE(std::filesystem::exists(dir.file("out.tmp-1")));
  EXPECT_TRUE(std::filesystem::exists(dir.file("out2.tmp-1-0")));
}

TEST(Temporaries, WorkInProgressStays) {
  TempDir dir;
  std::string busy = dir.write("out.tmp-1-0", "in progress");
  int fd = ::open(busy.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  ASSERT_TRUE(writeFile(dir.file("out"), "text").ok());
  EXPECT_TRUE(std::filesystem::exists(busy));
  ::close(fd);
}

TEST(Temporaries, TwoWritersOfOneFileDoNotMeet) {
  TempDir dir;
  auto first = OutputFile::create(dir.file("out"));
  auto second = OutputFile::create(dir.file("out"));
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(first->write("first").ok() && second->write("second").ok());
  ASSERT_TRUE(second->commit().ok());
  EXPECT_EQ(readBytes(dir.file("out")), "second");
  ASSERT_TRUE(first->commit().ok());
  EXPECT_EQ(readBytes(dir.file("out")), "first");
  EXPECT_EQ(countIn(dir.path()), 1u);
}

/// A process that ends by `number` while it has a file, a folder and a helper.
/// With a pipe, the signal comes while the helper starts; a byte in it says
/// that it was kept.
static int endedBy(int number, const TempDir &dir, int kept = -1) {
  pid_t child = ::fork();
  if (child == 0) {
    removeTemporariesOnSignals();
    auto file = Temporary::file(dir.file("a"));
    auto folder = Temporary::folder(dir.file("b"));
    writeFile(folder->path() + "/x", "x").ok();
    if (kept >= 0)
      startHelper();
    pid_t helper = ::fork();
    if (helper == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::setsid();
      for (;;)
        ::pause();
    }
    while (::getpgid(helper) != helper)
      ::usleep(1000);
    if (kept >= 0 && ::raise(number) == 0)
      (void)!::write(kept, "k", 1);
    setHelperGroup(helper);
    ::raise(number);
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Temporaries, SignalsLeaveNothing) {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    TempDir dir;
    // The parent process may ignore the signal, and a child inherits that.
    auto before = ::signal(number, SIG_DFL);
    EXPECT_EQ(endedBy(number, dir), 128 + number);
    ::signal(number, before);
    EXPECT_EQ(countIn(dir.path()), 0u);
  }
}

/// For 50 ms, or until the folder is gone, a file that is not there is made: in
/// place of a helper's helper, for which nobody can wait.
[[noreturn]] static void makeLateFiles(const std::string &folder) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  while (std::chrono::steady_clock::now() < end) {
    int fd = ::open((folder + "/late").c_str(), O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
      break;
    ::close(fd);
  }
  ::_exit(0);
}

TEST(Temporaries, FilesThatComeLateGoToo) {
  TempDir dir;
  for (int tries = 0; tries < 10; ++tries) {
    pid_t child = ::fork();
    if (child == 0) {
      auto folder = Temporary::folder(dir.file("b"));
      pid_t late = ::fork();
      if (late == 0)
        makeLateFiles(folder->path());
      while (!std::filesystem::exists(folder->path() + "/late"))
        ::usleep(100);
      removeTemporaries();
      ::waitpid(late, nullptr, 0);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(countIn(dir.path()), 0u);
  }
}

TEST(Temporaries, SignalsWaitForAHelperThatStarts) {
  TempDir dir;
  int kept[2];
  ASSERT_EQ(::pipe(kept), 0);
  auto before = ::signal(SIGTERM, SIG_DFL);
  EXPECT_EQ(endedBy(SIGTERM, dir, kept[1]), 128 + SIGTERM);
  ::signal(SIGTERM, before);
  ::close(kept[1]);
  char byte = 0;
  EXPECT_EQ(::read(kept[0], &byte, 1), 1);
  ::close(kept[0]);
  EXPECT_EQ(countIn(dir.path()), 0u);
}

TEST(Temporaries, IgnoredSignalsStayIgnored) {
  TempDir dir;
  auto before = ::signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(endedBy(SIGHUP, dir), 99);
  ::signal(SIGHUP, before);
}

TEST(OutputFile, IsExecutableBeforeItIsThere) {
  TempDir dir;
  ASSERT_TRUE(
      writeFile(dir.file("program"), "#!/bin/sh", FileMode::Executable).ok());
  EXPECT_EQ(::access(dir.file("program").c_str(), X_OK), 0);
}

TEST(Temporaries, OnlyAnAbsentOrOtherFileIsGone) {
  TempDir dir;
  std::string path = dir.write("lock", "x");
  int fd = ::open(path.c_str(), O_RDONLY);
  EXPECT_FALSE(isGone(fd, path));
  // A file that stat cannot reach may exist: retrying would never end.
  EXPECT_FALSE(isGone(fd, path + "/below"));
  EXPECT_FALSE(isGone(fd, dir.file(std::string(300, 'x'))));
  dir.write("other", "y");
  EXPECT_TRUE(isGone(fd, dir.file("other")));
  std::filesystem::remove(path);
  EXPECT_TRUE(isGone(fd, path));
  ::close(fd);
}
