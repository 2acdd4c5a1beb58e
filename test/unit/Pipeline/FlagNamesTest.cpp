//===- FlagNamesTest.cpp - Flags of weft and of other tools ---------------===//

#include "weft/Base/FlagNames.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Options/CudaModels.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace weft;

static FlagTable tableOf(unsigned groups) {
  FlagTable table;
  if (groups & CompileFlag)
    table.add(compileFlags());
  if (groups & DriverFlag)
    table.add(driverFlags());
  if (groups & RunFlag)
    table.add(runFlagSpecs());
  return table;
}

TEST(FlagNames, areFound) {
  const FlagTable table = tableOf(AllFlags);
  for (const FlagSpec &spec : table.flags())
    EXPECT_EQ(findFlagName(spec.name)->kind, spec.kind) << spec.name;
  EXPECT_EQ(findFlagName("overwrite")->group, RunFlag);
  EXPECT_EQ(findFlagName("o")->name, std::string("output"));
  EXPECT_FALSE(findFlagName("h"));
  EXPECT_FALSE(findFlagName(""));
}

/// The tables have no MLIR, so they spell the names of enums out.
TEST(FlagNames, choicesAreNamesOfEnums) {
  const auto recipes = llvm::map_to_vector(
      llvm::seq_inclusive<uint64_t>(0, getMaxEnumValForCastRecipe()),
      [](uint64_t value) { return stringifyCastRecipe(CastRecipe(value)); });
  const std::pair<const char *, llvm::ArrayRef<llvm::StringRef>> names[] = {
      {"recipe", recipes},
      {"scaler", getScalerPolicyNames()},
      {"optimizer", getOptimizerNames()}};
  for (const auto &[flag, choices] : names)
    EXPECT_EQ(findFlagName(flag)->choices, llvm::join(choices, "|"));
  EXPECT_EQ(findFlagName("optimizer")->defaultText, kDefaultOptimizer);
  for (llvm::StringRef model :
       llvm::split(findFlagName("device")->choices, '|'))
    EXPECT_TRUE(findCudaModel(model)) << model.str();
}

static std::vector<std::string> namesOf(const ForeignName &entry) {
  std::vector<std::string> names = {""};
  for (const char *c = entry.names; *c; ++c)
    if (*c == '|')
      names.emplace_back();
    else
      names.back() += *c;
  return names;
}

