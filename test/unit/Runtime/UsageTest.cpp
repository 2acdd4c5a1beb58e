//===- UsageTest.cpp - Every wrong command line and every bad input -------===//

#include "ToyTool.h"

using namespace weft;

using UsageTest = ToyTest;

TEST_F(UsageTest, flagsThatDoNotFitTogether) {
  struct Case {
    Args args;
    std::string message;
  };
  const Case cases[] = {
      {{"--foo"}, "unknown flag '--foo'\n"},
      {{"extra"}, "unexpected argument 'extra'\n"},
      {{"--shuffle", "True"},
       "unexpected argument 'True'\nhint: write --shuffle=on\n"},
      {{"--keep-best", "no"},
       "unexpected argument 'no'\nhint: write --keep-best=off\n"},
      {{"--no_shuffle"},
       "unknown flag '--no_shuffle'\nhint: weft writes it '--no-shuffle'\n"},
      {{"--target"},
       "flag '--target' is a compile flag and has no effect here"},
      {{"--lr", "abc"},
       "flag '--lr' expects a number from 0 to 1e+30, but got"},
      {{}, "expects --steps N, the number of optimizer steps\n"},
      {{"--steps", "0"}, "--steps expects at least 1, but got 0\n"},
      {{"--steps", "3"}, "expects --data FILE\n"},
      {{"--epochs", "3"}, "expects --data FILE\n"},
      {{"--epochs", "0"},
       "flag '--epochs' expects an integer from 1 to 1e+15, but got '0'\n"},
      {{"--steps", "3", "--epochs", "3"},
       "expects --steps or --epochs, but got both\n"},
      {{"--eval-only", "--val-data", "text.txt", "--epochs", "2"},
       "--epochs expects a run that trains, not --eval-only\n"},
      {{"--loopback", "2"},
       "--loopback expects 1 for a program of one rank, but got 2\n"},
      {{"--tuning", "t.json", "--steps", "3", "--data", "text.txt"},
       "--tuning expects a program for CUDA devices, but got one for "
       "--target=cpu\n"},
      {{"--no-graph", "--steps", "3", "--data", "text.txt"},
       "--no-graph expects a program for CUDA devices, but got one for "
       "--target=cpu\n"},
      {{"--timeout", "2"},
       "--timeout expects a program of several ranks or --generate: one rank "
       "waits for a tokenizer only\n"},
      {{"--val-data", "a", "--val-fraction", "0.5"},
       "expects --val-data or --val-fraction, but got both\n"},
      {{"--eval-every", "2"},
       "--eval-every expects --val-data or --val-fraction\n"},
      {{"--eval-steps", "2"},
       "--eval-steps expects --val-data or --val-fraction\n"},
      {{"--save-every", "2"}, "--save-every expects --save-dir\n"},
      {{"--keep", "2"}, "--keep expects --save-dir\n"},
      {{"--stop-after", "2"}, "--stop-after expects --save-dir\n"},
      {{"--init-from", "w", "--resume", "ck"},
       "--init-from expects a run that does not resume\n"},
      {{"--min-lr", "1e-5"},
       "--min-lr expects an --lr-schedule that is not constant\n"},
      {{"--lr-decay-steps", "9"},
       "--lr-decay-steps expects an --lr-schedule that is not constant\n"},
      {{"--max-new-tokens", "5"}, "--max-new-tokens expects --generate\n"},
      {{"--temperature", "0"}, "--temperature expects --generate\n"},
      {{"--top-k", "5"}, "--top-k expects --generate\n"},
      {{"--generate", "a", "--lr", "3"},
       "--lr expects a run that trains (--steps above 0)\n"},
      {{"--generate", "a", "--data", "text.txt"},
       "--data expects a run that trains (--steps above 0), evaluates or "
       "predicts\n"},
      {{"--predictions", "p", "--data", "text.txt", "--steps", "3"},
       "--steps expects a run without --predictions\n"},
      {{"--predictions", "p", "--data", "text.txt", "--generate", "a"},
       "--generate expects a run without --predictions\n"},
      {{"--predictions", "p", "--data", "text.txt", "--metrics", "m"},
       "--metrics expects a run that trains (--steps above 0) or evaluates\n"},
      {{"--predictions", "p", "--val-data", "text.txt"},
       "--val-data expects a run that trains (--steps above 0) or "
       "evaluates\n"},
      {{"--predictions", "p"}, "expects --data FILE\n"},
      {{"--predictions", "p", "--data", "text.txt"},
       "expects a program with results for rows, but this one "
       "has none\nhint: weft compile MODEL --predict adds them, weft predict "
       "MODEL compiles a model with them\n"},
      {{"--eval-only", "--val-data", "text.txt", "--warmup", "2"},
       "--warmup expects a run that trains (--steps above 0)\n"},
      {{"--eval-only", "--val-data", "text.txt", "--shuffle"},
       "--shuffle expects a run that trains (--steps above 0)\n"},
      {{"--generate", "a", "--metrics", "m"},
       "--metrics expects a run that trains (--steps above 0) or evaluates\n"},
      {{"--generate", "a", "--steps", "0", "--trace", "t"},
       "--trace expects a run that trains (--steps above 0)\n"},
      {{"--generate", "a", "--dump-grads", "g"},
       "--dump-grads expects a run that trains (--steps above 0)\n"},
      {{"--generate", "a", "--save-dir", "ck"},
       "--save-dir expects a run that trains (--steps above 0)\n"},
      {{"--generate", "a", "--save-dir", "ck", "--resume", "auto",
        "--save-every", "2"},
       "--save-every expects a run that trains (--steps above 0)\n"},
      {{"--generate", "a", "--save-dir", "ck", "--resume", "auto", "--keep",
        "2"},
       "--keep expects a run that trains (--steps above 0)\n"},
      {{"--generate", "a", "--save-dir", "ck", "--resume", "auto",
        "--stop-after", "2"},
       "--stop-after expects a run that trains (--steps above 0)\n"},
      {{"--threads", "1025"},
       "flag '--threads' expects an integer from 0 to 1024, but got '1025'\n"},
      {{"--resume", "auto"}, "--resume=auto expects --save-dir\n"},
      {{"--resume", "must"}, "--resume=must expects --save-dir\n"},
      {{"--steps", "5", "--data", "text.txt", "--lr-schedule", "cosine",
        "--warmup", "5"},
       "--warmup expects less than --steps=5, but got 5\nhint: no step "
       "would follow the warmup\n"},
      {{"--steps", "5", "--data", "text.txt", "--warmup", "6"},
       "--warmup expects less than --steps=5, but got 6\n"},
      {{"--steps", "5", "--data", "text.txt", "--lr-schedule", "linear",
        "--warmup", "3", "--lr-decay-steps", "3"},
       "--warmup expects less than --lr-decay-steps=3, but got 3\n"},
      {{"--steps", "5", "--data", "text.txt", "--lr-schedule", "cosine", "--lr",
        "1e-4", "--min-lr", "1e-3"},
       "--min-lr expects at most --lr=0.0001, but got 0.001\nhint: --lr is the "
       "learning rate after the warmup, --min-lr the one at the end\n"},
      {{"--steps", "5", "--data", "text.txt", "--momentum", "0.9"},
       "--momentum has no meaning for the optimizer of this program, adamw\n"},
      {{"--generate", "\xc3\xa4"},
       "--generate expects bytes below 128, but got 195\n"},
  };
  for (const Case &one : cases)
    expectError(bigram(one.args), 2, one.message);
}

