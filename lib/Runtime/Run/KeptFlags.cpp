//===- KeptFlags.cpp - Flags that a resumed run keeps ---------------------===//

#include "weft/Base/CountText.h"
#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

std::vector<KeptFlag> weft::keptFlags() {
  // Named, a file, taken by --eval-only. Data files are compared by content, so
  // their path, format and tokenizer have no warnings of their own.
  return {
      {"data", false, true, true},
      {"val-data", false, true, true},
      {"data-name", false, false, true},
      {"val-data-name", false, false, true},
      {"val-fraction", true, false, true},
      {"data-format", false, false, true},
      {"tokenizer", false, false, true},
      {"steps", true, false, false},
      {"epochs", true, false, false},
      {"accum", true, false, false},
      {"lr", true, false, false},
      {"lr-schedule", true, false, false},
      {"lr-decay-steps", true, false, false},
      {"warmup", true, false, false},
      {"min-lr", true, false, false},
      {"weight-decay", true, false, false},
      {"beta1", true, false, false},
      {"beta2", true, false, false},
      {"eps", true, false, false},
      {"momentum", true, false, false},
      {"clip", true, false, false},
      {"tuning", false, true, true},
      {"save-every", false, false, false},
      {"keep", false, false, false},
      {"keep-best", false, false, false},
      {"log-every", false, false, false},
      {"eval-every", false, false, false},
      {"eval-steps", true, false, false},
      {"metrics", false, true, false},
      {"tensorboard", false, true, false},
      {"generate", false, false, false},
      {"max-new-tokens", false, false, false},
      {"temperature", false, false, false},
      {"top-k", false, false, false},
      {"top-p", false, false, false},
      {"min-p", false, false, false},
      {"repetition-penalty", false, false, false},
      {"stop", false, false, false},
      {"sample-every", false, false, false},
  };
}

/// Whether the value of a flag names a file. `--tuning=auto` does not.
static bool namesFile(const KeptFlag &flag, const std::string &text) {
  const bool isWord = text == "auto" || text == "none";
  return flag.isFile && !(isWord && std::string_view(flag.name) == "tuning");
}

