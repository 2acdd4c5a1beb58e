//===- LaunchHeartbeatTest.cpp - Heartbeats outside of MPI ----------------===//

#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace weft;

TEST(LaunchHeartbeat, LinesAreReadBack) {
  for (RankStage stage : {RankStage::Starting, RankStage::Running,
                          RankStage::Ending, RankStage::Ended}) {
    const auto read = parseHeartbeat(formatHeartbeat({7, stage}, "w-1"), "w-1");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->rank, 7);
    EXPECT_EQ(read->stage, stage);
  }
}

TEST(LaunchHeartbeat, OtherLinesAreNone) {
  for (const char *line :
       {"", "w-1", "w-1 ", "w-1 7", "w-1 7 flying", "w-1 -1 running",
        "w-1 x running", "w-1 7 running ", "w-2 7 running", " w-1 7 running"})
    EXPECT_FALSE(parseHeartbeat(line, "w-1")) << line;
  EXPECT_FALSE(parseHeartbeat(" 7 running", ""));
}

TEST(LaunchHeartbeat, TheTimeoutIsReadBeforeFlagsAreParsed) {
  const double usual = RunOptions().timeout;
  EXPECT_EQ(readTimeout({}), usual);
  EXPECT_EQ(readTimeout({"--steps", "3"}), usual);
  EXPECT_EQ(readTimeout({"--timeout", "4"}), 4);
  EXPECT_EQ(readTimeout({"--steps", "3", "--timeout=0.5"}), 0.5);
  for (const char *wrong : {"", "x", "4s", "0", "-1", "nan", "1e10"})
    EXPECT_EQ(readTimeout({"--timeout", wrong}), usual) << wrong;
  EXPECT_EQ(readTimeout({"--timeout"}), usual);
}

TEST(LaunchHeartbeat, ASlowCallGetsAMinute) {
  EXPECT_EQ(longestCall(4), 60);
  EXPECT_EQ(longestCall(60), 600);
  EXPECT_EQ(heartbeatPause(4), 1);
  EXPECT_EQ(heartbeatPause(0.2), 0.05);
}

/// Lines that a child process writes to its standard error.
static std::string linesOf(const char *word) {
  testing::internal::CaptureStderr();
  if (word)
    ::setenv(kLaunchVariable, word, 1);
  ::setenv("OMPI_COMM_WORLD_RANK", "2", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  {
    LaunchHeartbeat heartbeat(RankStage::Starting, RankStage::Running,
                              "MPI_Init", /*timeout=*/0.1);
    ::usleep(120000);
  }
  ::unsetenv(kLaunchVariable);
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  return testing::internal::GetCapturedStderr();
}

TEST(LaunchHeartbeat, IsSentUntilTheCallEnds) {
  const std::string lines = linesOf("w-1");
  EXPECT_EQ(lines.rfind("w-1 2 starting\nw-1 2 starting\n", 0), 0u) << lines;
  const std::string last = "w-1 2 running\n";
  ASSERT_GT(lines.size(), last.size());
  EXPECT_EQ(lines.substr(lines.size() - last.size()), last);
}

TEST(LaunchHeartbeat, NobodyHasAsked) { EXPECT_EQ(linesOf(nullptr), ""); }
