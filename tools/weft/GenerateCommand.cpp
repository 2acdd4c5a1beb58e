//===- GenerateCommand.cpp - weft generate, evaluate and predict ----------===//
//
// They run a program of trained weights with the run flags --generate,
// --eval-only and --predictions: a compiled program, or the program of a model.
//
//===----------------------------------------------------------------------===//

#include "CachedProgram.h"
#include "MlirFlags.h"
#include "ToolCommands.h"
#include "UseModel.h"

#include "weft/Base/FlagNames.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <algorithm>
#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

/// Run flags of all commands.
static constexpr std::string_view kSharedFlags[] = {
    "resume",  "init-from", "tokenizer", "threads",     "loopback",
    "timeout", "gather",    "no-graph",  "tuning",      "dry-run",
    "help",    "help-all",  "config",    "print-config"};

template <typename Names>
static bool isOneOf(const Names &names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// The flag that weft adds to a data flag, such as --data-name.
static bool isNameOfData(const UseCommand &command, std::string_view flag) {
  constexpr std::string_view ending = "-name";
  return endsWith(flag, ending) &&
         isOneOf(command.runFlags, flag.substr(0, flag.size() - ending.size()));
}

/// The compile flags, and the run flags that the command takes.
static std::vector<FlagSpec> flagsOf(const UseCommand &command) {
  constexpr std::string_view common[] = {"target", "precision", "batch",
                                         "seq",    "mesh",      "kv-cache"};
  std::vector<FlagSpec> all;
  for (FlagSpec spec : compileFlags()) {
    // An evaluation has whole rows, with nothing to keep for the next token.
    if (spec.name == std::string_view("kv-cache") && !command.samples())
      continue;
    spec.isCommon = isOneOf(common, spec.name);
    all.push_back(spec);
  }
  for (FlagSpec spec : runFlagSpecs()) {
    const bool isOwn = isOneOf(command.runFlags, spec.name);
    spec.isCommon |= isOwn || spec.name == std::string_view("tokenizer");
    if (isOwn || isOneOf(kSharedFlags, spec.name) ||
        isNameOfData(command, spec.name))
      all.push_back(spec);
  }
  return all;
}

/// The flags that help shows. The command compiles a program without training.
static FlagTable helpTable(const UseCommand &command, const FlagTable &table) {
  std::vector<FlagSpec> shown;
  for (FlagSpec spec : flagsWithoutTraining(table.flags())) {
    const std::string_view name = spec.name;
    if (name == "inference" || name == "predict")
      continue;
    // Other values need --save-dir, which the command does not have.
    if (name == "resume") {
      spec.valueName = "PATH";
      spec.defaultText = "";
      spec.help = "use the weights of the checkpoint PATH, or of the newest "
                  "in that folder";
    }
    if (name == "data")
      spec.help = command.use == RunUse::Evaluate
                      ? "data whose tail --val-fraction evaluates: text, JSON "
                        "lines, .bin tokens, or safetensors"
                      : table.find("data")->help;
    shown.push_back(spec);
  }
  return FlagTable(std::move(shown));
}

/// Parses the command line; no values where it asked for help.
static Expected<std::optional<FlagValues>> parseUse(const UseCommand &command,
                                                    const FlagTable &table,
                                                    const Arguments &args) {
  FlagParseOptions options;
  options.renamed = command.renamed;
  Expected<FlagValues> flags =
      parseModelFlags(table, command.name, args, options);
  if (!flags)
    return flags.takeError();
  if (std::optional<HelpLayout> layout = askedHelp(*flags)) {
    printText("usage: " + std::string(command.name) + " " + command.usage +
              "\n\n" +
              wrapText("MODEL: a folder with config.json and weights, a GGUF "
                       "file, an .mlir file with weights, or a compiled "
                       "program",
                       0, layout->columns) +
              "\n\n" + helpTable(command, table).help(AllFlags, *layout));
    return std::optional<FlagValues>();
  }
  *flags = withoutUnused(*flags, command.use);
  Expected<bool> isAnswered = printConfig(*flags, command.name);
  if (!isAnswered)
    return isAnswered.takeError();
  if (*isAnswered)
    return std::optional<FlagValues>();
  if (flags->positionals().empty())
    return usageError("expects a MODEL")
        .hint(std::string(command.name) + " --help");
  // A run would look for them in its --save-dir.
  if (const std::string &resume = flags->getText("resume");
      resume == "auto" || resume == "must")
    return usageError("--resume expects a checkpoint, or a folder of "
                      "checkpoints, but got ",
                      inQuotes(resume))
        .hint("--resume DIR takes the newest one in DIR");
  if (Status status = applyMlirFlags(flags->passThrough()); !status)
    return status.takeError();
  return std::optional(std::move(*flags));
}

//===----------------------------------------------------------------------===//
// The commands
//===----------------------------------------------------------------------===//

/// --generate by the name that it has here.
static FlagSpec promptFlag(FlagSpec generate) {
  generate.name = "prompt";
  generate.valueName = "TEXT";
  generate.help = "text that the sample continues";
  return generate;
}

/// A sample needs one row. The batch of an .mlir file or of a program is its
/// own.
static FlagValues withSmallBatch(const FlagValues &flags) {
  const std::string &model = flags.positionals().front();
  std::error_code ignored;
  const fs::path extension = fs::path(model).extension();
  const bool hasConfig = fs::is_directory(model, ignored) ||
                         extension == ".json" || extension == ".gguf";
  return hasConfig && !flags.isSet("batch") ? flags.with("batch", "1") : flags;
}

Expected<ExitCode> weft::generateCommand(const Arguments &args) {
  const UseCommand command = {"weft generate",
                              "MODEL --prompt TEXT [flags]",
                              RunUse::Sample,
                              {"generate", "max-new-tokens", "temperature",
                               "top-k", "top-p", "min-p", "repetition-penalty",
                               "stop", "seed"},
                              {{"generate", "prompt"},
                               {"start", "prompt"},
                               {"input-prompt", "prompt"},
                               {"max-length", "max-new-tokens"}}};
  std::vector<FlagSpec> specs = flagsOf(command);
  for (FlagSpec &spec : specs)
    if (spec.name == std::string_view("generate"))
      spec = promptFlag(spec);
  auto flags = parseUse(command, FlagTable(specs), args);
  if (!flags)
    return flags.takeError();
  if (!*flags)
    return ExitCode::Ok;
  if (!(*flags)->isSet("prompt"))
    return usageError("expects --prompt TEXT, the text that the sample "
                      "continues");
  return useModel(command, withSmallBatch(**flags));
}

Expected<ExitCode> weft::evaluateCommand(const Arguments &args) {
  const UseCommand command = {
      "weft evaluate",
      "MODEL --val-data FILE [flags]",
      RunUse::Evaluate,
      {"data", "val-data", "val-fraction", "data-format", "eval-steps",
       "metrics", "tensorboard", "progress", "overwrite"},
      {{"output-file", "metrics"}, {"output-path", "metrics"}}};
  std::vector<FlagSpec> specs = flagsOf(command);
  for (FlagSpec &spec : specs)
    if (spec.name == std::string_view("val-data"))
      spec.help = "validation data: text, JSON lines, .bin tokens, "
                  "safetensors, or questions (.jsonl)";
  auto flags = parseUse(command, FlagTable(specs), args);
  if (!flags)
    return flags.takeError();
  if (!*flags)
    return ExitCode::Ok;
  const bool namesData =
      (*flags)->isSet("val-data") || (*flags)->isSet("val-fraction");
  if (!namesData && !(*flags)->isSet("resume"))
    return usageError("expects --val-data FILE")
        .hint("or --data FILE --val-fraction X, the tail of the data that a "
              "run did not train on");
  return useModel(command, **flags);
}

/// --predictions by the name that it has here.
static FlagSpec outputFlag(FlagSpec predictions) {
  predictions.name = "output";
  predictions.shortName = "o";
  predictions.help = "file for the results, as safetensors";
  return predictions;
}

/// A name with the ending of another format would mislead its readers.
static Status checkResultName(const std::string &path) {
  if (path == kStandardOutput)
    return notOnStandardOutput("--output");
  const std::string ending = fs::path(path).extension().string();
  if (ending.empty() || ending == ".safetensors")
    return Status::success();
  return usageError("--output expects a name that ends in .safetensors, the "
                    "format of the results, but got ",
                    inQuotes(path))
      .hint("safetensors.numpy.load_file(FILE) reads the results in Python");
}

Expected<ExitCode> weft::predictCommand(const Arguments &args) {
  const UseCommand command = {
      "weft predict",
      "MODEL --data FILE -o FILE [flags]",
      RunUse::Predict,
      {"data", "data-format", "predictions", "progress", "overwrite"},
      {{"val-data", "data"},
       {"tasks", "data"},
       {"output-file", "output"},
       {"output-path", "output"}}};
  std::vector<FlagSpec> specs = flagsOf(command);
  for (FlagSpec &spec : specs) {
    if (spec.name == std::string_view("predictions"))
      spec = outputFlag(spec);
    if (spec.name == std::string_view("data"))
      spec.help = "data with the rows: text, JSON lines, .bin tokens, "
                  "safetensors, or questions (.jsonl)";
  }
  auto flags = parseUse(command, FlagTable(specs), args);
  if (!flags)
    return flags.takeError();
  if (!*flags)
    return ExitCode::Ok;
  for (const char *name : {"data", "output"})
    if (!(*flags)->isSet(name))
      return usageError("expects --", name, " FILE")
          .hint("weft predict MODEL --data FILE -o FILE");
  if (Status s = checkResultName((*flags)->getString("output")); !s)
    return s.takeError();
  return useModel(command, **flags);
}
