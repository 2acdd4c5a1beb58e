//===- CheckpointCommand.cpp - weft ckpt ----------------------------------===//

#include "CommandHelp.h"
#include "ToolCommands.h"

#include "weft/Base/Flags.h"
#include "weft/Base/OutputFolder.h"
#include "weft/Base/Results.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"

#include <filesystem>

using namespace weft;

static const CommandHelp kCheckpointHelp = {
    {"weft ckpt ls DIR", "weft ckpt verify DIR", "weft ckpt diff A B",
     "weft ckpt export DIR OUT [flags]"},
    {"DIR: a step directory, or a save directory (its newest step)"},
    {{"ls", "steps, or the tensors of one step"},
     {"verify", "check every digest"},
     {"diff", "compare two checkpoints"},
     {"export", "write config.json, model.safetensors and the tokenizer files; "
                "or a GGUF file"}}};

static Expected<ExitCode> printed(Expected<std::string> text) {
  if (!text)
    return text.takeError();
  printEscaped(*text);
  return ExitCode::Ok;
}

static GgmlType ggufType(const std::string &name) {
  return name == "f16"    ? GgmlType::F16
         : name == "bf16" ? GgmlType::BF16
         : name == "q8_0" ? GgmlType::Q8_0
                          : GgmlType::F32;
}

static TensorType exportType(const std::string &name) {
  return name == "f16"    ? TensorType::F16
         : name == "bf16" ? TensorType::BF16
                          : TensorType::F32;
}

static Status exportWeights(const std::string &folder, const std::string &out,
                            const FlagValues &flags) {
  const std::string &dtype = flags.getText("dtype");
  const bool overwrites = flags.getSwitch("overwrite");
  std::error_code ignored;
  if (std::filesystem::equivalent(folder, out, ignored))
    return usageError(
               "weft ckpt export expects OUT outside of the checkpoints, "
               "but got their folder")
        .at(out);
  if (flags.getText("format") == "gguf")
    return exportGguf(folder, out, ggufType(dtype), overwrites);
  if (Status s = checkFolderName("weft ckpt export", out); !s)
    return s;
  if (endsWith(out, ".gguf"))
    return usageError("weft ckpt export expects a folder, but got a name that "
                      "ends in .gguf")
        .at(out)
        .hint("--format gguf writes a file for llama.cpp");
  if (dtype == "q8_0")
    return usageError("--dtype expects f32, f16 or bf16 with --format "
                      "safetensors, but got q8_0")
        .hint("--format gguf writes q8_0");
  return exportCheckpoint(folder, out, exportType(dtype), overwrites);
}

Expected<ExitCode> weft::checkpointCommand(const Arguments &args) {
  FlagTable table({
      {"dtype", FlagKind::Enum, DriverFlag, "f32", "",
       "type of exported weights; q8_0 with --format gguf alone",
       "f32|f16|bf16|q8_0"},
      {"format", FlagKind::Enum, DriverFlag, "safetensors", "",
       "form of an export: a folder, or a file for llama.cpp",
       "safetensors|gguf"},
      {"overwrite", FlagKind::Switch, DriverFlag, "", "",
       "let an export replace existing files"},
      helpFlag(DriverFlag),
  });
  FlagParseOptions options;
  options.program = "weft ckpt";
  Expected<FlagValues> flags = table.parse(args, options);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp(kCheckpointHelp, {table});
    return ExitCode::Ok;
  }
  const std::vector<std::string> &words = flags->positionals();
  std::string verb = words.empty() ? "" : words[0];
  if (verb == "ls" && words.size() == 2)
    return printed(listCheckpoint(words[1]));
  if (verb == "verify" && words.size() == 2)
    return printed(verifyCheckpoint(words[1]));
  if (verb == "diff" && words.size() == 3) {
    Expected<CheckpointDiff> diff = diffCheckpoints(words[1], words[2]);
    if (!diff)
      return diff.takeError();
    printEscaped(diff->text);
    // As diff(1): 1 says that they differ.
    return diff->equal ? ExitCode::Ok : static_cast<ExitCode>(1);
  }
  if (verb == "export" && words.size() == 3) {
    if (Status status = exportWeights(words[1], words[2], *flags); !status)
      return status.takeError();
    return ExitCode::Ok;
  }
  static constexpr std::pair<std::string_view, const char *> arguments[] = {
      {"ls", "DIR"}, {"verify", "DIR"}, {"diff", "A B"}, {"export", "DIR OUT"}};
  for (const auto &[name, expected] : arguments)
    if (verb == name)
      return usageError(
                 "weft ckpt ", name, " expects ", expected, ", but got ",
                 words.size() == 1
                     ? "none"
                     : inQuotes(joined(
                           Arguments(words.begin() + 1, words.end()), " ")))
          .hint("weft ckpt --help");
  return usageError("expects ls DIR, verify DIR, diff A B or export DIR OUT, "
                    "but got ",
                    verb.empty() ? "none" : inQuotes(verb))
      .hint("weft ckpt --help");
}
