//===- CheckCommand.cpp - weft check: gradients of a model ----------------===//

#include "CommandHelp.h"
#include "MlirFlags.h"
#include "ToolCommands.h"

#include "weft/Autodiff/FiniteDifference.h"
#include "weft/Base/RunFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
#include "weft/Pipeline/Options/CompileFlags.h"

#include <cstdio>

using namespace weft;

static constexpr double kMost = std::numeric_limits<double>::infinity();

static FlagTable checkFlags() {
  return FlagTable({
      {"grad", FlagKind::Switch, DriverFlag, "", "",
       "compare every gradient with finite differences in f64"},
      {"batch", FlagKind::Int, DriverFlag, "", "N",
       "rows; default: 1, or the rows in the model text", "", 1, 1 << 20},
      {"seq", FlagKind::Int, DriverFlag, "", "N", "tokens of a row; default: 4",
       "", 1, 1 << 20},
      {"ignore-field", FlagKind::List, DriverFlag, "", "NAME",
       "accept this unknown field of config.json"},
      {"load-pass-plugin", FlagKind::List, DriverFlag, "", "FILE",
       "load the passes and dialects of an MLIR plug-in", "", -kMost, kMost, "",
       FlagFile::Read},
      {"add-pass", FlagKind::List, DriverFlag, "", "PHASE:PIPELINE",
       "run passes at the end of a phase up to autocast"},
      {"elements", FlagKind::Int, DriverFlag, "2", "N",
       "elements compared of each parameter, and one random direction; 0: all",
       "", 0, 1 << 30},
      {"tolerance", FlagKind::Double, DriverFlag, "1e-6", "X",
       "largest relative error of a gradient", "", 0, 1},
      {"seed", FlagKind::Int, DriverFlag, "1", "N",
       "seed of the random values"},
      {"input-scale", FlagKind::Double, DriverFlag, "1", "X",
       "factor of the random floating-point inputs; larger ones reach the "
       "cases of an op that is defined by cases",
       "", 0, 1e30},
      helpFlag(DriverFlag),
  });
}

/// The compile flags that stand for the given check flags. Small sizes: the
/// interpreter is slow and a gradient does not depend on them.
static Expected<FlagValues> importFlags(const FlagValues &flags,
                                        const std::string &model) {
  bool isText = llvm::StringRef(model).ends_with(".mlir");
  std::vector<std::string> args = {"--to=autocast"};
  if (flags.isSet("batch") || !isText)
    args.push_back("--batch=" + std::to_string(flags.getInt("batch", 1)));
  if (flags.isSet("seq") || !isText)
    args.push_back("--seq=" + std::to_string(flags.getInt("seq", 4)));
  for (const std::string &field : flags.getList("ignore-field"))
    args.push_back("--ignore-field=" + field);
  for (const char *flag : {"load-pass-plugin", "add-pass"})
    if (flags.isSet(flag))
      args.push_back("--" + std::string(flag) + "=" + flags.getText(flag));
  return compilerFlagTable().parse(args);
}

/// The gradients are derived from the module after `last`. A pass that is added
/// to a later phase would not be checked.
static Status checkAddedPasses(const FlagValues &flags, Phase last) {
  Expected<PhaseTable> phases = PhaseTable::get(flags);
  if (!phases)
    return phases.takeError();
  for (int i = phases->find(last) + 1; i < phases->size(); ++i)
    if (phases->hasAddedPasses(i))
      return usageError("weft check expects --add-pass with a phase up to " +
                        std::string(getPhaseInfo(last).name) + ", but got " +
                        inQuotes((*phases)[i].name))
          .hint("weft-interp --compare checks the values of later phases");
  return Status::success();
}

Expected<ExitCode> weft::checkCommand(const Arguments &args) {
  FlagTable table = checkFlags();
  for (FlagSpec spec : configFlags(DriverFlag)) {
    spec.topic = FlagTopic::None;
    table.add({spec});
  }
  Expected<FlagValues> flags = parseModelFlags(table, "weft check", args);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp({{"weft check MODEL --grad [flags]"}, {}}, {table});
    return ExitCode::Ok;
  }
  Expected<bool> isAnswered = printConfig(*flags, "weft check");
  if (!isAnswered)
    return isAnswered.takeError();
  if (*isAnswered)
    return ExitCode::Ok;
  if (flags->positionals().empty() || !flags->getSwitch("grad"))
    return usageError("expects a MODEL and --grad").hint("weft check --help");
  const std::string &model = flags->positionals().front();
  Expected<FlagValues> import = importFlags(*flags, model);
  if (!import)
    return import.takeError();
  if (Status status = applyMlirFlags(flags->passThrough()); !status)
    return status.takeError();
  if (Status status = checkAddedPasses(*import, Phase::Autocast); !status)
    return status.takeError();
  Compiler compiler;
  if (Status status = compiler.load(model, *import); !status)
    return status.takeError();
  if (Status status = compiler.run(compiler.phases().find(Phase::Autocast));
      !status)
    return status.takeError();

  GradientCheckOptions check;
  check.tolerance = flags->getDouble("tolerance");
  check.seed = flags->getInt("seed");
  check.elements = flags->getInt("elements");
  check.inputScale = flags->getDouble("input-scale");
  llvm::FailureOr<GradientCheck> result =
      checkGradients(compiler.module(), check);
  if (failed(result))
    return compiler.takeError("the gradient check");
  printEscaped(gradientTable(*result));
  if (!result->isEqual())
    return Error(ExitCode::Numerics,
                 "gradients differ from finite differences");
  return ExitCode::Ok;
}
