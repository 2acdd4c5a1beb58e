//===- RunFileTest.cpp - Flags in a file ----------------------------------===//

#include "weft/Base/RunFile.h"
#include "weft/Base/FlagNames.h"

#include "TestSupport.h"

using namespace weft;

namespace {

/// The flags of weft train.
FlagTable trainTable() {
  FlagTable table(compileFlags());
  table.add(runFlagSpecs());
  return table;
}

class RunFile : public ::testing::Test {
protected:
  Expected<FlagValues> parse(const std::string &toml,
                             std::vector<std::string> args = {}) {
    args.push_back("--config=" + directory.write("run.toml", toml));
    return trainTable().parse(args);
  }
  /// The error without the folder, or "ok".
  std::string error(const std::string &toml) {
    std::string text = errorOf(parse(toml));
    const std::string folder = directory.path() + "/";
    for (size_t at; (at = text.find(folder)) != text.npos;)
      text.erase(at, folder.size());
    return text;
  }
  std::string text(const std::string &toml, const std::string &flag) {
    auto flags = parse(toml);
    return flags ? flags->getText(flag) : errorOf(flags);
  }

  TempDir directory;
};

TEST_F(RunFile, valuesOfEveryKind) {
  auto flags = parse("batch = 8\nclip = 1.0\nshuffle = false\n"
                     "ignore-field = [\"a\", \"b\"]\nlr = 1e-3\n"
                     "memory-limit = \"8G\"\n[optimizer]\noptimizer = 'sgd'\n"
                     "nesterov = true\nclip-norm = 2\n[memory]\n"
                     "recompute = \"every:2\"\n");
  ASSERT_EQ(errorOf(flags), "ok");
  EXPECT_EQ(flags->canonical(CompileFlag),
            (std::vector<std::string>{"--batch=8", "--ignore-field=a,b",
                                      "--optimizer=sgd", "--nesterov=on",
                                      "--clip-norm=2", "--recompute=every:2",
                                      "--memory-limit=8G"}));
  EXPECT_EQ(
      flags->canonical(RunFlag),
      (std::vector<std::string>{"--shuffle=off", "--lr=1e-3", "--clip=1.0"}));
}

/// A number is spelled as in the file, as on a command line: programs that
/// differ in nothing else are equal.
TEST_F(RunFile, numbersKeepTheirSpelling) {
  EXPECT_EQ(text("scaler-growth = 2.50", "scaler-growth"), "2.50");
  EXPECT_EQ(text("lr = 1E-3 # x", "lr"), "1E-3");
  EXPECT_EQ(text("lr = 1_0.5", "lr"), "10.5");
  EXPECT_EQ(text("clip = +inf", "clip"), "inf");
  EXPECT_EQ(text("batch = 0x10", "batch"), "16");
  EXPECT_EQ(text("loss-scale = 512", "loss-scale"), "512");
  EXPECT_EQ(text("# \xc3\xa4\r\nlr = 0.25\r\n", "lr"), "0.25");
  EXPECT_EQ(text("reshard = false", "reshard"), "off");
  EXPECT_EQ(text("precision = 'BF16'", "precision"), "bf16");
}

TEST_F(RunFile, theCommandLineWins) {
  auto flags =
      parse("lr = 0.1\nsteps = 9\nval-fraction = 0.5\nclip = 2.0\n"
            "add-pass = ['a:b', 'c:d']",
            {"--lr=0.2", "--epochs=3", "--val-data=x", "--add-pass=e:f"});
  ASSERT_EQ(errorOf(flags), "ok");
  EXPECT_EQ(flags->getText("lr"), "0.2");
  EXPECT_EQ(flags->getText("add-pass"), "e:f");
  EXPECT_FALSE(flags->isSet("steps"));
  EXPECT_FALSE(flags->isSet("val-fraction"));
  EXPECT_EQ(flags->originText("lr"), "command line");
  EXPECT_EQ(flags->originText("clip"), directory.file("run.toml") + ":4");
  EXPECT_EQ(flags->originText("beta1"), "default");
}

TEST_F(RunFile, errorsHaveAPlace) {
  EXPECT_EQ(error("lr = 1\nbatchs = 8"),
            "2|run.toml:2:1: unknown flag 'batchs'|the nearest flag is "
            "'--batch'; 'weft --help-all' lists all");
  EXPECT_EQ(error("learning_rate = 1"),
            "2|run.toml:1:1: unknown flag 'learning_rate'|weft's flag is "
            "'--lr'");
  EXPECT_EQ(error("no-shuffle = true"),
            "2|run.toml:1:1: unknown flag 'no-shuffle'|write shuffle = false");
  EXPECT_EQ(error("batch = 0"), "2|run.toml:1:1: flag '--batch' expects an "
                                "integer of at least 1, but got '0'");
  EXPECT_EQ(error("  batch = '8'"),
            "2|run.toml:1:3: flag '--batch' expects an integer of at least 1, "
            "but got a string");
  EXPECT_EQ(error("batch = 1.5"), "2|run.toml:1:1: flag '--batch' expects an "
                                  "integer of at least 1, but got '1.5'");
  EXPECT_EQ(error("batch = [8]"),
            "2|run.toml:1:1: flag '--batch' expects an integer of at least 1, "
            "but got an array");
  EXPECT_EQ(error("lr = nan"), "2|run.toml:1:1: flag '--lr' expects a number "
                               "from 0 to 1e+30, but got 'nan'");
  EXPECT_EQ(error("precision = 'f8'"),
            "2|run.toml:1:1: flag '--precision' expects f32, f16 or bf16, but "
            "got 'f8'");
  EXPECT_EQ(error("shuffle = 1"), "2|run.toml:1:1: flag '--shuffle' expects "
                                  "true or false, but got a number");
  EXPECT_EQ(error("metrics = 5"), "2|run.toml:1:1: flag '--metrics' expects a "
                                  "string, but got a number");
  EXPECT_EQ(error("lr = 2026-01-01"),
            "2|run.toml:1:1: flag '--lr' expects a number from 0 to 1e+30, but "
            "got a date or time");
  EXPECT_EQ(error("generate = 'a\\u0000'"), "ok"); // a literal string
  EXPECT_EQ(error("generate = \"a\\u0000\""),
            "2|run.toml:1:1: flag '--generate' expects a text without NUL, but "
            "got 'a?'");
  EXPECT_EQ(error("ignore-field = ['a,b']"),
            "2|run.toml:1:1: flag '--ignore-field' expects a comma only "
            "between values, but got 'a,b' in an array|write two strings in "
            "the array");
  EXPECT_EQ(error("ignore-field = [1]"),
            "2|run.toml:1:1: flag '--ignore-field' expects a string or an "
            "array of strings, but got an array with a number");
}

TEST_F(RunFile, errorsOfTablesAndSyntax) {
  EXPECT_EQ(error("[optimiser]\nlr = 1"),
            "2|run.toml:1:1: unknown table 'optimiser'|the nearest table is "
            "[optimizer]");
  EXPECT_EQ(error("[data]\nlr = 1.0"),
            "2|run.toml:2:1: flag '--lr' expects the table [optimizer], but "
            "got [data]|a key above all tables may be any flag");
  EXPECT_EQ(error("lr = 1.0\n[optimizer]\nlr = 2.0"),
            "2|run.toml:3:1: flag '--lr' is given twice: also in line 1");
  EXPECT_EQ(error("[data.more]\nx = 1"),
            "2|run.toml:1:7: unknown flag 'more'|run 'weft --help' for "
            "the flags");
  EXPECT_EQ(error("config = 'a'"),
            "2|run.toml:1:1: flag '--config' expects the command line, but got "
            "a file|leave it out");
  EXPECT_EQ(error("lr = 1.0\nlr = 2.0").substr(0, 33),
            "3|run.toml:2:6: expects TOML, but");
  EXPECT_NE(error("data = 'x'\n[data]\n")
                .find("|a flag with the name of a "
                      "table stands in the table"),
            std::string::npos);
  for (const char *text : {"", "\n", " \t\r\n"})
    EXPECT_EQ(error(text),
              "3|run.toml:1: expects a file with flags, but got an empty one");
  EXPECT_EQ(error("# lr = 1.0  # default\n"), "ok");
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i)
    deep += ".a";
  EXPECT_EQ(error("lr = 1\n" + deep + " = 1"),
            "3|run.toml:2: expects keys of at most 256 parts");
}

