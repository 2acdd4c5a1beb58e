//===- EvaluateTest.cpp - Evaluation alone, the best step, samples --------===//

#include "ToyTool.h"

#include "weft/Runtime/Checkpoints/Checkpoint.h"

#include <cmath>

using namespace weft;

namespace {

class EvaluateTest : public ToyTest {
protected:
  void SetUp() override {
    ToyTest::SetUp();
    write("val.txt", read("text.txt").substr(0, 700));
  }
  /// The steps of a metrics file at which the validation loss was the lowest
  /// so far.
  std::vector<int64_t> lowestSteps(const std::string &metrics) const {
    double least = INFINITY;
    std::vector<int64_t> steps;
    for (const Json &line : lines(metrics))
      if (const Json *loss = line.find("val_loss");
          loss && loss->asDouble() < least) {
        least = loss->asDouble();
        steps.push_back(line.find("step")->asInt());
      }
    return steps;
  }
  static std::string stepName(int64_t step) {
    char name[32];
    std::snprintf(name, sizeof name, "step_%08d", int(step));
    return name;
  }
  double number(const Json &line, const char *key) const {
    const Json *value = line.find(key);
    EXPECT_TRUE(value) << key << " in " << line.compact();
    return value ? value->asDouble() : NAN;
  }
};

TEST_F(EvaluateTest, aloneGivesTheLossOfTheTraining) {
  ASSERT_EQ(train({"--steps", "6", "--save-dir", "a", "--val-data", "val.txt",
                   "--eval-steps", "0", "--metrics", "m"})
                .status,
            0);
  const Json trained = lines("m").back();
  const Args before = list("a");
  auto run = bigram({"--eval-only", "--val-data", "val.txt", "--resume", "a",
                     "--progress", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, trained.compact() + "\n");
  EXPECT_NEAR(number(trained, "perplexity"),
              std::exp(number(trained, "val_loss")), 1e-9);
  EXPECT_EQ(list("a"), before) << "nothing is saved";
  // The data of the run is kept; the metrics go on.
  auto line = bigram({"--eval-only", "--resume", "a", "--metrics", "m"});
  ASSERT_EQ(line.status, 0) << line.err;
  EXPECT_NE(line.out.find("\nstep 6  val_loss "), std::string::npos);
  EXPECT_NE(line.out.find("  perplexity "), std::string::npos);
  EXPECT_NE(line.out.find("evaluate  87 of 87 rows in 22 batches of 4\n"),
            std::string::npos)
      << line.out;
  auto all = lines("m");
  EXPECT_EQ(all.size(), 9u);
  EXPECT_EQ(all.back(), trained);
}

// Seven rows are one batch, and the three behind it; a row alone fills none.
TEST_F(EvaluateTest, everyRowCountsOnce) {
  const std::string text = read("text.txt");
  double sum = 0;
  auto lossOf = [&](const std::string &name) {
    auto run =
        bigram({"--eval-only", "--val-data", name, "--progress", "json"});
    EXPECT_EQ(run.status, 0) << run.err;
    auto json = parseJson(run.out, "out");
    EXPECT_TRUE(json.ok() && !json->find("val_rows")) << run.out;
    return json.ok() ? number(*json, "val_loss") : NAN;
  };
  for (int row = 0; row < 7; ++row) {
    write("row.txt", text.substr(size_t(row) * 8, 9));
    sum += lossOf("row.txt");
  }
  write("rows.txt", text.substr(0, 7 * 8 + 1));
  EXPECT_NEAR(lossOf("rows.txt"), sum / 7, 1e-6);
  write("rows.txt", text.substr(0, 5 * 8 + 1));
  const double five = lossOf("rows.txt");
  write("row.txt", text.substr(0, 4 * 8 + 1));
  const double four = lossOf("row.txt");
  write("row.txt", text.substr(4 * 8, 9));
  EXPECT_NEAR(five, (4 * four + lossOf("row.txt")) / 5, 1e-6);
}

TEST_F(EvaluateTest, aSampleSaysSo) {
  auto run = bigram({"--eval-only", "--val-data", "val.txt", "--eval-steps",
                     "2", "--progress", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("\"val_rows\":8,\"val_rows_available\":87,"
                         "\"val_sample\":true"),
            std::string::npos)
      << run.out;
  auto line =
      bigram({"--eval-only", "--val-data", "val.txt", "--eval-steps", "2"});
  EXPECT_NE(line.out.find("  (a sample: 8 of 87 rows)\n"), std::string::npos)
      << line.out;
}

TEST_F(EvaluateTest, aloneOfTheTailAndOfRandomWeights) {
  auto run = bigram({"--eval-only", "--data", "text.txt", "--val-fraction",
                     "0.2", "--eval-steps", "2", "--progress", "json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "weft: warning: evaluating random weights; --resume or "
                     "--init-from gives others\n");
  EXPECT_EQ(run.out.compare(0, 21, "{\"step\":0,\"val_loss\":"), 0) << run.out;
}

TEST_F(EvaluateTest, wrongFlags) {
  struct Case {
    Args args;
    std::string message;
  };
  const Case cases[] = {
      {{"--eval-only"},
       "expects --val-data or --val-fraction, the data to evaluate\n"},
      {{"--eval-only", "--val-fraction", "0.5"}, "expects --data FILE\n"},
      {{"--eval-only", "--val-data", "v", "--steps", "3"},
       "--steps expects a run that trains, not --eval-only\n"},
      {{"--eval-only", "--val-data", "v", "--eval-every", "3"},
       "--eval-every expects a run that trains (--steps above 0)\n"},
      {{"--eval-only", "--val-data", "v", "--trace", "t"},
       "--trace expects a run that trains (--steps above 0)\n"},
      {{"--keep-best", "--save-dir", "a", "--steps", "3", "--data", "x"},
       "--keep-best expects --val-data or --val-fraction\n"},
      {{"--keep-best", "--val-data", "v", "--steps", "3", "--data", "x"},
       "--keep-best expects --save-dir\n"},
      {{"--sample-every", "3", "--steps", "3", "--data", "x"},
       "--sample-every expects --generate\n"},
      {{"--sample-every", "3", "--generate", "x"},
       "--sample-every expects a run that trains (--steps above 0)\n"},
  };
  for (const Case &one : cases)
    expectError(bigram(one.args), 2, one.message);
  expectError(bigram({"--eval-only", "--val-data", "none"}), 3,
              "none: cannot open: no such file or directory\n");
}

TEST_F(EvaluateTest, theBestCheckpointIsKept) {
  // A learning rate that first helps and then ruins the model.
  Args args = {"--steps",
               "12",
               "--save-dir",
               "a",
               "--lr",
               "2",
               "--val-data",
               "val.txt",
               "--eval-every",
               "1",
               "--keep",
               "1",
               "--keep-best",
               "--save-every",
               "4",
               "--metrics",
               "m"};
  auto run = train(args);
  ASSERT_EQ(run.status, 0) << run.err;
  const int64_t best = lowestSteps("m").back();
  ASSERT_LT(best, 12) << "the case must not end with its best step";
  EXPECT_EQ(list("a"), (Args{stepName(best), "step_00000012"}));
  auto text = bigram({"--eval-only", "--resume", "a/best", "--val-data",
                      "val.txt", "--progress", "json"});
  ASSERT_EQ(text.status, 0) << text.err;
  auto json = parseJson(text.out, "out");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->find("step")->asInt(), best);
  expectError(bigram({"--resume", "text.txt/best", "--eval-only"}), 5,
              "text.txt: ");
}

TEST_F(EvaluateTest, keepBestKeepsOneCheckpoint) {
  auto run = [&](const char *name, const Args &more) {
    Args args = {"--steps",      "12", "--save-dir", name,
                 "--lr",         "2",  "--val-data", "val.txt",
                 "--eval-every", "1",  "--keep-best"};
    args.insert(args.end(), more.begin(), more.end());
    return train(args).status;
  };
  // All checkpoints are kept, but not all that were once the best.
  ASSERT_EQ(run("a", {"--metrics", "m"}), 0);
  const std::vector<int64_t> lowest = lowestSteps("m");
  ASSERT_GT(lowest.size(), 1u);
  const std::string best = stepName(lowest.back()), last = stepName(12);
  EXPECT_EQ(list("a"), (Args{best, last}));
  // Those of --save-every stay, also one that was the best.
  ASSERT_EQ(run("b", {"--save-every", "1"}), 0);
  EXPECT_EQ(list("b").size(), 12u);
  // A run that resumes after a crash retires the best step of before.
  const int64_t before = lowest[lowest.size() - 2];
  environment = {"WEFT_FAULT=crash@step=" + std::to_string(before + 1)};
  EXPECT_NE(run("c", {}), 0);
  EXPECT_EQ(list("c"), (Args{".lock", stepName(before)}));
  environment.clear();
  ASSERT_EQ(run("c", {"--resume", "auto"}), 0);
  EXPECT_EQ(list("c"), (Args{best, last}));
  // A step that a run stopped at was not saved for its loss.
  const std::string stop = std::to_string(before);
  ASSERT_EQ(run("d", {"--stop-after", stop}), 0);
  ASSERT_EQ(run("d", {"--resume", "auto"}), 0);
  EXPECT_EQ(list("d"), (Args{stepName(before), best, last}));
}

TEST_F(EvaluateTest, aResumedRunKnowsTheBestStep) {
  Args args = {"--steps",    "12",      "--save-dir",   "a", "--lr",   "2",
               "--val-data", "val.txt", "--eval-every", "1", "--keep", "1",
               "--keep-best"};
  ASSERT_EQ(train(args).status, 0);
  args[3] = "b";
  args.insert(args.end(), {"--stop-after", "8"});
  ASSERT_EQ(train(args).status, 0);
  ASSERT_EQ(bigram({"--resume", "b", "--progress", "none"}).status, 0);
  EXPECT_EQ(list("a"), list("b"));
  for (const std::string &step : list("a"))
    expectSameFiles("a/" + step, "b/" + step);
}

TEST_F(EvaluateTest, listsMarkTheBestStep) {
  ASSERT_EQ(train({"--steps", "3", "--save-dir", "a", "--save-every", "1",
                   "--val-data", "val.txt", "--eval-every", "1"})
                .status,
            0);
  auto text = listCheckpoint(path("a"));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->find("  best\n"), text->size() - 7) << *text;
  EXPECT_EQ(text->find("step_00000003"), text->rfind("step_")) << *text;
  for (const char *tool : {"a", "a/best"})
    EXPECT_TRUE(verifyCheckpoint(path(tool)).ok());
  auto step = listCheckpoint(path("a/best"));
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step->find("step 3  "), 0u) << *step;
}

TEST_F(EvaluateTest, noBestStepIsAnError) {
  ASSERT_EQ(train({"--steps", "2", "--save-dir", "a"}).status, 0);
  expectError(bigram({"--resume", "a/best", "--generate", "x"}), 5,
              "a: expects a checkpoint with a validation loss, but found none");
}

TEST_F(EvaluateTest, samplesDuringTrainingChangeNothing) {
  ASSERT_EQ(train({"--steps", "6", "--save-dir", "a"}).status, 0);
  auto run =
      bigram({"--data", "text.txt", "--steps", "6", "--save-dir", "b",
              "--generate", "th", "--sample-every", "2", "--max-new-tokens",
              "4", "--metrics", "m", "--progress", "json"});
  ASSERT_EQ(run.status, 0) << run.err;
  expectSameFiles("a/step_00000006", "b/step_00000006");
  int samples = 0;
  for (const Json &line : lines("m"))
    if (const Json *sample = line.find("sample")) {
      ++samples;
      EXPECT_EQ(sample->asString().compare(0, 2, "th"), 0);
      EXPECT_NE(run.out.find(line.compact() + "\n"), std::string::npos);
    }
  EXPECT_EQ(samples, 3);
  run = bigram({"--data", "text.txt", "--steps", "2", "--generate", "th",
                "--sample-every", "1", "--progress", "line"});
  EXPECT_NE(run.out.find("\nstep 1  sample\nth"), std::string::npos) << run.out;
}

TEST_F(EvaluateTest, theLastSampleIsPrintedOnce) {
  auto count = [&](std::vector<std::string> flags) {
    std::vector<std::string> all = {
        "--data",           "text.txt", "--generate", "th",
        "--max-new-tokens", "4",        "--steps",    "4"};
    all.insert(all.end(), flags.begin(), flags.end());
    const auto run = bigram(all);
    EXPECT_EQ(run.status, 0) << run.err;
    int samples = 0;
    for (size_t at = run.out.find("\nth"); at != std::string::npos;
         at = run.out.find("\nth", at + 1))
      ++samples;
    return samples;
  };
  EXPECT_EQ(count({"--progress", "line", "--sample-every", "2"}), 2);
  EXPECT_EQ(count({"--progress", "line", "--sample-every", "3"}), 2);
  EXPECT_EQ(count({"--progress", "line", "--sample-every", "2", "--save-dir",
                   "s", "--stop-after", "3"}),
            2);
  EXPECT_EQ(count({"--progress", "line"}), 1);
}

} // namespace
