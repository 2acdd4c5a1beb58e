//===- OutputFileTest.cpp - Files that appear whole or not at all ---------===//

#include "weft/Base/OutputFile.h"

#include "TestSupport.h"

#include "weft/Base/Durable.h"

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

/// Lets files grow to `bytes` only: stands for a full disk.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old);
    handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = old;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
  }

private:
  rlimit old;
  void (*handler)(int);
};

TEST(OutputFile, CommitReplacesTheOldFile) {
  TempDir dir;
  std::string path = dir.write("a", "old");
  auto out = OutputFile::create(path);
  ASSERT_TRUE(out);
  std::string big(3 << 20, 'b');
  EXPECT_EQ(errorOf(out->write("new ")), "ok");
  EXPECT_EQ(errorOf(out->write(big)), "ok");
  EXPECT_EQ(errorOf(out->write("end")), "ok");
  EXPECT_EQ(readBytes(path), "old");
  EXPECT_EQ(errorOf(out->commit()), "ok");
  EXPECT_EQ(readBytes(path), "new " + big + "end");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}),
            1);
}

TEST(OutputFile, CommitReplacesNothingWhereThatIsAsked) {
  TempDir dir;
  std::string path = dir.file("out");
  auto file = OutputFile::create(path);
  ASSERT_EQ(errorOf(file), "ok");
  ASSERT_EQ(errorOf(file->write("mine")), "ok");
  dir.write("out", "another's");
  EXPECT_EQ(
      errorOf(file->commit(IfTaken::Fail)),
      "8|" + path +
          ": expects a new file, but another program has made it meanwhile");
  EXPECT_EQ(readBytes(path), "another's");
  EXPECT_EQ(
      errorOf(writeFile(path, "x", FileMode::Data, IfTaken::Fail)),
      "8|" + path +
          ": expects a new file, but another program has made it meanwhile");
  EXPECT_EQ(
      errorOf(writeFile(dir.file("new"), "x", FileMode::Data, IfTaken::Fail)),
      "ok");
}

TEST(OutputFile, FullDiskIsAStorageErrorAndLeavesTheOldFile) {
  TempDir dir;
  std::string path = dir.write("a", "old");
  std::string expected = "8|" + path + ": cannot write: file too large";
  {
    FileSizeLimit limit(4096);
    EXPECT_EQ(errorOf(writeFile(path, std::string(10000, 'x'))), expected);
    // One large write, not through the buffer.
    EXPECT_EQ(errorOf(writeFile(path, std::string(2 << 20, 'x'))), expected);
  }
  EXPECT_EQ(readBytes(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}),
            1);
}

TEST(OutputFile, PlacesThatCannotBeWritten) {
  TempDir dir;
  std::string file = dir.write("a", "x");
  EXPECT_EQ(errorOf(writeFile(file + "/b", "x")),
            "8|" + file + "/b: cannot create: not a directory");
  EXPECT_EQ(errorOf(writeFile(dir.file("no/b"), "x")),
            "8|" + dir.file("no/b") +
                ": cannot create: no such file or directory");
  std::filesystem::create_symlink("loop", dir.file("loop"));
  EXPECT_EQ(errorOf(writeFile(dir.file("loop"), "x")),
            "8|" + dir.file("loop") +
                ": cannot create: too many levels of symbolic links");
  std::filesystem::remove(dir.file("loop"));
  std::filesystem::create_directory(dir.file("folder"));
  EXPECT_EQ(errorOf(writeFile(dir.file("folder"), "x")),
            "8|" + dir.file("folder") +
                ": expects a file, but got a directory");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}),
            2);
}

TEST(OutputFile, WithoutCommitNothingStays) {
  TempDir dir;
  {
    auto out = OutputFile::create(dir.file("a"));
    ASSERT_TRUE(out);
    EXPECT_EQ(errorOf(out->write("x")), "ok");
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

// `-o /dev/null` as root once replaced the device by a file.
TEST(OutputFile, WhatIsNoRegularFileIsWrittenInPlace) {
  TempDir dir;
  std::string pipe = dir.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(errorOf(writeFile(pipe, "bytes")), "ok");
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 5);
  ::close(reader);
  EXPECT_STREQ(text, "bytes");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(OutputFile, LinksStay) {
  TempDir dir;
  std::string file = dir.write("a", "old"), link = dir.file("link");
  std::filesystem::create_symlink("a", link);
  EXPECT_EQ(errorOf(writeFile(link, "new")), "ok");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(readBytes(file), "new");
}

TEST(Durable, ADirectoryIsFlushedWhereverItIsMoved) {
  TempDir dir;
  std::filesystem::create_directory(dir.file("a"));
  auto held = HeldDirectory::open(dir.file("a"));
  ASSERT_TRUE(held);
  std::filesystem::rename(dir.file("a"), dir.file("b"));
  EXPECT_EQ(errorOf(held->sync()), "ok");
  EXPECT_EQ(errorOf(HeldDirectory::open(dir.file("a"))),
            "8|" + dir.file("a") +
                ": cannot flush to disk: no such file or directory");
}