static std::string snakeCase(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// The tables of weft train, weft compile and a compiled program.
namespace {
struct FlagPlace {
  FlagTable table;
  FlagParseOptions options;
};
} // namespace

static std::vector<FlagPlace> places() {
  static const std::map<std::string, std::string> compiled = {
      {"batch", "8"}, {"seq", "64"}, {"precision", "f32"}};
  std::vector<FlagPlace> all = {{tableOf(CompileFlag | RunFlag), {}},
                                {tableOf(CompileFlag | DriverFlag), {}},
                                {tableOf(RunFlag), {}}};
  all[2].options.compiledWith = &compiled;
  return all;
}

/// The error for `--name VALUE`: message and hint.
static std::pair<std::string, std::string>
answer(const FlagPlace &place, const std::string &name,
       const std::string &value = "4") {
  auto parsed = place.table.parse({"--" + name, value}, place.options);
  if (parsed)
    return {"accepted", ""};
  EXPECT_EQ(parsed.error().code(), ExitCode::Usage);
  return {parsed.error().message(), parsed.error().hintText()};
}

static std::string flagOf(const std::string &answer) {
  return answer.substr(0, answer.find('='));
}

/// A name is no flag of weft, and belongs to one entry alone.
TEST(ForeignFlags, namesAreNotWeftsAndStandOnce) {
  std::set<std::string> seen;
  for (const auto *list : {&foreignFlags(), &foreignCommands()}) {
    seen.clear();
    for (const ForeignName &entry : *list)
      for (const std::string &name : namesOf(entry)) {
        EXPECT_EQ(name, kebabCase(name));
        EXPECT_TRUE(seen.insert(name).second) << name << " stands twice";
        if (list == &foreignFlags() && name.find('=') == name.npos) {
          EXPECT_FALSE(findFlagName(name)) << name;
        }
        const std::string text = entry.text;
        EXPECT_TRUE(*entry.answer || !text.empty()) << name;
        EXPECT_TRUE(text.empty() || text.back() != '.') << text;
      }
  }
  EXPECT_GE(foreignFlags().size(), 60u);
}

/// The answer is a flag of weft, with a value that it takes.
TEST(ForeignFlags, answersAreFlags) {
  const FlagTable all = tableOf(AllFlags);
  for (const ForeignName &entry : foreignFlags()) {
    const std::string text = entry.answer;
    if (text.empty())
      continue;
    const FlagSpec *spec = all.find(flagOf(text));
    ASSERT_TRUE(spec) << text;
    if (text.find('=') != text.npos) {
      EXPECT_TRUE(checkFlagValue(*spec, text.substr(text.find('=') + 1)).ok())
          << text;
    }
  }
}

/// Each name, in both spellings, in each of the three places.
TEST(ForeignFlags, everyNameIsAnswered) {
  for (const ForeignName &entry : foreignFlags())
    for (const std::string &name : namesOf(entry)) {
      if (name.find('=') != name.npos)
        continue;
      for (const FlagPlace &place : places()) {
        for (const std::string &spelling : {name, snakeCase(name)}) {
          auto [message, hint] = answer(place, spelling);
          EXPECT_EQ(message, "unknown flag '--" + spelling + "'");
          EXPECT_EQ(hint.rfind(describeForeign(entry), 0), 0u)
              << spelling << ": " << hint;
        }
        const FlagSpec *known = findFlagName(flagOf(entry.answer));
        if (!known || place.table.find(known->name))
          continue;
        const std::string hint = answer(place, name).second;
        const std::string group = known->group == RunFlag ? "; it is a run flag"
                                                          : "; it is a compile";
        EXPECT_NE(hint.find(group), hint.npos) << name << ": " << hint;
      }
    }
}

/// A value that another tool gives a flag that weft has too.
TEST(ForeignFlags, valuesAreAnswered) {
  for (const ForeignName &entry : foreignFlags())
    for (const std::string &name : namesOf(entry)) {
      const size_t equals = name.find('=');
      if (equals == name.npos)
        continue;
      auto [message, hint] =
          answer(places()[0], name.substr(0, equals), name.substr(equals + 1));
      EXPECT_EQ(hint, describeForeign(entry)) << message;
    }
}

TEST(ForeignFlags, commonOnes) {
  const std::pair<const char *, const char *> cases[] = {
      {"learning-rate", "weft's flag is '--lr'"},
      {"learning_rate", "weft's flag is '--lr'"},
      {"batch-size", "weft's flag is '--batch'"},
      {"per_device_train_batch_size", "weft's flag is '--batch'"},
      {"grad-accum", "weft's flag is '--accum'"},
      {"gradient_accumulation_steps", "weft's flag is '--accum'"},
      {"bf16", "weft's flag is '--precision=bf16'"},
      {"block_size", "weft's flag is '--seq'"},
      {"max_iters", "weft's flag is '--steps'"},
      {"iters", "weft's flag is '--steps'"},
      {"num_train_epochs", "weft's flag is '--epochs'"},
      {"lr-scheduler-type", "weft's flag is '--lr-schedule'"},
      {"output-dir", "weft's flag is '--save-dir'"},
      {"nproc-per-node",
       "weft's flag is '--mesh'; a program is compiled for its ranks, as in "
       "--mesh=dp:4, and weft launch starts them"},
      {"num-layers",
       "weft has none; sizes of the model are fields of its config.json"},
      {"wandb_project",
       "weft's flag is '--metrics'; FILE gets one JSON object per step"},
      // weft's own, in another spelling or misspelt.
      {"grad_dtype", "weft writes it '--grad-dtype'"},
      {"Steps", "weft writes it '--steps'"},
      {"stpes", "the nearest flag is '--steps'; 'weft --help-all' lists all"},
      // Far from all of them.
      {"banana", "run 'weft --help' for the flags"},
      {"x", "run 'weft --help' for the flags"},
  };
  const FlagPlace train = places()[0];
  for (const auto &[name, hint] : cases)
    EXPECT_EQ(answer(train, name).second, hint) << name;
  EXPECT_EQ(answer(train, "epochs").first, "accepted");
}

TEST(ForeignFlags, aProgramNamesCompileFlags) {
  const FlagPlace program = places()[2];
  const std::pair<std::vector<const char *>,
                  std::pair<const char *, const char *>>
      cases[] = {
          {{"batch", "4"},
           {"flag '--batch' is a compile flag and has no effect here: the "
            "program was compiled with --batch=8",
            "weft compile MODEL --batch=4 makes a program with it"}},
          {{"batch", "8"},
           {"flag '--batch' is a compile flag and has no effect here: the "
            "program was compiled with --batch=8",
            "leave it out"}},
          {{"zero", "3"},
           {"flag '--zero' is a compile flag and has no effect here",
            "weft compile MODEL --mesh=... --zero=3 makes a program with "
            "it"}},
          {{"dtype", "fp8"},
           {"unknown flag '--dtype'",
            "weft's flag is '--precision'; it is a compile flag, compiled with "
            "--precision=f32: weft compile MODEL --precision=f32|f16|bf16 "
            "makes "
            "a program with it"}},
          {{"dtype", "FP16"},
           {"unknown flag '--dtype'",
            "weft's flag is '--precision'; it is a compile flag, compiled with "
            "--precision=f32: weft compile MODEL --precision=FP16 makes a "
            "program with it"}},
          {{"optim", "adafactor"},
           {"unknown flag '--optim'",
            "weft's flag is '--optimizer'; it is a compile flag: weft compile "
            "MODEL --optimizer=adamw|adam|sgd makes a program with it"}},
          {{"device", "cuda"},
           {"flag '--device' is a compile flag and has no effect here",
            "weft's flag is '--target'; such as --target=cuda; it is a "
            "compile flag: weft compile MODEL --target=... makes a program "
            "with it"}},
          {{"cpu", "x"},
           {"unknown flag '--cpu'",
            "weft's flag is '--target=cpu'; the default; it is a compile flag: "
            "weft compile MODEL --target=cpu makes a program with it"}},
          {{"memory", "8"},
           {"unknown flag '--memory'",
            "weft's flag is '--memory-limit'; such as --memory-limit=8G; it is "
            "a compile flag: weft compile MODEL --memory-limit=... makes a "
            "program with it"}},
          {{"initial-scale-power", "16"},
           {"unknown flag '--initial-scale-power'",
            "weft's flag is '--scaler-init'; it takes the scale itself: 65536 "
            "for a power of 16; it is a compile flag: weft compile MODEL "
            "--scaler-init=... makes a program with it"}},
          {{"tf32", "x"},
           {"flag '--tf32' is a compile flag and has no effect here",
            "weft compile MODEL --tf32 makes a program with it"}},
          {{"emit", "obj"},
           {"flag '--emit' is a flag of weft compile and has no effect here",
            "weft compile MODEL --emit=obj takes it"}},
          {{"batch-size", "4"},
           {"unknown flag '--batch-size'",
            "weft's flag is '--batch'; it is a compile flag, compiled with "
            "--batch=8: weft compile MODEL --batch=4 makes a program with it"}},
          {{"bf16", "x"},
           {"unknown flag '--bf16'",
            "weft's flag is '--precision=bf16'; it is a compile flag, compiled "
            "with --precision=f32: weft compile MODEL --precision=bf16 makes a "
            "program with it"}},
      };
  for (const auto &[args, expected] : cases) {
    auto [message, hint] = answer(program, args[0], args[1]);
    EXPECT_EQ(message, expected.first);
    EXPECT_EQ(hint, expected.second);
  }
}

/// Values are copied into a command only where the flag takes them.
TEST(ForeignFlags, copiedValuesAreThoseOfTheTables) {
  auto hintOf = [](const FlagSpec &spec, const std::string &value) {
    return answer(places()[spec.group == RunFlag ? 1 : 2], spec.name, value)
        .second;
  };
  auto check = [&](const FlagSpec &spec, const std::string &value) {
    const std::string copied =
        "--" + std::string(spec.name) + "=" + value + " ";
    EXPECT_EQ(hintOf(spec, value).find(copied) != std::string::npos,
              checkFlagValue(spec, value).ok())
        << copied << "is checked by FlagsUnknown.cpp";
  };
  const FlagTable table = tableOf(CompileFlag | RunFlag);
  for (const FlagSpec &spec : table.flags()) {
    if (spec.kind == FlagKind::Enum) {
      const std::string all = std::string("=") + spec.choices + " ";
      EXPECT_NE(hintOf(spec, "zz").find(all), std::string::npos) << spec.name;
      for (const std::string &value : namesOf({spec.choices, ""}))
        if (hintOf(spec, value) != "leave it out")
          check(spec, value);
    }
    const bool isNumber = spec.kind == FlagKind::Int ||
                          spec.kind == FlagKind::Bytes ||
                          spec.kind == FlagKind::Double;
    if (isNumber && spec.group == CompileFlag)
      for (const char *value : {"zz", "0", "4", "65", "1025", "1048577"})
        check(spec, value);
  }
}

TEST(ForeignFlags, flagsWithoutAValueShowThatTheyNeedOne) {
  for (auto [flag, given] : {std::pair("target", "--target=... "),
                             {"mesh", "--mesh=... "},
                             {"zero", "--mesh=... --zero=... "},
                             {"attention", "--attention=auto|own|cudnn "},
                             {"no-tf32", "--no-tf32 "}}) {
    auto parsed = places()[2].table.parse({std::string("--") + flag},
                                          places()[2].options);
    ASSERT_FALSE(parsed.ok()) << flag;
    EXPECT_EQ(parsed.error().hintText(), std::string("weft compile MODEL ") +
                                             given + "makes a program with it");
  }
  auto parsed = places()[1].table.parse({"--progress"}, places()[1].options);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().hintText(),
            "./PROGRAM --progress=auto|bar|line|json|none takes it, and so "
            "does weft train");
}

