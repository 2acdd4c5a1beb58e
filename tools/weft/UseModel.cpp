//===- UseModel.cpp - Run a model without training it ---------------------===//

#include "UseModel.h"

#include "CachedProgram.h"
#include "ChoiceScores.h"
#include "TokenizedData.h"

#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

/// Whether the path is a compiled program and no model.
static bool isProgram(const std::string &path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char magic[4] = {};
  return file && ::pread(file.get(), magic, 4, 0) == 4 &&
         std::string_view(magic, 4) == "\x7f"
                                       "ELF";
}

static Expected<Program> openProgram(const FlagValues &flags,
                                     const std::string &path) {
  const std::vector<std::string> compiled = flags.canonical(CompileFlag);
  if (!compiled.empty())
    return usageError("flag '",
                      compiled.front().substr(0, compiled.front().find('=')),
                      "' expects a model, but got the compiled program ",
                      inQuotes(path))
        .hint("leave it out: the program was compiled with flags of its own");
  Program program{fs::absolute(path).string(),
                  Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))};
  if (!program.file)
    return inputError("cannot open: " + errnoText(errno)).at(path);
  return program;
}

/// The command line that reads a checkpoint: the given one, behind the model
/// or the program of the training.
static std::string resumeHint(const UseCommand &command,
                              const FlagValues &flags, const std::string &run) {
  std::string text = concat(command.name, " MODEL --resume ", shellWord(run));
  for (const char *name : {"prompt", "data", "val-data", "output"})
    for (const FlagSpec &spec : flags.specs())
      if (spec.name == std::string_view(name) && flags.isSet(name))
        text += concat(" --", name, " ", shellWord(flags.getText(name)));
  return text + ", where MODEL is the model or the program that was trained";
}

/// The program of a model; the model's weights are its initial ones.
static Expected<Program> findModelProgram(const UseCommand &command,
                                          const FlagValues &flags,
                                          const std::string &model,
                                          bool predicts) {
  if (isProgram(model))
    return openProgram(flags, model);
  if (holdsCheckpoints(model))
    return inputError("expects a model or a compiled program, but got a folder "
                      "of checkpoints")
        .at(model)
        .hint(resumeHint(command, flags, model));
  FlagValues wanted = command.samples() ? flagsForSamples(flags) : flags;
  if (predicts || command.use == RunUse::Predict)
    wanted = wanted.with("predict", "on");
  if (!wanted.isSet("inference"))
    wanted = wanted.with("inference", "on");
  return prepareProgram(withoutTraining(wanted), model, /*trains=*/false);
}

/// The flag of a command that a run knows by another name.
static const char *ownFlag(const UseCommand &command) {
  return command.samples()                ? "prompt"
         : command.use == RunUse::Predict ? "output"
                                          : "";
}

/// The run flag for the mode of the command.
static std::string modeFlag(const UseCommand &command,
                            const FlagValues &flags) {
  if (command.use == RunUse::Evaluate)
    return "--eval-only";
  return (command.samples() ? "--generate=" : "--predictions=") +
         flags.getString(ownFlag(command));
}

static Expected<ExitCode> runUse(const UseCommand &command,
                                 const FlagValues &flags,
                                 const Program &program,
                                 const ProgramRanks &ranks) {
  Arguments runFlags = {modeFlag(command, flags)};
  Expected<FlagValues> used =
      command.samples() ? flags : withTokens(flags, program);
  if (!used)
    return used.takeError();
  if (const std::string own = ownFlag(command); !own.empty())
    *used = used->without(own);
  for (const std::string &flag : used->canonical(RunFlag))
    runFlags.push_back(flag);
  return runProgram(program, ranks, runFlags);
}

/// Whether the data of the command are questions with choices.
static bool usesQuestions(const UseCommand &command, const FlagValues &flags) {
  const char *flag = command.use == RunUse::Predict ? "data" : "val-data";
  return !command.samples() && flags.isSet(flag) &&
         hasQuestions(flags.getString(flag));
}

Expected<ExitCode> weft::useModel(const UseCommand &command,
                                  const FlagValues &flags) {
  const std::string &model = flags.positionals().front();
  const bool hasChoices = usesQuestions(command, flags);
  // A file may name the flags that the program was compiled with.
  const FlagValues compiled =
      isProgram(model) ? withoutFileValues(flags, CompileFlag) : flags;
  Expected<Program> program =
      findModelProgram(command, compiled, model, hasChoices);
  if (!program)
    return program.takeError();
  auto metadata = metadataOf(*program);
  if (!metadata)
    return metadata.takeError();
  if (Status status = checkCompiledFlags(compiled, *metadata); !status)
    return status.takeError();
  if (command.samples() && !metadata->isLanguageModel())
    return inputError("expects a language model, but got ",
                      inQuotes(metadata->name))
        .at(model)
        .hint("weft evaluate MODEL --val-data FILE measures its loss");
  const bool hasWeights =
      !metadata->initialWeights.empty() || !metadata->unreadWeights.empty();
  if (!hasWeights && !flags.isSet("init-from") && !flags.isSet("resume"))
    return inputError("expects a model with weights, but got one without")
        .at(model)
        .hint("--init-from FILE names weights, --resume DIR a checkpoint; weft "
              "train MODEL trains them");
  if (hasChoices)
    return command.use == RunUse::Predict
               ? predictChoices(flags, *program, *metadata)
               : evaluateChoices(flags, *program, *metadata);
  const ProgramRanks ranks = {metadata->ranks(),
                              metadata->target.rfind("cuda", 0) == 0};
  if (command.samples())
    if (Status s = offerTokenizer(flags, *metadata, *program); !s)
      return s.takeError();
  return runUse(command, flags, *program, ranks);
}
