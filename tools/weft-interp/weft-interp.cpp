//===- weft-interp.cpp - Runs or compares modules in the interpreter ------===//

#include "RunModule.h"

#include "weft/Base/Flags.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Dist/Dist.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Interp/Compare.h"
#include "weft/Interp/Inputs.h"
#include "weft/Interp/TensorFile.h"
#include "weft/Pipeline/Driver/Plugins.h"
#include "weft/Plan/Plan.h"
#include "weft/Support/ToolMain.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace weft;

static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

static const std::vector<FlagSpec> flagSpecs = {
    {"program", FlagKind::String, DriverFlag, "", "NAME",
     "run this program (default: all, in the order of the file)"},
    {"steps", FlagKind::Int, DriverFlag, "0", "N",
     "run the init program (with --state=FILE: refresh), then N steps: "
     "denominators (if there is one), micro and apply",
     "", 0, 1e6},
    {"accum", FlagKind::Int, DriverFlag, "1", "K",
     "micro-batches of a step with --steps; a tensor of --inputs has the rows "
     "of all of them: rows of micro-batch k on rank r of W begin at (k W + r) "
     "B",
     "", 1, 1e6},
    {"inputs", FlagKind::String, DriverFlag, "random:0", "FILE|random:SEED",
     "inputs by name (rank1/NAME: only for rank 1); missing ones are drawn "
     "from seed 0",
     "", -kNoLimit, kNoLimit, "", FlagFile::Read},
    {"set", FlagKind::List, DriverFlag, "", "NAME=VALUE",
     "fill an input with a value"},
    {"state", FlagKind::String, DriverFlag, "init:0", "FILE|init:SEED",
     "parameters and states by name, or initial values", "", -kNoLimit,
     kNoLimit, "", FlagFile::Read},
    {"mode", FlagKind::Enum, DriverFlag, "f64", "",
     "compute in double, or round results to their element types", "f64|f32"},
    {"stream-order", FlagKind::Int, DriverFlag, "0", "SEED",
     "run commands of a plan with streams in a random order that its events "
     "allow (0: program order)",
     "", 0, 1e15},
    {"outputs", FlagKind::String, DriverFlag, "", "FILE",
     "write outputs as safetensors", "", -kNoLimit, kNoLimit, "",
     FlagFile::Written},
    {"save-state", FlagKind::String, DriverFlag, "", "FILE",
     "write parameters and states as safetensors", "", -kNoLimit, kNoLimit, "",
     FlagFile::Written},
    {"load-dialect-plugin", FlagKind::List, DriverFlag, "", "FILE",
     "load the dialects of an MLIR plug-in", "", -kNoLimit, kNoLimit, "",
     FlagFile::Read},
    {"overwrite", FlagKind::Switch, DriverFlag, "", "",
     "let outputs replace files that weft did not write"},
    {"print", FlagKind::Switch, DriverFlag, "on", "",
     "print outputs and written states"},
    {"each-rank", FlagKind::Switch, DriverFlag, "off", "",
     "print outputs and states of each rank, not only of rank 0"},
    {"compare", FlagKind::Switch, DriverFlag, "off", "",
     "run two modules and compare outputs and states; exit 1 if they differ"},
    {"tolerance", FlagKind::Double, DriverFlag, "1e-12", "X",
     "allowed difference relative to a tensor's largest magnitude", "", 0},
    helpFlag(DriverFlag),
};

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

/// `KIND:SEED` gives the seed; anything else is a file of tensors.
static Status readSource(const FlagValues &flags, const std::string &flag,
                         const std::string &kind, int64_t &seed,
                         TensorMap &tensors) {
  const std::string &text = flags.getString(flag);
  if (llvm::StringRef(text).starts_with(kind + ":")) {
    if (llvm::StringRef(text)
            .drop_front(kind.size() + 1)
            .getAsInteger(10, seed))
      return usageError("--" + flag + " expects " + kind +
                        ":SEED with an integer, but got " + inQuotes(text));
    return Status::success();
  }
  Expected<TensorMap> loaded = loadTensors(text);
  if (!loaded)
    return loaded.takeError();
  tensors = std::move(*loaded);
  return Status::success();
}

static Status readFills(const FlagValues &flags, Settings &settings) {
  for (const std::string &text : flags.getList("set")) {
    auto [name, value] = llvm::StringRef(text).split('=');
    double number;
    if (name.empty() || value.getAsDouble(number))
      return usageError("--set expects NAME=VALUE with a number, but got " +
                        inQuotes(text));
    settings.fills[name.str()] = number;
  }
  return Status::success();
}

