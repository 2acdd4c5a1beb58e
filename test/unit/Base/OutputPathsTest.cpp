//===- OutputPathsTest.cpp - Outputs that are inputs ----------------------===//

#include "TestSupport.h"
#include "weft/Base/OutputFile.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace weft;
namespace fs = std::filesystem;

namespace {

class OutputPathsTest : public testing::Test {
protected:
  OutputPathsTest() { dir.write("data", "text"); }

  std::string path(const std::string &name) const { return dir.file(name); }
  bool accepts(const std::vector<std::string> &outputs,
               const std::vector<std::string> &inputs = {}) {
    std::vector<FileUse> writes, reads;
    for (const std::string &name : outputs)
      writes.push_back({"--out", name});
    for (const std::string &name : inputs)
      reads.push_back({"--in", name});
    Status status = checkOutputPaths(writes, reads, "MANIFEST.json");
    if (!status) {
      EXPECT_EQ(status.error().code(), ExitCode::Usage);
      message = status.error().str();
    }
    return status.ok();
  }

  TempDir dir;
  std::string message;
};

} // namespace

TEST_F(OutputPathsTest, AcceptsFilesOfTheirOwn) {
  EXPECT_TRUE(accepts({path("a"), path("b"), ""}, {path("data"), ""}));
}

TEST_F(OutputPathsTest, RefusesAnInputUnderAnyName) {
  fs::create_symlink(path("data"), path("link"));
  fs::create_hard_link(path("data"), path("hard"));
  fs::create_directory(path("sub"));
  fs::create_directory_symlink(dir.path(), path("folder"));
  for (const char *name :
       {"data", "link", "hard", "sub/../data", "./data", "folder/data"})
    EXPECT_FALSE(accepts({path(name)}, {path("data")})) << name;
  EXPECT_NE(message.find("--out expects a file of its own, but got the file of "
                         "--in"),
            std::string::npos)
      << message;
}

TEST_F(OutputPathsTest, RefusesTwoOutputsThatAreOne) {
  fs::create_directory_symlink(dir.path(), path("folder"));
  EXPECT_FALSE(accepts({path("data"), path("./data")}));
  // Not there yet: compared by folder and name.
  EXPECT_FALSE(accepts({path("new"), path("new")}));
  EXPECT_FALSE(accepts({path("new"), path("folder/new")}));
  EXPECT_FALSE(accepts({path("new")}, {path("folder/./new")}));
}

TEST_F(OutputPathsTest, SharesDevices) {
  EXPECT_TRUE(accepts({"/dev/null", "/dev/null"}, {"/dev/null"}));
}

TEST_F(OutputPathsTest, RefusesFilesOfACheckpoint) {
  fs::create_directory(path("best"));
  dir.write("best/MANIFEST.json", "{}");
  EXPECT_FALSE(accepts({path("best/rank_00000.safetensors")}));
  EXPECT_NE(message.find("--out expects a file outside of checkpoints"),
            std::string::npos)
      << message;
}