/// Flags of other commands are known, and listed as unused.
TEST_F(RunFile, flagsOfOtherCommands) {
  FlagParseOptions options;
  options.groups = RunFlag;
  const std::string path =
      directory.write("run.toml", "batch = 4\nemit = 'llvm'\nlr = 0.5\n");
  auto flags = FlagTable(runFlagSpecs()).parse({"--config", path}, options);
  ASSERT_EQ(errorOf(flags), "ok");
  EXPECT_EQ(flags->canonical(AllFlags), (std::vector<std::string>{"--lr=0.5"}));
  ASSERT_EQ(flags->unusedOfFile().size(), 2u);
  EXPECT_EQ(flags->unusedOfFile()[0].name, "batch");
  EXPECT_EQ(flags->unusedOfFile()[0].place, path + ":1");
}

/// A run that evaluates leaves out the flags of training, and keeps the
/// command line.
TEST_F(RunFile, unusedFlagsOfARun) {
  auto flags = parse("steps = 9\nmetrics = 'm'\nval-data = 'v'\nseed = 3\n"
                     "save-dir = 'd'\ninit-from = 'w'\n",
                     {"--eval-only", "--resume=must", "--lr=1"});
  ASSERT_EQ(errorOf(flags), "ok");
  EXPECT_EQ(runUseOf(*flags), RunUse::Evaluate);
  const FlagValues used = withoutUnused(*flags, RunUse::Evaluate);
  EXPECT_EQ(used.canonical(RunFlag),
            (std::vector<std::string>{"--val-data=v", "--lr=1", "--seed=3",
                                      "--save-dir=d", "--resume=must",
                                      "--eval-only=on"}));
  EXPECT_EQ(withoutUnused(*flags, RunUse::Train).isSet("init-from"), false);
}