static Status readSettings(const FlagValues &flags, Settings &settings) {
  settings.files = flags.positionals();
  settings.program = flags.getString("program");
  settings.outputsPath = flags.getString("outputs");
  settings.statePath = flags.getString("save-state");
  settings.mode =
      flags.getString("mode") == "f64" ? ComputeMode::F64 : ComputeMode::F32;
  settings.steps = flags.getInt("steps");
  settings.accum = flags.getInt("accum");
  if (flags.isSet("accum") && settings.steps == 0)
    return usageError("--accum has no effect without --steps");
  settings.streamOrder = flags.getInt("stream-order");
  settings.tolerance = flags.getDouble("tolerance");
  settings.compares = flags.getSwitch("compare");
  settings.prints = flags.getSwitch("print");
  settings.printsEachRank = flags.getSwitch("each-rank");
  for (const char *single : {"program", "outputs", "save-state"})
    if (settings.compares && flags.isSet(single))
      return usageError("expects no --" + std::string(single) +
                        " with --compare, which runs all programs of both "
                        "modules and writes no file");
  size_t wanted = settings.compares ? 2 : 1;
  if (settings.files.size() != wanted)
    return usageError("expects " + std::to_string(wanted) +
                      " module file(s), but got " +
                      std::to_string(settings.files.size()));
  std::vector<FileUse> inputs = flags.files(FlagFile::Read);
  for (const std::string &file : settings.files)
    inputs.push_back({"the module", file});
  const std::vector<FileUse> outputs = flags.files(FlagFile::Written);
  if (Status status = checkOutputPaths(outputs, inputs, manifestName); !status)
    return status;
  if (Status status = checkReplaced(outputs, flags.getSwitch("overwrite"));
      !status)
    return status;
  if (Status status = readSource(flags, "inputs", "random", settings.inputSeed,
                                 settings.inputs);
      !status)
    return status;
  if (Status status = readSource(flags, "state", "init", settings.stateSeed,
                                 settings.states);
      !status)
    return status;
  return readFills(flags, settings);
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static int compareFiles(mlir::ModuleOp first, mlir::ModuleOp second,
                        const Settings &settings) {
  CompareOptions options;
  options.mode = settings.mode;
  options.seed = settings.inputSeed;
  options.steps = std::max<int64_t>(settings.steps, 1);
  options.tolerance = settings.tolerance;
  options.inputs = settings.inputs;
  options.fills = settings.fills;
  options.states = settings.states;
  llvm::FailureOr<Comparison> comparison =
      compareModules(first, second, options);
  if (failed(comparison))
    return int(ExitCode::Input);
  printEscaped(comparisonTable(*comparison));
  return comparison->isEqual() ? 0 : 1;
}

static int run(int argc, char **argv) {
  FlagTable table(flagSpecs);
  FlagParseOptions options;
  options.program = "weft-interp";
  Expected<FlagValues> flags = table.parse({argv + 1, argv + argc}, options);
  if (!flags)
    return flags.error().report();
  if (flags->getSwitch("help")) {
    printEscaped("usage: weft-interp FILE [flags]\n"
                 "       weft-interp --compare FILE FILE [flags]\n" +
                 table.help());
    return int(ExitCode::Ok);
  }
  Settings settings;
  if (Status status = readSettings(*flags, settings); !status)
    return status.error().report();

  mlir::DialectRegistry registry;
  registry.insert<WeftDialect, dist::DistDialect, plan::PlanDialect>();
  registerInterpreter(registry);
  if (Status status = registerPluginDialects(
          flags->getList("load-dialect-plugin"), registry);
      !status)
    return status.error().report();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  // A file of somebody else may hold anything.
  std::string said;
  llvm::raw_string_ostream stream(said);
  llvm::scope_exit print(
      [&] { std::fputs(escaped(said, "\n\t").c_str(), stderr); });
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, stream);
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  for (const std::string &file : settings.files) {
    auto module = parseTextFile(file, context);
    if (failed(module)) {
      if (llvm::StringRef(said).contains("not found for custom op"))
        said += "hint: --load-dialect-plugin=FILE loads the dialects of a "
                "plug-in\n";
      return int(ExitCode::Input);
    }
    modules.push_back(std::move(*module));
  }
  return settings.compares ? compareFiles(*modules[0], *modules[1], settings)
                           : runModule(*modules[0], settings);
}

int main(int argc, char **argv) {
  return runTool([&] { return run(argc, argv); });
}