TEST_F(UsageTest, compileFlagsAreOfTheCompiler) {
  auto run = bigram({"--batch", "8"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err,
            "weft: error: flag '--batch' is a compile flag and has no effect "
            "here: the program was compiled with --batch=4\nhint: weft compile "
            "MODEL --batch=8 makes a program with it\n");
  run = bigram({"--bf16"});
  EXPECT_EQ(run.err,
            "weft: error: unknown flag '--bf16'\nhint: weft's flag is "
            "'--precision=bf16'; it is a compile flag, compiled with "
            "--precision=f32: weft compile MODEL --precision=bf16 makes a "
            "program with it\n");
  run = bigram({"--optimizer=SGD"});
  EXPECT_EQ(run.err,
            "weft: error: flag '--optimizer' is a compile flag and has no "
            "effect here: the program was compiled with --optimizer=adamw\n"
            "hint: weft compile MODEL --optimizer=SGD makes a program with "
            "it\n");
}

TEST_F(UsageTest, flagsThatTheProgramCannotServe) {
  Args base = {"--data", "x", "--steps", "1"};
  auto with = [&](Args more) {
    more.insert(more.begin(), base.begin(), base.end());
    return linear(more);
  };
  expectError(with({"--accum", "2"}), 2,
              "--accum expects 1, but got 2: the program was compiled without "
              "accumulation\n");
  expectError(with({"--clip", "1"}), 2,
              "--clip expects a program that can clip, but this one was "
              "compiled without a norm\n");
  expectError(with({"--beta1", "0.8"}), 2,
              "--beta1 has no meaning for the optimizer of this program, sgd");
  expectError(with({"--data-format", "u16"}), 2,
              "--data-format expects a language model, but got 'toy-linear'\n");
  expectError(with({"--tokenizer", "bytes"}), 2,
              "--tokenizer expects a language model, but got 'toy-linear'\n");
  expectError(linear({"--generate", "a"}), 2,
              "--generate expects a language model, but got 'toy-linear'\n");
}

TEST_F(UsageTest, badTokenFiles) {
  auto run = [&](const Args &more) {
    Args args = {"--steps", "1", "--save-dir", "ck", "--metrics", "m"};
    args.insert(args.end(), more.begin(), more.end());
    auto result = bigram(args);
    EXPECT_FALSE(exists("ck") || exists("m")) << "something was written";
    return result;
  };
  write("empty", "");
  write("short", std::string(32, 'a'));
  write("row", std::string(8, 'a'));
  write("accent", std::string(50, 'a') + "\xc3\xa4" + std::string(50, 'a'));
  expectError(run({"--data", "none"}), 3,
              "none: cannot open: no such file or directory\n");
  expectError(run({"--data", "empty"}), 3,
              "empty: expects tokens, but the file is empty\n");
  expectError(run({"--data", "short"}), 3,
              "short: expects at least one batch of training data, 4 x 8 + 1 = "
              "33 tokens, but got 32\n");
  expectError(run({"--data", "accent"}), 3,
              "accent: token 195 at position 50 is not below the vocabulary "
              "size 128\n");
  expectError(run({"--data", "text.txt", "--val-data", "accent"}), 3,
              "accent: token 195 at position 50");
  // One row is enough: a batch is filled with copies of it.
  expectError(run({"--data", "text.txt", "--val-data", "row"}), 3,
              "row: expects at least one row of validation data, ");
  expectError(run({"--data", "text.txt", "--val-fraction", "0.002"}), 3,
              "text.txt: expects at least one row of validation data (the "
              "tail of the file), 1 x 8 + 1 = 9 tokens, but got 5\n");
}

TEST_F(UsageTest, outputsThatCannotBeWritten) {
  expectError(train({"--steps", "1", "--save-dir", "/proc/ck"}), 8,
              "/proc/ck: cannot create the directory: ");
  expectError(train({"--steps", "1", "--save-dir", "/proc"}), 8, "/proc");
  expectError(train({"--steps", "1", "--metrics", "/proc/m"}), 8,
              "/proc/m: cannot create: ");
  expectError(train({"--steps", "1", "--trace", "/proc/t"}), 8,
              "/proc/t: cannot create: ");
  expectError(train({"--steps", "1", "--dump-grads", "/proc/g"}), 8,
              "/proc/g: cannot create: ");
}

TEST_F(UsageTest, outputsThatAreInputs) {
  std::filesystem::create_symlink(path("text.txt"), path("link"));
  write("val.txt", read("text.txt"));
  std::filesystem::copy_file(TOY_BIGRAM, path("program"));
  const std::string before = read("text.txt");
  for (const char *flag : {"--metrics", "--trace", "--dump-grads"}) {
    for (const char *file : {"text.txt", "./text.txt", "link"})
      expectError(train({"--steps", "1", flag, file}), 2,
                  std::string(file) + ": " + flag +
                      " expects a file of its own, but got the file of --data, "
                      "'text.txt'\n");
    expectError(
        train({"--steps", "1", "--val-data", "val.txt", flag, "val.txt"}), 2,
        "val.txt: ");
    // A copy: a program that is wrong here must not spoil the one of all tests.
    expectError(finish(start(path("program"), {"--data", "text.txt", "--steps",
                                               "1", flag, "program"})),
                2, std::string("program: ") + flag);
  }
  expectError(train({"--steps", "1", "--metrics", "m", "--trace", "./m"}), 2,
              "./m: --trace expects a file of its own, but got the file of "
              "--metrics, 'm'\n");
  EXPECT_FALSE(exists("m"));
  expectError(train({"--steps", "1", "--overwrite"}), 2,
              "--overwrite expects --metrics, --trace, --dump-grads, "
              "--predictions or --tune\n");
  EXPECT_EQ(read("text.txt"), before);
  EXPECT_EQ(
      train({"--steps", "1", "--metrics", "/dev/null", "--trace", "/dev/null"})
          .status,
      0);
}

TEST_F(UsageTest, outputsInsideACheckpoint) {
  ASSERT_EQ(train({"--steps", "1", "--save-dir", "ck"}).status, 0);
  const std::string file = "ck/step_00000001/rank_00000.safetensors";
  const std::string before = read(file);
  expectError(train({"--steps", "2", "--metrics", file}), 2,
              file + ": --metrics expects a file outside of checkpoints\n");
  EXPECT_EQ(read(file), before);
  expectError(train({"--steps", "2", "--metrics", "ck/.lock"}), 2,
              "ck/.lock: --metrics expects another name than .lock, which save "
              "directories use\n");
}

TEST_F(UsageTest, countsNearTheLimit) {
  for (const char *flag : {"--steps", "--accum", "--stop-after", "--warmup",
                           "--lr-decay-steps", "--save-every", "--keep",
                           "--log-every", "--eval-every", "--eval-steps"})
    for (const char *value :
         {"9223372036854775807", "9223372036854775808", "1000000000000001"})
      expectError(bigram({flag, value}), 2,
                  std::string("flag '") + flag + "' expects an integer ");
  expectError(train({"--steps", "1000000000000000", "--accum", "1000000"}), 2,
              "--steps expects at most 2^62 rows of data with "
              "--accum=1000000 and batch 4, but got 1000000000000000 steps\n");
}

TEST_F(UsageTest, namesDoNotReachTheTerminalRaw) {
  ToolResult result = bigram({"--steps", "1", "--data", "\x1b[31mred\n"});
  expectError(result, 3, "\\x1B[31mred\\x0A: ");
}
