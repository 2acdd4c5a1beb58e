//===- SignalTest.cpp - Signals that stop a run ---------------------------===//

#include "ToyTool.h"

#include "weft/Runtime/Run/Signals.h"

#include <fstream>

using namespace weft;

namespace {

class SignalTest : public ToyTest {
protected:
  /// Whatever runs the tests may ignore SIGHUP, and its children with it.
  void SetUp() override {
    ToyTest::SetUp();
    before = signal(SIGHUP, SIG_DFL);
  }
  void TearDown() override {
    signal(SIGHUP, before);
    ToyTest::TearDown();
  }
  /// A run that lasts until it is stopped, saving to "a".
  Args endless(const Args &more = {}) const {
    std::filesystem::remove(path("m"));
    Args args = {"--data", "text.txt",   "--steps", "1000000",   "--save-dir",
                 "a",      "--progress", "none",    "--metrics", "m"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  /// Handlers are installed before the metrics are begun.
  void waitForStart(pid_t child) const { waitForBytes(child, "m", 1); }
  /// One whose first step lasts far longer than the test: a million
  /// micro-steps.
  pid_t startLongStep() const {
    pid_t child = start(TOY_BIGRAM, endless({"--accum", "1000000"}));
    waitForStart(child);
    usleep(20000);
    return child;
  }

  /// Checkpoints in "a".
  size_t countSteps() {
    size_t steps = 0;
    for (const std::string &name : list("a"))
      steps += name.compare(0, 5, "step_") == 0;
    return steps;
  }

private:
  sighandler_t before = SIG_DFL;
};

TEST_F(SignalTest, firstSignalSavesAndStops) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    std::filesystem::remove_all(path("a"));
    pid_t child = start(TOY_BIGRAM, endless());
    waitForStart(child);
    kill(child, signal);
    auto run = finish(child);
    EXPECT_EQ(run.status, 75) << signal << run.err;
    EXPECT_EQ(countSteps(), 1u) << signal;
  }
  Args more = {"--steps",  "1000000", "--save-dir",   "a",
               "--resume", "auto",    "--stop-after", "1"};
  EXPECT_EQ(train(more).status, 0);
}

TEST_F(SignalTest, secondSignalEndsAtOnce) {
  pid_t child = startLongStep();
  kill(child, SIGTERM);
  usleep(50000);
  EXPECT_EQ(kill(child, 0), 0);
  kill(child, SIGTERM);
  auto run = finish(child);
  EXPECT_EQ(run.status, 143);
  EXPECT_EQ(run.err,
            "weft: error: ended by SIGTERM before the state was saved: "
            "all steps since the last checkpoint are lost\n");
}

TEST_F(SignalTest, repeatedHangUpsDoNotCutTheSaveShort) {
  pid_t child = startLongStep();
  for (int signal : {SIGHUP, SIGHUP, SIGUSR1, SIGUSR1, SIGTERM, SIGHUP}) {
    kill(child, signal);
    usleep(20000);
    int status;
    ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << "after " << signal;
  }
  kill(child, SIGINT);
  EXPECT_EQ(finish(child).status, 130);
}

TEST_F(SignalTest, hangUpThatWasIgnoredStaysIgnored) {
  signal(SIGHUP, SIG_IGN); // as nohup
  pid_t child = start(TOY_BIGRAM, endless());
  waitForStart(child);
  kill(child, SIGHUP);
  usleep(50000);
  int status;
  ASSERT_EQ(waitpid(child, &status, WNOHANG), 0);
  kill(child, SIGTERM);
  EXPECT_EQ(finish(child).status, 75);
}

TEST_F(SignalTest, thePlanOfARunSaysThatItSavesNowhere) {
  Args args = {"--data", "text.txt", "--steps", "1", "--dry-run"};
  EXPECT_NE(bigram(args).out.find("\nsaves     nowhere: without --save-dir the "
                                  "weights are lost\n"),
            std::string::npos);
}

TEST_F(SignalTest, withoutSaveDirectoryTheFirstSignalEndsTheRun) {
  Args args = {"--data",     "text.txt", "--steps",   "1000000",
               "--progress", "none",     "--metrics", "m"};
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    std::filesystem::remove(path("m"));
    pid_t child = start(TOY_BIGRAM, args);
    waitForBytes(child, "m", 5000);
    kill(child, signal);
    auto run = finish(child);
    EXPECT_EQ(run.status, 128 + signal);
    EXPECT_EQ(run.err, std::string("weft: error: ended by SIG") +
                           sigabbrev_np(signal) +
                           ": all steps of this run are lost, for it has no "
                           "--save-dir\nhint: with --save-dir DIR a signal "
                           "saves, and --resume=auto continues the run\n");
  }
}