/// A run that writes predictions reads data in the order of the file.
TEST_F(RunFile, unusedFlagsOfPredictions) {
  auto flags = parse("steps = 9\nmetrics = 'm'\ndata = 'd'\nval-data = 'v'\n"
                     "shuffle = true\noverwrite = true\n",
                     {"--predictions=p"});
  ASSERT_EQ(errorOf(flags), "ok");
  EXPECT_EQ(runUseOf(*flags), RunUse::Predict);
  EXPECT_EQ(withoutUnused(*flags, RunUse::Predict).canonical(RunFlag),
            (std::vector<std::string>{"--data=d", "--predictions=p",
                                      "--overwrite=on"}));
}

/// The printed file gives the same flags.
TEST_F(RunFile, printedValuesComeBack) {
  const std::vector<std::string> args = {"--batch=+8",
                                         "--lr=.5",
                                         "--clip=inf",
                                         "--eps=1e-9",
                                         "--generate=\"\\\n\x1b\x7f\xc3\xa4",
                                         "--ignore-field=a,,b",
                                         "--no-shuffle",
                                         "--scaler-growth=2.",
                                         "--memory-limit=1.5G",
                                         "--clip-norm=3"};
  auto flags = trainTable().parse(args);
  ASSERT_EQ(errorOf(flags), "ok");
  auto printed = formatRunFile(*flags, "weft train");
  ASSERT_EQ(errorOf(printed), "ok");
  auto again = parse(*printed);
  ASSERT_EQ(errorOf(again), "ok");
  for (const FlagSpec &spec : flags->specs()) {
    if (spec.name == std::string_view("config"))
      continue;
    EXPECT_EQ(again->isSet(spec.name), flags->isSet(spec.name)) << spec.name;
    if (spec.kind == FlagKind::Double)
      EXPECT_EQ(again->getDouble(spec.name), flags->getDouble(spec.name));
    else if (spec.kind == FlagKind::Int)
      EXPECT_EQ(again->getInt(spec.name), flags->getInt(spec.name));
    else if (spec.kind == FlagKind::List)
      EXPECT_EQ(again->getList(spec.name), flags->getList(spec.name));
    else
      EXPECT_EQ(again->getText(spec.name), flags->getText(spec.name));
  }
  EXPECT_NE(printed->find("\nbatch = 8  # command line\n"), printed->npos);
  EXPECT_NE(printed->find("\n# beta1 = 0.9  # default\n"), printed->npos);
  EXPECT_NE(printed->find("\n# data = \"\"  # not set\n"), printed->npos);
  auto bad = trainTable().parse({"--data=\xff"});
  EXPECT_EQ(errorOf(formatRunFile(*bad, "weft train")),
            "2|flag '--data' expects a text in UTF-8 with --print-config, but "
            "got '?'");
}

/// A look at single flags before the command line is parsed.
TEST_F(RunFile, argumentsOfAFile) {
  const std::string path = directory.write("run.toml", "timeout = 5\n");
  EXPECT_EQ(argumentsWithFile({"--config", path}),
            (std::vector<std::string>{"--config", path, "--timeout=5"}));
  EXPECT_EQ(argumentsWithFile({"--lr=1"}), std::vector<std::string>{"--lr=1"});
  EXPECT_EQ(argumentsWithFile({"--config=/none"}),
            std::vector<std::string>{"--config=/none"});
}

} // namespace
