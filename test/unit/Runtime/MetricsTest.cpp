//===- MetricsTest.cpp - A metrics file that exists -----------------------===//

#include "ToyTool.h"

using namespace weft;

namespace {

class MetricsTest : public ToyTest {
protected:
  void SetUp() override {
    ToyTest::SetUp();
    ASSERT_EQ(train({"--steps", "8", "--stop-after", "6", "--save-dir", "a",
                     "--metrics", "m"})
                  .status,
              0);
    whole = read("m");
  }
  ToolResult resume(const Args &more = {}) const {
    Args args = {"--steps",  "8",    "--save-dir", "a",
                 "--resume", "must", "--metrics",  "m"};
    args.insert(args.end(), more.begin(), more.end());
    return train(args);
  }
  /// The file with its line `number` (from 1) replaced.
  std::string withLine(int number, const std::string &text) const {
    std::istringstream in(whole);
    std::string result, line;
    for (int i = 1; std::getline(in, line); ++i)
      result += (i == number ? text : line) + "\n";
    return result;
  }
  void expectUntouched(const ToolResult &run, const std::string &bytes,
                       const std::string &message, int status = 3) {
    expectError(run, status, message);
    EXPECT_EQ(read("m"), bytes);
    EXPECT_EQ(list("a"), Args{"step_00000006"});
  }

  std::string whole;
};

TEST_F(MetricsTest, aFileOfSomethingElseIsOverwrittenOnlyWhenAsked) {
  for (const char *text : {"my thesis\n", "no line end", "{\"weft\":1}\n",
                           "[1]\n", "\n", "{\"step\":1,\"loss\":2.0}\n"}) {
    write("m", text);
    const std::string message =
        "m: expects the metrics of a run, whose first line describes it, but "
        "got another file\n";
    expectUntouched(resume(), text, message, 2);
    expectUntouched(train({"--steps", "2", "--metrics", "m"}), text, message,
                    2);
    expectUntouched(train({"--steps", "2", "--metrics", "m", "--dry-run"}),
                    text, message, 2);
  }
  auto run = train({"--steps", "2", "--metrics", "m", "--overwrite"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(lines("m").size(), 3u);
}

TEST_F(MetricsTest, aNewRunReplacesTheMetricsOfAnEarlierOneAndSaysSo) {
  auto run = train({"--steps", "2", "--metrics", "m"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err,
            "weft: warning: m: replacing the metrics of an earlier run\n");
  EXPECT_EQ(lines("m").size(), 3u);
  write("m", ""); // as mktemp leaves it
  run = train({"--steps", "2", "--metrics", "m"});
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(lines("m").size(), 3u);
}

TEST_F(MetricsTest, aTornLastLineIsCutWithAWarning) {
  write("m", whole + "{\"step\":7,\"lo");
  auto run = resume();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err,
            "weft: warning: m: the last line is torn and is cut off\n");
  EXPECT_EQ(lines("m").size(), 9u);
}

TEST_F(MetricsTest, aBadLineInTheMiddleIsAnError) {
  for (const char *bad : {"{\"step\":3,\"lo", "", "{\"loss\":2.0}", "[3]"}) {
    const std::string bytes = withLine(4, bad);
    write("m", bytes);
    expectUntouched(resume(), bytes,
                    "m:4: expects a JSON object with a step, but got '" +
                        std::string(bad) + "'\n");
  }
}

TEST_F(MetricsTest, theMetricsOfAnotherModelAreAnError) {
  std::string bytes = whole;
  bytes.replace(bytes.find("bigram-128"), 10, "bigram-256");
  write("m", bytes);
  expectUntouched(resume(), bytes,
                  "m: expects the metrics of this model, but got metrics of "
                  "'toy-bigram'\n");
}

TEST_F(MetricsTest, linesThatAreMissingAreNamed) {
  std::string some = whole.substr(0, whole.find("{\"step\":5"));
  write("m", some);
  auto run = resume();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "weft: warning: m: the metrics end at step 4, before step "
                     "6 of the checkpoint\n");
  EXPECT_EQ(read("m").compare(0, some.size(), some), 0);
  EXPECT_EQ(lines("m").size(), 7u);
}

TEST_F(MetricsTest, metricsThatAreGoneAreNamed) {
  for (bool exists : {false, true}) {
    std::filesystem::remove(path("m"));
    std::filesystem::remove_all(path("b"));
    std::filesystem::copy(path("a"), path("b"),
                          std::filesystem::copy_options::recursive);
    if (exists)
      write("m", "");
    auto run = bigram({"--resume", "b", "--progress", "none"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err, "weft: warning: m: starts empty: the metrics up to step "
                       "6 of the checkpoint are lost\n");
    EXPECT_EQ(lines("m").size(), 3u);
  }
  // Those of another name are the first of this run.
  auto run = bigram({"--resume", "a", "--metrics", "n", "--progress", "none"});
  EXPECT_EQ(run.err, "");
}

TEST_F(MetricsTest, ofALinkThatLeadsToNoFileYet) {
  std::filesystem::create_directory(path("far"));
  std::filesystem::create_symlink("far/m", path("link"));
  auto run = train({"--steps", "2", "--metrics", "link"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(lines("far/m").size(), 3u);
}

TEST_F(MetricsTest, ofStandardOutputWhereverItLeads) {
  // The output of the programs goes to a regular file here.
  auto run = train({"--steps", "3", "--metrics", "/dev/stdout"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(lines("stdout").size(), 4u);
}

TEST_F(MetricsTest, laterStepsAreCutWhereverTheyStand) {
  // Lines of an earlier step after them stay.
  write("m",
        whole + "{\"step\":9,\"loss\":1.0}\n{\"step\":6,\"val_loss\":2.0}\n");
  auto run = resume();
  EXPECT_EQ(run.status, 0) << run.err;
  auto all = lines("m");
  ASSERT_EQ(all.size(), 10u);
  EXPECT_TRUE(all[7].find("val_loss"));
  EXPECT_EQ(all[9].find("step")->asInt(), 8);
}

TEST_F(MetricsTest, aFileThatCannotBeSeenIsNotBegunAgain) {
  std::filesystem::create_symlink("loop", path("loop"));
  expectError(train({"--steps", "1", "--metrics", "loop"}), 8,
              "loop: cannot read the metrics: too many levels of symbolic "
              "links\n");
}

} // namespace
