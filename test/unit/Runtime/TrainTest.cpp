//===- TrainTest.cpp - Whole training runs of a toy program ---------------===//

#include "ToyTool.h"

#include <cmath>

using namespace weft;

using TrainTest = ToyTest;

TEST_F(TrainTest, lossFallsAndMetricsDescribeEveryStep) {
  auto run = train({"--steps", "60", "--metrics", "m.jsonl", "--val-fraction",
                    "0.2", "--eval-every", "30", "--clip", "1"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "");
  auto all = lines("m.jsonl");
  ASSERT_EQ(all.size(), 63u); // header, 60 steps, 2 evaluations
  EXPECT_EQ(all[0].find("loss"), nullptr);
  EXPECT_EQ(all[0].find("model")->asString(), "toy-bigram");
  EXPECT_EQ(all[0].find("precision")->asString(), "f32");
  EXPECT_EQ(all[0].find("recipe")->asString(), "amp");
  EXPECT_TRUE(all[0].find("scaler")->isNull());
  EXPECT_EQ(all[0].find("clip")->asDouble(), 1.0);
  double first = all[1].find("loss")->asDouble();
  EXPECT_NEAR(first, std::log(128.0), 0.05);
  EXPECT_EQ(all[1].find("step")->asInt(), 1);
  EXPECT_EQ(all[31].find("step")->asInt(), 30);
  EXPECT_TRUE(all[31].find("val_loss"));
  EXPECT_TRUE(all[62].find("val_loss"));
  EXPECT_LT(all[61].find("loss")->asDouble(), 0.75 * first);
  EXPECT_LT(all[62].find("val_loss")->asDouble(),
            all[31].find("val_loss")->asDouble());
  for (const char *key : {"lr", "grad_norm", "loss_scale", "skipped",
                          "tokens_per_s", "step_ms", "mem_bytes"})
    EXPECT_TRUE(all[5].find(key)) << key;
}

TEST_F(TrainTest, accumulationIsTheMeanOfTheBatch) {
  // 2 x 1 micro-steps over the same rows as 1 x 2: the same first two losses,
  // and the gradient dumped is their mean.
  ASSERT_EQ(train({"--steps", "1", "--accum", "2", "--dump-grads", "two.st",
                   "--metrics", "two.jsonl"})
                .status,
            0);
  ASSERT_EQ(train({"--steps", "2", "--lr", "0", "--weight-decay", "0",
                   "--dump-grads", "one.st", "--metrics", "one.jsonl"})
                .status,
            0);
  auto two = lines("two.jsonl"), one = lines("one.jsonl");
  EXPECT_NEAR(
      two[1].find("loss")->asDouble(),
      (one[1].find("loss")->asDouble() + one[2].find("loss")->asDouble()) / 2,
      1e-12);
  auto file = SafetensorsFile::open(path("two.st"));
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->tensors().size(), 1u);
  EXPECT_EQ(file->tensors()[0].name, "table");
  EXPECT_EQ(file->tensors()[0].shape, (std::vector<int64_t>{128, 128}));
  EXPECT_NE(read("one.st"), read("two.st"));
}

TEST_F(TrainTest, equalRunsGiveEqualBytes) {
  for (const char *name : {"a", "b"})
    ASSERT_EQ(train({"--steps", "8", "--save-dir", name, "--shuffle",
                     "--threads", *name == 'a' ? "1" : "2"})
                  .status,
              0);
  expectSameFiles("a/step_00000008", "b/step_00000008");
  ASSERT_EQ(
      train({"--steps", "8", "--save-dir", "c", "--shuffle", "--seed", "1"})
          .status,
      0);
  EXPECT_NE(read("a/step_00000008/rank_00000.safetensors"),
            read("c/step_00000008/rank_00000.safetensors"));
}