/// One spelling per value, so that "1e-3" and "0.001" are the same.
static std::string settingText(const FlagValues &values, const FlagSpec &spec) {
  if (spec.kind == FlagKind::Switch)
    return values.getSwitch(spec.name) ? "on" : "off";
  if (!values.hasValue(spec.name))
    return "";
  if (spec.kind == FlagKind::Int)
    return std::to_string(values.getInt(spec.name));
  double number =
      spec.kind == FlagKind::Double ? values.getDouble(spec.name) : INFINITY;
  if (!std::isfinite(number))
    return values.getText(spec.name);
  std::string text = Json(number).compact();
  size_t end = text.size() - std::min<size_t>(text.size(), 2);
  return text.compare(end, 2, ".0") == 0 ? text.substr(0, end) : text;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static std::string absolutePath(const std::string &path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.string();
}

/// The path of a recorded file: its absolute path if that still exists, from
/// any current folder; else the path as it was given.
static std::string locateFile(const std::string &given,
                              const std::string &absolute, bool isWritten) {
  if (absolutePath(given) == absolute)
    return given;
  std::error_code error;
  fs::path place(absolute);
  return fs::exists(isWritten ? place.parent_path() : place, error) ? absolute
                                                                    : given;
}

static bool isWritten(const std::string &flag) {
  return flag == "metrics" || flag == "tensorboard";
}

//===----------------------------------------------------------------------===//
// From the checkpoint
//===----------------------------------------------------------------------===//

namespace {
/// Predict: a run that samples or predicts.
enum class RunMode { Train, Evaluate, Predict };
} // namespace

static RunMode modeOf(const FlagValues &given) {
  if (given.getSwitch("eval-only"))
    return RunMode::Evaluate;
  if (given.isSet("predictions"))
    return RunMode::Predict;
  if ((given.isSet("generate") || given.isSet("generate-ids")) &&
      given.getInt("steps") == 0 && !given.isSet("epochs"))
    return RunMode::Predict;
  return RunMode::Train;
}

/// `hasValData`: the rows to evaluate are no part of the training data.
static bool isTaken(const KeptFlag &flag, RunMode mode, bool hasValData) {
  const std::string_view name = flag.name;
  if (mode == RunMode::Predict)
    return name == "tokenizer";
  if (mode == RunMode::Train)
    return true;
  return flag.evaluates &&
         !(hasValData && (name == "data" || name == "data-name"));
}

/// Whether a given flag excludes the recorded one: there are two flags for
/// validation data, and two for the length of a training.
static bool isReplaced(const std::string &flag, const FlagValues &given) {
  return (flag == "val-data" && given.isSet("val-fraction")) ||
         (flag == "val-fraction" && given.isSet("val-data")) ||
         (flag == "data-name" && given.isSet("data")) ||
         (flag == "val-data-name" &&
          (given.isSet("val-data") || given.isSet("val-fraction"))) ||
         (flag == "steps" && given.isSet("epochs")) ||
         (flag == "epochs" && given.isSet("steps"));
}

namespace {
struct FoundStep {
  std::string directory;
  Manifest manifest;
};
} // namespace

static Expected<std::optional<FoundStep>>
readStep(const std::string &directory) {
  auto manifest = Manifest::read(directory);
  if (!manifest)
    return manifest.takeError();
  return std::optional(FoundStep{directory, std::move(*manifest)});
}

/// The step directory that a run resumes from, if there is one, by its flags
/// --resume and --save-dir.
static Expected<std::optional<FoundStep>> findStep(const std::string &resume,
                                                   const std::string &saveDir) {
  if (resume == "never" || resume.empty())
    return std::optional<FoundStep>();
  if ((resume == "auto" || resume == "must") && saveDir.empty())
    return std::optional<FoundStep>(); // an error of the flags
  if (resume == "auto") {
    auto steps = listSteps(saveDir);
    if (!steps)
      return steps.takeError().withCode(ExitCode::Storage);
    for (auto entry = steps->rbegin(); entry != steps->rend(); ++entry)
      if (auto found = readStep(entry->path); found)
        return found;
    return std::optional<FoundStep>();
  }
  auto held = holdStep(resume == "must" ? saveDir : resume);
  if (!held)
    return held.takeError();
  return readStep(held->path);
}

Settings weft::findRecordedFlags(const std::string &resume,
                                 const std::string &saveDir) {
  auto step = findStep(resume, saveDir);
  if (!step || !*step || !(*step)->manifest.run)
    return {};
  return std::move((*step)->manifest.run->flags);
}

/// A resumed run saves into the save directory of its checkpoint.
static void keepSaveDir(const FlagValues &given,
                        std::vector<std::string> &args) {
  const std::string &resume = given.getString("resume");
  if (given.isSet("save-dir") || resume == "auto" || resume == "must")
    return;
  auto held = holdStep(resume);
  if (!held)
    return;
  if (auto parent = saveDirectoryOf(held->path))
    args.push_back("--save-dir=" + *parent);
}

Expected<KeptSettings>
weft::findKeptSettings(const FlagValues &given, const FlagTable &table,
                       const Metadata &metadata,
                       const WeftExecutable &executable) {
  KeptSettings kept;
  auto step = findStep(given.getString("resume"), given.getString("save-dir"));
  if (!step)
    return step.takeError();
  if (!*step || !(*step)->manifest.run)
    return kept;
  Manifest &manifest = (*step)->manifest;
  if (!metadata.isModel(manifest.fingerprint))
    return otherModel(manifest, (*step)->directory, metadata, executable);
  kept.record = std::move(manifest.run);
  auto defaults = table.parse(std::vector<std::string>());
  if (!defaults)
    return defaults.takeError();
  const RunMode mode = modeOf(given);
  const bool hasValData = given.isSet("val-data") ||
                          (!given.isSet("val-fraction") &&
                           !settingIn(kept.record->flags, "val-data").empty());
  const std::vector<std::string_view> others = flagsOfOthers(metadata);
  for (const KeptFlag &flag : keptFlags()) {
    const std::string *text = findSetting(kept.record->flags, flag.name);
    const FlagSpec &spec = *table.find(flag.name);
    if (!text || given.isSet(flag.name) || !isTaken(flag, mode, hasValData) ||
        isReplaced(flag.name, given) || *text == settingText(*defaults, spec) ||
        std::count(others.begin(), others.end(), flag.name))
      continue;
    std::string value = *text;
    const std::string *file = findSetting(kept.record->files, flag.name);
    if (file && namesFile(flag, *text)) {
      value = locateFile(value, *file, isWritten(flag.name));
      if (!isWritten(flag.name))
        kept.inputs.emplace_back(flag.name, value);
    }
    kept.args.push_back("--" + std::string(flag.name) + "=" + value);
  }
  if (mode == RunMode::Train)
    keepSaveDir(given, kept.args);
  return kept;
}

/// The tokens of a text, in the cache of weft, are gone.
static Error missingTokens(const std::string &flag, const std::string &name) {
  return inputError("cannot open the tokens of this text, which are no longer "
                    "in the cache of weft")
      .at(name)
      .hint("it is the --" + flag +
            " of the run that saved the checkpoint: weft train or weft "
            "evaluate makes the tokens again from the text, in the folder of "
            "that run; --" +
            flag + " names another file");
}

Status weft::checkInputsAreThere(const KeptSettings &kept) {
  for (const auto &[flag, file] : kept.inputs) {
    std::error_code error;
    if (fs::exists(file, error) || error)
      continue;
    const std::string name = settingIn(kept.record->flags, flag + "-name");
    if (!name.empty())
      return missingTokens(flag, name);
    return systemError(ExitCode::Input, "cannot open", ENOENT)
        .at(file)
        .hint("it is the --" + flag +
              " of the run that saved the checkpoint: give --" + flag +
              " the file that takes its place");
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Into the checkpoint
//===----------------------------------------------------------------------===//

static Settings programSettings(const Metadata &metadata) {
  Settings settings = {{"batch", std::to_string(metadata.batch)}};
  if (metadata.seq > 0)
    settings.push_back({"seq", std::to_string(metadata.seq)});
  settings.insert(settings.end(), metadata.options.begin(),
                  metadata.options.end());
  return settings;
}

RunRecord weft::recordOf(const FlagValues &values, const FlagTable &table,
                         const KeptSettings &kept, const Metadata &metadata) {
  RunRecord record;
  record.program = programSettings(metadata);
  record.model = metadata.adjustable;
  for (const KeptFlag &flag : keptFlags()) {
    const std::string name = flag.name;
    if (!values.isSet(name) && !values.hasValue(name))
      continue;
    std::string text = settingText(values, *table.find(name));
    const bool isFile = namesFile(flag, text);
    std::string file = isFile ? absolutePath(text) : "";
    // A kept file is recorded again under the name that the user gave.
    if (isFile && kept.record)
      if (settingIn(kept.record->files, name) == file)
        text = settingIn(kept.record->flags, name);
    record.flags.push_back({name, text});
    if (isFile)
      record.files.push_back({name, file});
  }
  return record;
}
