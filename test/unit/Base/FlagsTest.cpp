//===- FlagsTest.cpp - The flag table -------------------------------------===//

#include "weft/Base/Flags.h"

#include "TestSupport.h"

using namespace weft;

static const double inf = std::numeric_limits<double>::infinity();

static FlagTable table() {
  return FlagTable({
      {"output", FlagKind::String, DriverFlag, "", "FILE",
       "where the program goes", "", -inf, inf, "o"},
      {"precision", FlagKind::Enum, CompileFlag, "f32", "", "element type",
       "f32|f16|bf16"},
      {"nesterov", FlagKind::Switch, CompileFlag, "off", "",
       "nesterov momentum"},
      {"memory-limit", FlagKind::Bytes, CompileFlag, "", "BYTES",
       "most memory"},
      {"ignore-field", FlagKind::List, CompileFlag, "", "NAME",
       "config field to pass over"},
      {"steps", FlagKind::Int, RunFlag, "100", "N", "total steps", "", 1},
      {"lr", FlagKind::Double, RunFlag, "0.001", "X", "learning rate", "", 0},
      {"val-fraction", FlagKind::Double, RunFlag, "", "X", "part held out", "",
       0, 1},
      {"clip", FlagKind::Double, RunFlag, "", "X", "largest norm", "", -inf,
       10},
  });
}
static Expected<FlagValues> parse(std::vector<std::string> args,
                                  FlagParseOptions options = {}) {
  return table().parse(args, options);
}

TEST(Flags, BothSpellingsAndDefaults) {
  auto values = parse(
      {"model", "--steps", "3", "--lr=-0", "-o", "g", "--nesterov", "more"});
  ASSERT_EQ(errorOf(values), "ok");
  EXPECT_EQ(values->getInt("steps"), 3);
  EXPECT_EQ(values->getDouble("lr"), 0.0);
  EXPECT_EQ(values->getString("output"), "g");
  EXPECT_TRUE(values->getSwitch("nesterov"));
  EXPECT_EQ(values->getString("precision"), "f32");
  EXPECT_TRUE(values->isSet("steps"));
  EXPECT_FALSE(values->isSet("precision"));
  EXPECT_TRUE(values->hasValue("precision"));
  EXPECT_FALSE(values->hasValue("memory-limit"));
  EXPECT_EQ(values->getBytes("memory-limit", 7), 7);
  EXPECT_EQ(values->getDouble("clip", 1.5), 1.5);
  EXPECT_EQ(values->positionals(), (std::vector<std::string>{"model", "more"}));
  auto defaults = parse({});
  EXPECT_EQ(defaults->getInt("steps"), 100);
  EXPECT_FALSE(defaults->getSwitch("nesterov"));
}

