//===- CudaProgramTest.cpp - Programs for CUDA devices as processes -------===//

#include "../Runtime/ToyTool.h"

using namespace weft;

namespace {
class CudaProgramTest : public ToyTest {
protected:
  ToolResult run(const Args &args) const {
    return finish(start(TOY_CUDA, args));
  }
};
} // namespace

TEST_F(CudaProgramTest, DescribesItselfWithoutADevice) {
  ToolResult version = run({"--version"});
  EXPECT_EQ(version.status, 0) << version.err;
  EXPECT_EQ(version.out, "toy-bigram, compiled by weft 0.1.0\n");
  ToolResult plan = run(
      {"--data", "text.txt", "--steps", "3", "--dry-run", "--save-dir", "ck"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_NE(plan.out.find(", a CUDA device\n"), std::string::npos) << plan.out;
  EXPECT_FALSE(exists("ck"));
}

// With a driver it is the images that are missing.
TEST_F(CudaProgramTest, ARunNamesWhatIsMissing) {
  ToolResult result = run({"--data", "text.txt", "--steps", "3"});
  EXPECT_EQ(result.status, 9) << result.err;
  EXPECT_EQ(result.err.find("weft: error: expects "), 0u) << result.err;
}

/// The libraries that a file asks the loader for.
static std::string neededBy(const std::string &program) {
  std::string text;
  FILE *pipe = popen(("readelf -d " + program).c_str(), "r");
  char line[512];
  while (pipe && fgets(line, sizeof line, pipe))
    if (std::string(line).find("(NEEDED)") != std::string::npos)
      text += line;
  if (pipe)
    pclose(pipe);
  return text;
}

TEST_F(CudaProgramTest, NeedsNoLibraryOfTheCpusOrTheToolkit) {
  const std::string needed = neededBy(TOY_CUDA);
  ASSERT_NE(needed.find("libc.so"), std::string::npos) << needed;
  for (const char *name : {"gomp", "dnnl", "cuda", "cublas"})
    EXPECT_EQ(needed.find(name), std::string::npos) << needed;
  EXPECT_NE(neededBy(TOY_BIGRAM).find("gomp"), std::string::npos);
}
