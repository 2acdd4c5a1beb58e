//===- CheckpointCommand.cpp - weft ckpt ----------------------------------===//

#include "ToolCommands.h"

#include "weft/Base/Flags.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"

#include <cstdio>

using namespace weft;

static const char *const kCheckpointUsage =
    "usage: weft ckpt ls DIR          steps, or the tensors of one step\n"
    "       weft ckpt verify DIR      check every digest\n"
    "       weft ckpt diff A B        compare two checkpoints\n"
    "       weft ckpt export DIR OUT  write config.json, model.safetensors "
    "and\n"
    "                                 the tokenizer files\n"
    "DIR: a step directory, or a save directory (its newest step)\n";

static Expected<ExitCode> printed(Expected<std::string> text) {
  if (!text)
    return text.takeError();
  printEscaped(*text);
  return ExitCode::Ok;
}

static TensorType exportType(const std::string &name) {
  return name == "f16"    ? TensorType::F16
         : name == "bf16" ? TensorType::BF16
                          : TensorType::F32;
}

Expected<ExitCode> weft::checkpointCommand(const Arguments &args) {
  FlagTable table({
      {"dtype", FlagKind::Enum, DriverFlag, "f32", "",
       "type of exported weights", "f32|f16|bf16"},
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
    std::printf("%s\n%s", kCheckpointUsage, table.help().c_str());
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
    if (Status status = exportCheckpoint(words[1], words[2],
                                         exportType(flags->getText("dtype")),
                                         flags->getSwitch("overwrite"));
        !status)
      return status.takeError();
    return ExitCode::Ok;
  }
  return usageError("expects ls DIR, verify DIR, diff A B or export DIR OUT")
      .hint("weft ckpt --help");
}