/// Whether a process of the program blocks or catches the signal.
bool keeps(pid_t process, int number) {
  std::error_code gone;
  const std::string link = "/proc/" + std::to_string(process) + "/exe";
  if (std::filesystem::read_symlink(link, gone) != TOY_BIGRAM)
    return false;
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string name, value; file >> name; std::getline(file, value))
    if (name == "SigBlk:" || name == "SigCgt:") {
      file >> value;
      if (std::stoull(value, nullptr, 16) >> (number - 1) & 1)
        return true;
    }
  return false;
}

// From the moment at which main() has begun: the program starts itself again
// after that, reads its data, and warms up.
TEST_F(SignalTest, aSignalAtTheStartStopsAfterTheFirstStep) {
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1})
    for (int delay : {0, 1, 2, 5, 10, 20}) {
      std::filesystem::remove_all(path("a"));
      pid_t child = start(TOY_BIGRAM, endless());
      while (!keeps(child, signal))
        ASSERT_EQ(kill(child, 0), 0);
      usleep(useconds_t(1000 * delay));
      kill(child, signal);
      auto run = finish(child);
      EXPECT_EQ(run.status, 75) << signal << " " << delay << " " << run.err;
      EXPECT_EQ(countSteps(), 1u) << signal << " " << delay;
    }
}

TEST_F(SignalTest, aSignalAtTheStartEndsARunThatDoesNotSave) {
  Args args = {"--data",  "text.txt",   "--steps",
               "1000000", "--progress", "none"};
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    pid_t child = start(TOY_BIGRAM, args);
    while (!keeps(child, signal))
      ASSERT_EQ(kill(child, 0), 0);
    kill(child, signal);
    EXPECT_EQ(finish(child).status, 128 + signal);
  }
}

} // namespace

// Kernels keep numbers below the end of their stack.
TEST(SignalScope, HandlersHaveAStackOfTheirOwn) {
  stack_t before = {}, within = {}, after = {};
  ::sigaltstack(nullptr, &before);
  {
    SignalScope scope(/*canSave=*/true);
    ::sigaltstack(nullptr, &within);
    for (int number : {SIGINT, SIGTERM, SIGUSR1}) {
      struct sigaction action = {};
      ::sigaction(number, nullptr, &action);
      EXPECT_TRUE(action.sa_flags & SA_ONSTACK) << number;
    }
    ::raise(SIGUSR1);
    EXPECT_EQ(scope.stopSignal(), SIGUSR1);
  }
  ::sigaltstack(nullptr, &after);
  EXPECT_FALSE(within.ss_flags & SS_DISABLE);
  EXPECT_EQ(after.ss_sp, before.ss_sp);
  EXPECT_EQ(after.ss_flags, before.ss_flags);
}

TEST(EarlySignals, AreKeptForTheScope) {
  EarlySignals early;
  ::raise(SIGUSR1);
  SignalScope scope(/*canSave=*/true);
  EXPECT_EQ(scope.stopSignal(), SIGUSR1);
}

TEST(EarlySignalsDeathTest, EndARunThatSavesNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto ends = [] {
    blockStopSignals();
    ::raise(SIGTERM);
    EarlySignals early;
    early.endProcess();
  };
  EXPECT_EXIT(ends(), testing::ExitedWithCode(143), "");
  auto endsTwice = [] {
    EarlySignals early;
    ::raise(SIGUSR1);
    ::raise(SIGINT);
    ::raise(SIGINT);
  };
  EXPECT_EXIT(endsTwice(), testing::ExitedWithCode(130), "");
  // After the run; below nohup it would be ignored.
  auto endsLater = [] {
    ::signal(SIGHUP, SIG_DFL);
    EarlySignals early;
    {
      SignalScope scope(/*canSave=*/true);
    }
    ::raise(SIGHUP);
  };
  EXPECT_EXIT(endsLater(), testing::ExitedWithCode(129), "");
}
