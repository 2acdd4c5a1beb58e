//===- ThreadsTest.cpp - Threads that a run asks for and gets -------------===//

#include "ToyTool.h"

#include "weft/Runtime/Devices/HostDevice.h"
#include "weft/Runtime/Execute/ParallelFor.h"

using namespace weft;

namespace {

class ThreadsTest : public ToyTest {
protected:
  ToolResult runWith(const Args &settings, const Args &more = {}) {
    environment = settings;
    Args args = {"--steps=2", "--metrics=m.jsonl"};
    args.insert(args.end(), more.begin(), more.end());
    return train(args);
  }
  int64_t threadsOfRun() const {
    const Json line = lines("m.jsonl").front();
    const Json *threads = line.find("threads");
    return threads ? threads->asInt() : -1;
  }
  void expectRun(const ToolResult &run, int64_t threads) {
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(threadsOfRun(), threads);
  }
};

/// A size of stacks that no machine has memory for.
const char *const kHugeStacks = "OMP_STACKSIZE=1000000G";

} // namespace

TEST_F(ThreadsTest, TheEnvironmentTakesNoThreads) {
  for (const char *setting :
       {"OMP_DYNAMIC=true", "OMP_MAX_ACTIVE_LEVELS=0", "OMP_NUM_THREADS=1"}) {
    SCOPED_TRACE(setting);
    ToolResult run = runWith({setting}, {"--threads=3"});
    expectRun(run, 3);
    EXPECT_EQ(run.err.find("processors"), std::string::npos) << run.err;
  }
}

TEST_F(ThreadsTest, MoreThanTheLimitIsAnError) {
  expectError(runWith({"OMP_THREAD_LIMIT=2"}, {"--threads=3"}), 9,
              "--threads expects at most 2 here, but got 3: OMP_THREAD_LIMIT "
              "is 2");
  EXPECT_FALSE(exists("m.jsonl"));
  expectRun(runWith({"OMP_THREAD_LIMIT=2"}, {"--threads=2"}), 2);
}

TEST_F(ThreadsTest, ThreadsThatCannotBeMadeAreAnError) {
  expectError(runWith({kHugeStacks}, {"--threads=2"}), 9,
              "--threads expects at most 1 here, but got 2: the system does "
              "not create another one (");
  expectRun(runWith({kHugeStacks}, {"--threads=1"}), 1);
}

TEST_F(ThreadsTest, StacksThatAreTooSmallAreAnError) {
  expectError(runWith({"OMP_STACKSIZE=64k"}, {"--threads=2"}), 9,
              "--threads expects at most 1 here, but got 2: their stacks have "
              "64 KiB of at least 256 (OMP_STACKSIZE, ulimit -s)");
  expectRun(runWith({"OMP_STACKSIZE=1M"}, {"--threads=2"}), 2);
}

// Where there is but one processor, the default needs no more.
TEST_F(ThreadsTest, ADefaultFallsToWhatCanBeHad) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    GTEST_SKIP();
  ToolResult run = runWith({"OMP_THREAD_LIMIT=1"});
  expectRun(run, 1);
  EXPECT_NE(run.err.find("weft: warning: uses 1 of "), std::string::npos);
  EXPECT_NE(run.err.find(" processors: OMP_THREAD_LIMIT is 1\n"),
            std::string::npos);
  run = runWith({kHugeStacks});
  expectRun(run, 1);
  EXPECT_NE(run.err.find(": the system does not create another one ("),
            std::string::npos);
}

// Binding the first thread to one place does not leave one processor.
TEST_F(ThreadsTest, PlacesCountAsProcessors) {
  expectRun(runWith({}), availableThreads());
  for (const char *setting : {"OMP_PROC_BIND=true", "OMP_PLACES=threads"}) {
    SCOPED_TRACE(setting);
    expectRun(runWith({setting}), availableThreads());
  }
  expectRun(runWith({"OMP_PLACES={0}"}), 1);
}

TEST(EntryDeathTest, ALibraryThatEndsTheProgramIsExplained) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((watchExits(), std::exit(1)), testing::ExitedWithCode(9),
              "weft: error: a library ended the program; standard error says "
              "why\nhint: ");
}