TEST_F(TrainTest, rowsAreShuffledUnlessAskedOtherwise) {
  auto save = [&](const char *name, const Args &more) {
    Args args = {"--steps", "4",         "--save-dir",
                 name,      "--metrics", std::string(name) + ".jsonl"};
    args.insert(args.end(), more.begin(), more.end());
    ToolResult result = train(args);
    EXPECT_EQ(result.status, 0) << result.err;
    return read(std::string(name) + "/step_00000004/rank_00000.safetensors");
  };
  const std::string byDefault = save("a", {});
  EXPECT_EQ(byDefault, save("b", {"--shuffle"}));
  EXPECT_NE(byDefault, save("c", {"--no-shuffle"}));
  EXPECT_TRUE(lines("a.jsonl")[0].find("shuffle")->asBool());
  EXPECT_FALSE(lines("c.jsonl")[0].find("shuffle")->asBool());
  Args plan = {"--data", "text.txt", "--steps",  "4",
               "--seed", "3",        "--dry-run"};
  EXPECT_NE(bigram(plan).out.find("\norder     shuffled by seed 3\n"),
            std::string::npos);
  plan.push_back("--no-shuffle");
  EXPECT_NE(bigram(plan).out.find("\norder     as in the file\n"),
            std::string::npos);
}

TEST_F(TrainTest, progressKinds) {
  Args base = {"--data", "text.txt", "--steps", "3", "--progress"};
  auto with = [&](const char *kind) {
    Args args = base;
    args.push_back(kind);
    return bigram(args).out;
  };
  EXPECT_EQ(with("none"), "");
  std::string line = with("line");
  EXPECT_NE(line.find("model     toy-bigram, 16,384 parameters\n"),
            std::string::npos);
  EXPECT_NE(line.find("\nstep 3/3  loss "), std::string::npos) << line;
  EXPECT_NE(line.find("eta 0s"), std::string::npos);
  std::string json = with("json");
  EXPECT_EQ(json.compare(0, 10, "{\"step\":1,"), 0) << json;
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 3);
  EXPECT_NE(with("bar").find("\r\033[K[####"), std::string::npos);
}

TEST_F(TrainTest, generateContinuesThePromptDeterministically) {
  ASSERT_EQ(train({"--steps", "150", "--save-dir", "ck"}).status, 0);
  Args sample = {"--resume",      "ck", "--generate",       "the q",
                 "--temperature", "0",  "--max-new-tokens", "1"};
  auto greedy = bigram(sample);
  ASSERT_EQ(greedy.status, 0) << greedy.err;
  EXPECT_EQ(greedy.out, "the qu\n");
  EXPECT_EQ(greedy.err, "");
  // Longer than the window of 8 tokens; other seeds give other text.
  sample[5] = "0.8";
  sample[7] = "40";
  auto first = bigram(sample);
  EXPECT_EQ(first.out.size(), 5u + 40 + 1);
  EXPECT_EQ(first.out, bigram(sample).out);
  EXPECT_NE(first.out, bigram({"--resume", "ck", "--generate", "the q",
                               "--top-k", "2", "--max-new-tokens", "40"})
                           .out);
}