TEST(Flags, Values) {
  EXPECT_EQ(parse({"--memory-limit=64M"})->getBytes("memory-limit"), 64 << 20);
  EXPECT_FALSE(parse({"--nesterov=off"})->getSwitch("nesterov"));
  EXPECT_TRUE(parse({"--nesterov=on"})->getSwitch("nesterov"));
  EXPECT_EQ(parse({"--clip", "-1"})->getDouble("clip"), -1.0);
  EXPECT_EQ(parse({"--output", "-"})->getString("output"), "-");
  EXPECT_EQ(parse({"--output=a=b"})->getString("output"), "a=b");
  EXPECT_EQ(parse({"--ignore-field", "a,b", "--ignore-field=c"})
                ->getList("ignore-field"),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(parse({"--", "--steps"})->positionals(),
            (std::vector<std::string>{"--steps"}));
  const char *argv[] = {"--steps", "5"};
  EXPECT_EQ(table().parse({argv, argv + 2})->getInt("steps"), 5);
}

TEST(Flags, SwitchesAreTurnedOffByNo) {
  EXPECT_FALSE(parse({"--no-nesterov"})->getSwitch("nesterov"));
  EXPECT_TRUE(parse({"--no-nesterov"})->isSet("nesterov"));
  EXPECT_EQ(parse({"--no-nesterov"})->canonical(CompileFlag),
            (std::vector<std::string>{"--nesterov=off"}));
  EXPECT_EQ(errorOf(parse({"--no-nesterov=on"})),
            "2|flag '--no-nesterov' expects no value, but got 'on'");
  EXPECT_EQ(errorOf(parse({"--nesterov", "--no-nesterov"})),
            "2|flag '--nesterov' is given twice: 'on' and 'off'");
  // Only switches: a number or a file has no opposite.
  EXPECT_EQ(errorOf(parse({"--no-steps"})).substr(0, 27),
            "2|unknown flag '--no-steps'");
  EXPECT_EQ(errorOf(parse({"--no-"})).substr(0, 22), "2|unknown flag '--no-'");
  FlagParseOptions runOnly;
  runOnly.groups = RunFlag;
  EXPECT_EQ(errorOf(parse({"--no-nesterov"}, runOnly)),
            "2|flag '--nesterov' is a compile flag and has no effect here|"
            "weft compile and weft train take it");
}

// A default that needs no flag is shown only where it is on.
TEST(Flags, SwitchesThatAreOn) {
  FlagTable table({{"shuffle", FlagKind::Switch, RunFlag, "on", "", "order"},
                   {"clear", FlagKind::Switch, RunFlag, "off", "", "empty"}});
  EXPECT_TRUE(table.parse({})->getSwitch("shuffle"));
  EXPECT_FALSE(table.parse({"--no-shuffle"})->getSwitch("shuffle"));
  EXPECT_EQ(table.help(), "run flags:\n"
                          "  --shuffle                   order [on]\n"
                          "  --clear                     empty\n");
  EXPECT_EQ(table.markdown(), "### run flags\n\n| flag | default | meaning "
                              "|\n|---|---|---|\n"
                              "| `--shuffle` | `on` | order |\n"
                              "| `--clear` |  | empty |\n");
}

// A flag of its own keeps its meaning.
TEST(Flags, NoIsAlsoAPartOfNames) {
  FlagTable table({
      {"graph", FlagKind::Switch, RunFlag, "", "", "graph"},
      {"no-graph", FlagKind::Switch, RunFlag, "", "", "no graph"},
  });
  auto values = table.parse({"--no-graph"});
  ASSERT_EQ(errorOf(values), "ok");
  EXPECT_TRUE(values->getSwitch("no-graph"));
  EXPECT_FALSE(values->isSet("graph"));
}

TEST(Flags, ByteCounts) {
  int64_t bytes = 0;
  EXPECT_TRUE(parseByteCount("4K", bytes));
  EXPECT_EQ(bytes, 4096);
  EXPECT_TRUE(parseByteCount("2G", bytes));
  EXPECT_EQ(bytes, int64_t(2) << 30);
  EXPECT_TRUE(parseByteCount("17", bytes));
  EXPECT_EQ(bytes, 17);
  const std::pair<const char *, int64_t> cases[] = {
      {"1.5G", int64_t(3) << 29},
      {"0.5K", 512},
      {"64MiB", 64 << 20},
      {"1.25GiB", int64_t(5) << 28},
      {"1T", int64_t(1) << 40},
      {"2TiB", int64_t(2) << 40},
      {"1KB", 1000},
      {"1kB", 1000},
      {"1.5MB", 1'500'000},
      {"80GB", 80'000'000'000},
      {"1TB", 1'000'000'000'000},
      {"0.0009K", 0}, // rounded down
      {"0.3K", 307},
      {"0.999999T", 1'099'510'528'264},
      {"8388607.999999T", 9'223'372'036'853'676'296},
  };
  for (const auto &[text, count] : cases) {
    EXPECT_TRUE(parseByteCount(text, bytes)) << text;
    EXPECT_EQ(bytes, count) << text;
  }
  for (const char *text : {"",
                           "K",
                           "1k",
                           "-1",
                           "1.5",
                           "1.G",
                           ".5G",
                           "1.2.3G",
                           "1 K",
                           "1KIB",
                           "1mb",
                           "1Gb",
                           "1B",
                           "1.0000001G",
                           "8589934592G",
                           "8388608T",
                           "99999999999999999999",
                           "0x1K",
                           "+1K",
                           "1e3K"})
    EXPECT_FALSE(parseByteCount(text, bytes)) << text;
}

TEST(Flags, UnknownNamesTheNearest) {
  EXPECT_EQ(errorOf(parse({"--stpes=3"})),
            "2|unknown flag '--stpes'|the nearest flag is '--steps'; 'weft "
            "--help' lists all");
  // No guess where most of the letters differ.
  for (const char *flag : {"-x", "--x", "--lx-rate", "--batches", "--mem"})
    EXPECT_EQ(errorOf(parse({flag})), "2|unknown flag '" + std::string(flag) +
                                          "'|run 'weft --help' for the flags");
  EXPECT_EQ(errorOf(parse({"-steps", "3"})),
            "2|unknown flag '-steps'|weft writes it '--steps'");
  EXPECT_EQ(errorOf(parse({"--val_fraction=1"})),
            "2|unknown flag '--val_fraction'|weft writes it '--val-fraction'");
  FlagParseOptions runOnly;
  runOnly.groups = RunFlag;
  runOnly.program = "./g";
  EXPECT_EQ(errorOf(parse({"--precisoin=f16"}, runOnly)),
            "2|unknown flag '--precisoin'|run './g --help' for the flags");
  EXPECT_EQ(errorOf(FlagTable().parse({"--x"})),
            "2|unknown flag '--x'|run 'weft --help' for the flags");
  EXPECT_NE(errorOf(parse({"--=3"})), "ok");
}

TEST(Flags, FlagsOfAnotherGroup) {
  FlagParseOptions runOnly;
  runOnly.groups = RunFlag;
  runOnly.program = "./g";
  EXPECT_EQ(errorOf(parse({"--precision=f16"}, runOnly)),
            "2|flag '--precision' is a compile flag and has no effect here|"
            "weft compile and weft train take it");
  EXPECT_EQ(errorOf(parse({"-o", "x"}, runOnly)),
            "2|flag '--output' is a flag of weft compile and has no effect "
            "here|weft compile takes it");
  FlagParseOptions compileOnly;
  compileOnly.groups = CompileFlag;
  EXPECT_EQ(errorOf(parse({"--steps=1"}, compileOnly)),
            "2|flag '--steps' is a run flag and has no effect here|"
            "./PROGRAM --steps=1 takes it, and so does weft train");
}

// A command with a flag that is nearly spelt like one of weft compile.
TEST(Flags, OwnFlagsComeBeforeThoseOfWeftCompile) {
  FlagTable table({{"outputs", FlagKind::String, DriverFlag, "", "FILE", "x"}});
  FlagParseOptions options;
  options.program = "weft-interp";
  EXPECT_EQ(errorOf(table.parse({"-o", "F"}, options)),
            "2|unknown flag '-o'|the nearest flag is '--outputs'; 'weft-interp "
            "--help' lists all");
  EXPECT_EQ(errorOf(FlagTable().parse({"-o", "F"}, options)),
            "2|flag '--output' is a flag of weft compile and has no effect "
            "here|weft compile takes it");
}

TEST(Flags, ValuesBehindSwitches) {
  FlagParseOptions options;
  options.maxPositionals = 0;
  EXPECT_EQ(errorOf(parse({"--nesterov", "True"}, options)),
            "2|unexpected argument 'True'|write --nesterov=on");
  EXPECT_EQ(errorOf(parse({"--nesterov", "maybe"}, options)),
            "2|unexpected argument 'maybe'|run 'weft --help' for the usage");
  EXPECT_EQ(errorOf(parse({"--steps", "3", "no"}, options)),
            "2|unexpected argument 'no'|run 'weft --help' for the usage");
}

TEST(Flags, SwitchesOfOtherToolsThatAreTurnedOff) {
  const std::pair<const char *, const char *> cases[] = {
      {"--no-wandb", "leave it out: only '--metrics' turns it on"},
      {"--no_bf16", "leave it out: only '--precision=bf16' turns it on"},
      {"--no-compile", "weft has none; every program is compiled"},
      {"--no-shuffle-data", "weft's flag is '--no-shuffle'"},
      {"--no-cuda",
       "weft's flag is '--target=cpu'; the default; it is a compile "
       "flag: weft compile and weft train take it"},
      {"--no_nesterov", "weft writes it '--no-nesterov'"},
      {"--no-banana", "run 'weft --help' for the flags"},
  };
  for (const auto &[flag, hint] : cases)
    EXPECT_EQ(errorOf(parse({flag})),
              "2|unknown flag '" + std::string(flag) + "'|" + hint);
  const std::map<std::string, std::string> compiled = {{"precision", "bf16"}};
  FlagParseOptions program;
  program.groups = RunFlag;
  program.compiledWith = &compiled;
  EXPECT_EQ(errorOf(parse({"--no-bf16"}, program)),
            "2|unknown flag '--no-bf16'|the program was compiled with "
            "--precision=bf16, weft compile MODEL makes one without it");
}

TEST(Flags, BadValues) {
  EXPECT_EQ(errorOf(parse({"--steps=0"})),
            "2|flag '--steps' expects an integer of at least 1, but got '0'");
  EXPECT_EQ(errorOf(parse({"--steps=9223372036854775808"})),
            "2|flag '--steps' expects an integer of at most "
            "9223372036854775807, but got '9223372036854775808'");
  for (const char *text :
       {"", "x", "3x", " 3", "1.5", "-99999999999999999999", "0x10"})
    EXPECT_EQ(errorOf(parse({"--steps=" + std::string(text)})),
              "2|flag '--steps' expects an integer of at least 1, but got '" +
                  std::string(text) + "'");
  for (const char *text :
       {"", "x", "nan", "infinity", "0x1p3", " 1", "1e999", "1e", "--1"})
    EXPECT_EQ(
        errorOf(parse({"--val-fraction=" + std::string(text)})),
        "2|flag '--val-fraction' expects a number from 0 to 1, but got '" +
            std::string(text) + "'");
  EXPECT_EQ(errorOf(parse({"--clip=11"})),
            "2|flag '--clip' expects a number of at most 10, but got '11'");
  EXPECT_EQ(errorOf(parse({"--precision=f31"})),
            "2|flag '--precision' expects f32, f16 or bf16, but got 'f31'");
  EXPECT_EQ(errorOf(parse({"--precision=f32|f16"})),
            "2|flag '--precision' expects f32, f16 or bf16, but got 'f32|f16'");
  EXPECT_EQ(errorOf(parse({"--nesterov=maybe"})),
            "2|flag '--nesterov' expects on or off, but got 'maybe'");
  EXPECT_EQ(errorOf(parse({"--memory-limit=lots"})),
            "2|flag '--memory-limit' expects a number of bytes such as 512K, "
            "1.5G, 64MiB or 2GB, but "
            "got 'lots'");
  EXPECT_EQ(errorOf(parse({"--output="})),
            "2|flag '--output' expects a value, but got ''");
  EXPECT_EQ(
      errorOf(parse({"--steps"})),
      "2|flag '--steps' expects an integer of at least 1, but got nothing");
  EXPECT_EQ(errorOf(parse({"--output", "--steps", "3"})),
            "2|flag '--output' expects a value, but got nothing");
}

TEST(Flags, TwiceIsAnError) {
  EXPECT_EQ(errorOf(parse({"--lr=1", "--lr", "2"})),
            "2|flag '--lr' is given twice: '1' and '2'");
  EXPECT_EQ(errorOf(parse({"-o", "a", "--output=a"})),
            "2|flag '--output' is given twice: 'a' and 'a'");
}

TEST(Flags, PositionalsAndPassThrough) {
  FlagParseOptions options;
  options.maxPositionals = 1;
  options.passThroughPrefix = "mlir-";
  options.program = "weft compile";
  auto values =
      parse({"m", "--mlir-timing", "--mlir-print-ir-after=x"}, options);
  ASSERT_EQ(errorOf(values), "ok");
  EXPECT_EQ(
      values->passThrough(),
      (std::vector<std::string>{"--mlir-timing", "--mlir-print-ir-after=x"}));
  EXPECT_EQ(
      errorOf(parse({"m", "n"}, options)),
      "2|unexpected argument 'n'|run 'weft compile --help' for the usage");
  EXPECT_NE(errorOf(parse({"--mlir-timing"})), "ok");
}

TEST(Flags, CanonicalTextIsInTableOrder) {
  auto a = parse({"--nesterov", "--precision", "f16", "--steps=3"});
  auto b = parse({"--precision=f16", "--steps", "3", "--nesterov=on"});
  EXPECT_EQ(a->canonical(CompileFlag),
            (std::vector<std::string>{"--precision=f16", "--nesterov=on"}));
  EXPECT_EQ(a->canonical(AllFlags), b->canonical(AllFlags));
}

TEST(Flags, WithAndWithout) {
  auto given = parse({"--precision=f16", "m"});
  FlagValues more = given->with("steps", "4");
  EXPECT_EQ(more.getInt("steps"), 4);
  EXPECT_TRUE(more.isSet("steps"));
  EXPECT_EQ(more.positionals(), given->positionals());
  EXPECT_EQ(more.with("steps", "5").getInt("steps"), 5);
  EXPECT_EQ(more.without("steps").canonical(AllFlags),
            given->canonical(AllFlags));
  EXPECT_EQ(more.without("precision").getText("precision"), "f32");
  EXPECT_FALSE(more.without("precision").isSet("precision"));
  EXPECT_TRUE(given->isSet("precision"));
}

TEST(Flags, HelpHasAShortName) {
  FlagTable table({helpFlag(RunFlag)});
  for (const char *flag : {"-h", "--help"})
    EXPECT_TRUE(table.parse({flag})->getSwitch("help")) << flag;
  EXPECT_EQ(table.help(), "run flags:\n  -h, --help                  show this "
                          "text\n");
}

TEST(Flags, Help) {
  EXPECT_EQ(table().help(DriverFlag | CompileFlag),
            "driver flags:\n"
            "  -o, --output FILE           where the program goes\n"
            "\n"
            "compile flags:\n"
            "  --precision=f32|f16|bf16    element type [f32]\n"
            "  --nesterov                  nesterov momentum\n"
            "  --memory-limit BYTES        most memory\n"
            "  --ignore-field NAME         config field to pass over\n");
  FlagTable wide({{"a-flag-with-a-long-name", FlagKind::Int, RunFlag, "",
                   "NUMBER", "help"}});
  EXPECT_EQ(wide.help(), "run flags:\n  --a-flag-with-a-long-name NUMBER\n"
                         "                              help\n");
}

TEST(Flags, Markdown) {
  EXPECT_EQ(table().markdown(CompileFlag),
            "### compile flags\n\n| flag | default | meaning |\n|---|---|---|\n"
            "| `--precision=f32\\|f16\\|bf16` | `f32` | element type |\n"
            "| `--nesterov` |  | nesterov momentum |\n"
            "| `--memory-limit BYTES` |  | most memory |\n"
            "| `--ignore-field NAME` |  | config field to pass over |\n");
}

TEST(Flags, MistakesInTheTable) {
  EXPECT_EQ(errorOf(table().checkTable()), "ok");
  auto check = [](FlagSpec spec) {
    FlagTable all = table();
    all.add({spec});
    return errorOf(all.checkTable());
  };
  EXPECT_EQ(check({"steps", FlagKind::Int, RunFlag, "", "N", "x"}),
            "70|flag table: '--steps' appears twice");
  EXPECT_EQ(check({"Bad", FlagKind::Int, RunFlag, "", "N", "x"}),
            "70|flag table: '--Bad' is not in kebab-case");
  EXPECT_EQ(
      check({"p", FlagKind::Int, RunFlag, "", "N", "x", "", -inf, inf, "o"}),
      "70|flag table: '--p' has the short name of another flag");
  EXPECT_EQ(check({"p", FlagKind::Enum, RunFlag, "", "N", "x"}),
            "70|flag table: '--p' has choices and is no enum, or the reverse");
  EXPECT_EQ(check({"p", FlagKind::Int, RunFlag, "x", "N", "x"}),
            "70|flag table: '--p' has a default that it would refuse");
  EXPECT_EQ(check({"p", FlagKind::Int, RunFlag, "", "N", "Ends with one."}),
            "70|flag table: '--p' needs one line of help without a period at "
            "the end");
}

TEST(FlagsDeathTest, AskingForWhatIsNotThereIsAMistakeInTheProgram) {
  auto values = parse({});
  EXPECT_EXIT(values->getInt("no"), ::testing::ExitedWithCode(70),
              "no flag '--no' in the table");
  EXPECT_EXIT(values->getInt("lr"), ::testing::ExitedWithCode(70),
              "'--lr' is of another kind");
}
