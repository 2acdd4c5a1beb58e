//===- LoadDump.cpp - Continue with a dump of --dump-dir ------------------===//

#include "DiagnosticSink.h"

#include "weft/Base/InputFile.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
#include "weft/Pipeline/Driver/Plugins.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

static constexpr char kPlugins[] = "load-pass-plugin";

/// Rejects a dump of another phase, which has other top-level ops.
static Status checkLevel(ModuleOp module, const PhaseInfo &phase,
                         const Target &target, const std::string &path) {
  StringRef wanted = phase.level < Level::Plan    ? "weft.program"
                     : phase.level == Level::Plan ? "plan.program"
                                                  : target.getKernelOp();
  std::string other;
  for (Operation &op : module.getBody()->getOperations()) {
    StringRef name = op.getName().getStringRef();
    if (name == wanted)
      return Status::success();
    if (name == "weft.program" || name == "plan.program")
      other = name.str();
  }
  if (other.empty())
    return Status::success();
  return inputError(std::string("expects a dump written after ") + phase.name +
                    ", with " + wanted.str() + ", but got one with " + other)
      .at(path);
}

/// Compile flags come from the dump. Only plug-ins may be given again, since
/// the dump names their files as they were at its time.
static Status checkFlagsOfDump(const FlagValues &flags) {
  for (const FlagSpec &spec : compileFlags())
    if (flags.isSet(spec.name) && spec.name != StringRef(kPlugins))
      return usageError("does not take --" + std::string(spec.name) +
                        " together with --from")
          .hint(
              "the dump carries its options in weft.options; edit them there");
  return Status::success();
}

/// Loads the plug-ins without which the text of a dump cannot be parsed.
Status Compiler::loadPluginsOfDump(const std::string &path) {
  if (values.isSet(kPlugins))
    return loadDialects(values.getList(kPlugins));
  Expected<std::string> text = readFile(path);
  // A file that cannot be read is an error of the parser.
  if (!text)
    return Status::success();
  Status status = loadDialects(findPluginsOfDump(*text));
  if (status)
    return status;
  Error error = status.takeError();
  return error.hint("weft.options of " + path +
                    " names this file; --load-pass-plugin=FILE replaces it");
}

Status Compiler::loadDump(const std::string &path) {
  const std::string phase = values.getString("from");
  if (!isPhaseName(phase))
    return usageError("expects the name of a phase after --from, but got '" +
                      phase + "'")
        .hint("weft compile --help-all lists the phases");
  if (Status status = checkFlagsOfDump(values); !status)
    return status;
  if (Status status = loadPluginsOfDump(path); !status)
    return status;
  FailureOr<OwningOpRef<ModuleOp>> parsed = parseTextFile(path, *context);
  if (failed(parsed))
    return sink->takeError("parsing");
  owned = std::move(*parsed);
  if (Status status = takeDumpOptions(path); !status)
    return status;
  done = table->find(phase);
  if (done < 0)
    return inputError("expects a dump for a target with the phase " + phase +
                      ", but got one for " + values.getText("target"))
        .at(path);
  keepSnapshot();
  if (Status status = checkLevel(*owned, phases()[done], target(), path);
      !status)
    return status;
  if (done >= phases().find(Phase::PlanMemory))
    if (Status status = target().checkPlan(*owned, values); !status)
      return Error(status.takeError()).at(path);
  return checkDump(done);
}

/// Checks the contract of the dump's phase again, since the dump may have been
/// edited. verify-plan, which proves a plan and changes nothing, runs again.
Status Compiler::checkDump(int index) {
  const PhaseInfo &phase = phases()[index];
  if (phase.phase == Phase::VerifyPlan) {
    PassManager manager(context.get(), ModuleOp::getOperationName());
    phases().addPasses(index, values, manager);
    if (Status status = runPasses(index, manager); !status)
      return status;
  }
  if (Status status = verifyPhase(index); !status)
    return status;
  return index < phases().find(Phase::PlanMemory) ? Status::success()
                                                  : checkMemoryLimit();
}

/// Takes the compile flags from the dump and the driver flags from the command
/// line.
Status Compiler::takeDumpOptions(const std::string &path) {
  Expected<std::vector<std::string>> options = loadOptions(*owned);
  if (!options)
    return options.takeError().at(path);
  std::vector<std::string> args = std::move(*options);
  const bool replacesPlugins = values.isSet(kPlugins);
  const std::string plugins = "--" + std::string(kPlugins) + "=";
  if (replacesPlugins) {
    llvm::erase_if(args,
                   [&](StringRef arg) { return arg.starts_with(plugins); });
    args.push_back(plugins + values.getText(kPlugins));
  }
  for (std::string &flag : values.canonical(DriverFlag))
    args.push_back(flag);
  Expected<FlagValues> merged = compilerFlagTable().parse(args);
  if (!merged)
    return merged.takeError().withCode(ExitCode::Input).at(path);
  values = std::move(*merged);
  if (Status status = checkSupported(values); !status)
    return Error(status.takeError()).withCode(ExitCode::Input).at(path);
  Expected<PhaseTable> found = PhaseTable::get(values);
  if (!found)
    return found.takeError().withCode(ExitCode::Input).at(path);
  table = std::move(*found);
  if (replacesPlugins)
    storeOptions(*owned, values);
  return Status::success();
}
