//===- StandardStreamsTest.cpp - Closed and full standard output ----------===//

#include "ToyTool.h"

using namespace weft;

namespace {

class StandardStreamsTest : public ToyTest {
protected:
  /// Runs the bigram model by a shell, which redirects as `how` says.
  ToolResult redirected(const std::string &flags,
                        const std::string &how) const {
    const std::string command =
        "cd " + folder + "; " TOY_BIGRAM " " + flags + " 2>stderr " + how;
    ToolResult result;
    int status = std::system(command.c_str());
    result.status =
        WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    result.err = read("stderr");
    return result;
  }
  const std::string training =
      "--data text.txt --steps 3 --progress line --save-dir ck ";
};

} // namespace

TEST_F(StandardStreamsTest, fullOutputIsAStorageError) {
  ASSERT_EQ(train({"--steps", "1", "--save-dir", "w"}).status, 0);
  for (const char *flags : {"--help", "--version", "--generate a --resume w",
                            "--data text.txt --steps 3 --dry-run"})
    expectError(redirected(flags, ">/dev/full"), 8,
                "cannot write to standard output: no space left on device");
}

TEST_F(StandardStreamsTest, aRunTrainsOnWithoutItsProgress) {
  expectError(redirected(training, ">/dev/full"), 8,
              "cannot write to standard output: no space left on device");
  EXPECT_EQ(list("ck"), Args{"step_00000003"});
}

TEST_F(StandardStreamsTest, aRunTrainsOnWithoutItsReader) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  ASSERT_EQ(dup2(ends[1], 9), 9);
  expectError(redirected(training, ">&9"), 8,
              "cannot write to standard output: broken pipe");
  EXPECT_EQ(list("ck"), Args{"step_00000003"});
  close(ends[1]);
  close(9);
}

TEST_F(StandardStreamsTest, closedOutputTakesNoOtherFile) {
  expectError(redirected(training + "--metrics m.jsonl", ">&- <&-"), 8,
              "cannot write to standard output: bad file descriptor");
  EXPECT_EQ(list("ck"), Args{"step_00000003"});
  EXPECT_EQ(lines("m.jsonl").size(), 4u); // parsed, every one
}

TEST_F(StandardStreamsTest, silentRunNeedsNoOutput) {
  EXPECT_EQ(
      redirected("--data text.txt --steps 1 --progress none", ">&-").status, 0);
}

TEST_F(StandardStreamsTest, closedErrorsGoNowhere) {
  EXPECT_EQ(redirected("--steps x --metrics m", "2>&-").status, 2);
}