TEST_F(TrainTest, samplingFromRandomWeightsWarns) {
  auto run = bigram({"--generate", "a", "--max-new-tokens", "1"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "weft: warning: sampling from random weights; --resume or "
                     "--init-from gives others\n");
}

TEST_F(TrainTest, dryRunWritesNothing) {
  Args before = list("");
  auto run = bigram({"--data", "text.txt", "--steps", "10", "--dry-run",
                     "--save-dir", "ck", "--metrics", "m.jsonl", "--trace",
                     "t.json", "--lr-schedule", "cosine", "--warmup", "2"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(
      run.out,
      "model     toy-bigram, 16,384 parameters\n"
      "types     precision f32, recipe amp, weights F32\n"
      "arena     257.31 KiB, " +
          run.out.substr(run.out.find("KiB, ") + 5,
                         run.out.find(" threads") - run.out.find("KiB, ") - 5) +
          " threads\n"
          "start     random weights, seed 0\n"
          "data      text.txt (text): 2760 tokens, 344 rows of 8\n"
          "step      1 x 4 rows, 32 tokens; steps 1 to 10\n"
          "order     shuffled by seed 0\n"
          "lr        cosine, 0.05 after 2 warmup steps\n"
          "saves     ck, 192.01 KiB each\n");
  Args after = list("");
  after.erase(std::remove_if(after.begin(), after.end(),
                             [](const std::string &name) {
                               return name == "stdout" || name == "stderr";
                             }),
              after.end());
  EXPECT_EQ(after, before);
}

TEST_F(TrainTest, traceIsJsonWithEveryCommand) {
  ASSERT_EQ(train({"--steps", "2", "--accum", "3", "--trace", "t.json"}).status,
            0);
  auto trace = readJsonFile(path("t.json"));
  ASSERT_TRUE(trace.ok());
  const auto &events = trace->find("traceEvents")->asArray();
  ASSERT_EQ(events.size(), 1u + 2 * (3 + 1));
  EXPECT_EQ(events[1].find("name")->asString(), "toy_micro");
  EXPECT_EQ(events[4].find("cat")->asString(), "apply");
  EXPECT_EQ(events[4].find("args")->find("scope")->asString(), "toy");
}

TEST_F(TrainTest, stopAfterEndsEarlyAndSaves) {
  ASSERT_EQ(
      train({"--steps", "20", "--stop-after", "5", "--save-dir", "ck"}).status,
      0);
  EXPECT_EQ(list("ck"), Args{"step_00000005"});
}

TEST_F(TrainTest, helpAndVersion) {
  auto help = bigram({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("usage: "), std::string::npos);
  EXPECT_NE(help.out.find("--lr-schedule"), std::string::npos);
  auto version = bigram({"--version"});
  EXPECT_EQ(version.out, "toy-bigram, compiled by weft 0.1.0\n");
}

TEST_F(TrainTest, nonFiniteGradientEndsTheRunWithoutAnUpdate) {
  for (const char *fault : {"num:inf@step=3", "num:nan@step=3,param=^ta"}) {
    environment = {std::string("WEFT_FAULT=") + fault};
    std::filesystem::remove_all(path("ck"));
    auto run = train({"--steps", "5", "--save-dir", "ck", "--save-every", "1"});
    expectError(
        run, 6,
        "step 3: expects finite gradients, but the gradient of 'table' is not "
        "(element 0); nothing was updated\n"
        "hint: a smaller --lr, a --warmup or --clip 1 keeps a run "
        "finite; compile with --debug-nan to name the op that makes "
        "the first value that is not finite\n");
    EXPECT_EQ(list("ck"), (Args{"step_00000001", "step_00000002"}));
  }
}

TEST_F(TrainTest, unknownFaultIsAUsageError) {
  environment = {"WEFT_FAULT=num:inf@step=3,param=^able"};
  expectError(train({"--steps", "5"}), 2,
              "WEFT_FAULT expects a parameter that is trained and matches "
              "'^able', but the program has none\n");
  environment = {"WEFT_FAULT=num:inf@step=1,param=(x,y|b)l"};
  expectError(train({"--steps", "5"}), 6,
              "step 1: expects finite gradients, but the gradient of 'table'");
  environment = {"WEFT_FAULT=arena:poison=3"};
  expectError(train({"--steps", "5"}), 2,
              "WEFT_FAULT expects a fault such as crash@step=3 or "
              "num:inf@step=2,5-7,param=REGEX, but got 'arena:poison=3'\n");
  environment = {"WEFT_FAULT=crash@stop=3"};
  expectError(train({"--steps", "5"}), 2,
              "WEFT_FAULT expects a fault such as crash@step=3 or "
              "num:inf@step=2,5-7,param=REGEX, but got 'crash@stop=3'\n");
}
