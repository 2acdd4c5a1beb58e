//===- TrainCommand.cpp - weft train: compile (cached) and run ------------===//

#include "CachedProgram.h"
#include "MlirFlags.h"
#include "TokenizedData.h"
#include "ToolCommands.h"

#include "weft/Base/RunFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Weft/Optimizers.h"

using namespace weft;

/// The compile flags of programs that train. Short help does not list the flag
/// of programs for another use.
static std::vector<FlagSpec> trainingFlags() {
  std::vector<FlagSpec> flags;
  for (FlagSpec spec : compileFlags()) {
    if (spec.name == std::string_view("inference"))
      continue;
    spec.isCommon &= spec.name != std::string_view("predict");
    flags.push_back(spec);
  }
  return flags;
}

Expected<ExitCode> weft::trainCommand(const Arguments &args) {
  FlagTable table(trainingFlags());
  table.add(describedRunFlags());
  Expected<FlagValues> flags = parseModelFlags(table, "weft train", args);
  if (!flags)
    return flags.takeError();
  if (std::optional<HelpLayout> layout = askedHelp(*flags)) {
    printText("usage: weft train MODEL --data FILE --steps N [flags]\n\n" +
              table.help(AllFlags, *layout));
    return ExitCode::Ok;
  }
  Expected<bool> isAnswered = printConfig(*flags, "weft train");
  if (!isAnswered)
    return isAnswered.takeError();
  if (*isAnswered)
    return ExitCode::Ok;
  if (flags->positionals().empty())
    return usageError("expects a MODEL").hint("weft train --help");
  if (Status status = applyMlirFlags(flags->passThrough()); !status)
    return status.takeError();

  const bool samples = samplesText(*flags);
  Expected<Program> program =
      prepareProgram(samples ? flagsForSamples(*flags) : *flags,
                     flags->positionals().front(), /*trains=*/true);
  if (!program)
    return program.takeError();
  Expected<FlagValues> tokenized = withTokens(*flags, *program);
  if (!tokenized)
    return tokenized.takeError();
  if (samples) {
    Expected<Metadata> metadata = metadataOf(*program);
    if (!metadata)
      return metadata.takeError();
    if (Status s = offerTokenizer(*flags, *metadata, *program); !s)
      return s.takeError();
  }
  const bool isForCuda = flags->getText("target").rfind("cuda", 0) == 0;
  return runProgram(*program, {meshRanks(*flags), isForCuda},
                    tokenized->canonical(RunFlag));
}

std::vector<FlagSpec> weft::describedRunFlags() {
  static const std::string decay =
      "weight decay of every optimizer; default: " + spellDefaultDecays();
  std::vector<FlagSpec> specs = runFlagSpecs();
  for (FlagSpec &spec : specs)
    if (spec.name == llvm::StringRef("weight-decay"))
      spec.help = decay.c_str();
  return specs;
}