TEST(ForeignFlags, weftCompileNamesRunFlags) {
  const FlagPlace compile = places()[1];
  EXPECT_EQ(answer(compile, "lr", "0.1"),
            std::pair(std::string("flag '--lr' is a run flag and has no effect "
                                  "here"),
                      std::string("./PROGRAM --lr=0.1 takes it, and so does "
                                  "weft train")));
  EXPECT_EQ(answer(compile, "no-shuffle").second,
            "./PROGRAM --no-shuffle takes it, and so does weft train");
  EXPECT_EQ(answer(compile, "learning_rate", "0.1").second,
            "weft's flag is '--lr'; it is a run flag: ./PROGRAM --lr=0.1 takes "
            "it, and so does weft train");
}

TEST(ForeignFlags, valuesOfOtherToolsAreAccepted) {
  const FlagTable table = tableOf(AllFlags);
  const std::pair<const char *, const char *> cases[] = {
      {"precision=fp16", "f16"},
      {"precision=FP16", "f16"},
      {"precision=bfloat16", "bf16"},
      {"precision=BF16", "bf16"},
      {"precision=float32", "f32"},
      {"precision=torch.bfloat16", "bf16"},
      {"optimizer=AdamW", "adamw"},
      {"optimizer=SGD", "sgd"},
      {"optimizer=adamw_torch", "adamw"},
      {"lr-schedule=Cosine", "cosine"},
      {"lr-schedule=constant_with_warmup", "constant"},
      {"reduce-dtype=float32", "f32"},
      {"nesterov=true", "on"},
      {"nesterov=False", "off"},
      {"accumulation=no", "off"},
      {"clip-norm=1", "1"},
  };
  for (const auto &[flag, text] : cases) {
    auto parsed = table.parse({std::string("--") + flag});
    ASSERT_TRUE(parsed.ok()) << flag << ": " << parsed.error().where();
    EXPECT_EQ(parsed->getText(flagOf(flag)), text) << flag;
  }
  for (const char *flag : {"precision=fp8", "precision=on", "optimizer=lion",
                           "lr-schedule=polynomial", "nesterov=maybe"})
    EXPECT_FALSE(table.parse({std::string("--") + flag}).ok()) << flag;
}

TEST(ForeignCommands, areAnswered) {
  EXPECT_EQ(describeForeignCommand(*findForeignCommand("sample")),
            "weft generate MODEL --prompt TEXT does that");
  EXPECT_EQ(describeForeignCommand(*findForeignCommand("preprocess")),
            "weft data prepare does that");
  EXPECT_EQ(findForeignCommand("train"), nullptr);
  EXPECT_EQ(findForeignCommand("run|start"), nullptr);
  // Flags in answers are flags of the command.
  const std::set<std::string> own = {"--version", "--grad", "--profile",
                                     "--prompt"};
  for (const ForeignName &entry : foreignCommands()) {
    std::string word;
    for (const char *c = entry.answer;; ++c) {
      if (*c && *c != ' ') {
        word += *c;
        continue;
      }
      if (word.rfind("--", 0) == 0 && !own.count(word)) {
        EXPECT_TRUE(findFlagName(flagOf(word).substr(2))) << word;
      }
      word.clear();
      if (!*c)
        break;
    }
  }
}
