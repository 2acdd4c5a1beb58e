//===- weft-interp.cpp - Runs or compares modules in the interpreter ------===//

#include "weft/Dist/Dist.h"
#include "weft/Formats/Flags.h"
#include "weft/Formats/MicroSteps.h"
#include "weft/Formats/Names.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StandardStreams.h"
#include "weft/Formats/Text.h"
#include "weft/Frontend/Frontend.h"
#include "weft/Interp/Compare.h"
#include "weft/Interp/Inputs.h"
#include "weft/Interp/NamedStates.h"
#include "weft/Interp/TensorFile.h"
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
     "of "
     "all of them, those of micro-batch k of rank r of W at (k W + r) B",
     "", 1, 1e6},
    {"inputs", FlagKind::String, DriverFlag, "random:0", "FILE|random:SEED",
     "inputs by name (rank1/NAME: of rank 1 alone); missing ones are made from "
     "seed 0",
     "", -kNoLimit, kNoLimit, "", FlagFile::Read},
    {"set", FlagKind::List, DriverFlag, "", "NAME=VALUE",
     "fill an input with a value"},
    {"state", FlagKind::String, DriverFlag, "init:0", "FILE|init:SEED",
     "parameters and states by name, or initial values", "", -kNoLimit,
     kNoLimit, "", FlagFile::Read},
    {"mode", FlagKind::Enum, DriverFlag, "f64", "",
     "compute in double, or round results to their element types", "f64|f32"},
    {"stream-order", FlagKind::Int, DriverFlag, "0", "SEED",
     "run commands of a plan with streams in an order that its events allow "
     "(0: as they stand)",
     "", 0, 1e15},
    {"outputs", FlagKind::String, DriverFlag, "", "FILE",
     "write outputs as safetensors", "", -kNoLimit, kNoLimit, "",
     FlagFile::Written},
    {"save-state", FlagKind::String, DriverFlag, "", "FILE",
     "write parameters and states as safetensors", "", -kNoLimit, kNoLimit, "",
     FlagFile::Written},
    {"overwrite", FlagKind::Switch, DriverFlag, "", "",
     "let outputs replace files that weft did not write"},
    {"print", FlagKind::Switch, DriverFlag, "on", "",
     "print outputs and written states"},
    {"each-rank", FlagKind::Switch, DriverFlag, "off", "",
     "print those of each rank, not of rank 0 alone"},
    {"compare", FlagKind::Switch, DriverFlag, "off", "",
     "run two modules and compare outputs and states; exit 1 if they differ"},
    {"tolerance", FlagKind::Double, DriverFlag, "1e-12", "X",
     "allowed difference relative to a tensor's largest magnitude", "", 0},
    helpFlag(DriverFlag),
};

namespace {
/// The command line, read.
struct Settings {
  std::vector<std::string> files;
  std::string program, outputsPath, statePath;
  ComputeMode mode = ComputeMode::F64;
  int64_t steps = 0, accum = 1, inputSeed = 0, stateSeed = 0, streamOrder = 0;
  double tolerance = 0;
  bool compares = false, prints = true, printsEachRank = false;
  TensorMap inputs, states;
  std::map<std::string, double> fills;
};
} // namespace

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
  if (Status status = checkOutputPaths(outputs, inputs); !status)
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
// Running
//===----------------------------------------------------------------------===//

namespace {
/// A run of a program: step, and micro-batch of it.
struct Turn {
  int64_t step = 0, micro = 0;
};
} // namespace

/// Rows [part * n, (part + 1) * n) of a tensor with more rows than the n of
/// `type`; another tensor as it is.
static Tensor takeRows(const Tensor &all, mlir::RankedTensorType type,
                       int64_t part, int64_t parts) {
  const bool isWhole = type.getRank() == 0 || all.rank() != type.getRank() ||
                       all.dim(0) != parts * type.getDimSize(0);
  if (isWhole)
    return all;
  Tensor rows(type);
  for (int64_t i = 0; i < rows.size(); ++i)
    if (rows.isFloat())
      rows.at(i) = all.at(part * rows.size() + i);
    else
      rows.intAt(i) = all.intAt(part * rows.size() + i);
  return rows;
}

/// Generated inputs of a rank, overridden by the file, then by --set. Rows are
/// generated for as many ranks as a step has batches.
static TensorMap inputsOf(const RanksRunner &ranks, const ProgramInfo &program,
                          const Settings &settings, Turn turn, int64_t rank) {
  const int64_t part = turn.micro * ranks.getNumRanks() + rank;
  TensorMap inputs = makeInputs(program, settings.inputSeed + turn.step, part);
  for (const ProgramInfo::Input &input : program.inputs) {
    Tensor &value = inputs.at(input.name);
    if (input.name == names::kRank)
      value.intAt(0) = rank;
    if (input.name == names::kAccumulate && turn.micro > 0)
      fillTensor(value, 1);
    if (input.name == names::kLossSeed || input.name == names::kBatchShare)
      fillTensor(value, 1.0 / static_cast<double>(settings.accum));
    if (const Tensor *given = findOfRank(settings.inputs, input.name, rank))
      value = takeRows(*given, input.type, part,
                       settings.accum * ranks.getNumRanks());
    if (const double *fill = findOfRank(settings.fills, input.name, rank))
      fillTensor(value, *fill);
  }
  return inputs;
}

static void printTensor(llvm::StringRef name, const Tensor &tensor) {
  printEscaped(
      (name + " = " + tensor.text() + " : " + tensor.typeText() + "\n").str());
}

/// What a rank returned and, where single programs run, wrote.
static void printRank(const RanksRunner &ranks, int64_t rank,
                      const ProgramInfo &program, const TensorMap &results,
                      const Settings &settings) {
  std::string prefix =
      settings.printsEachRank ? "rank " + std::to_string(rank) + ": " : "";
  for (const auto &[name, value] : results)
    printTensor(prefix + name, value);
  if (settings.steps == 0)
    for (const std::string &name : program.written)
      printTensor(prefix + "@" + name, *ranks.getRank(rank).findState(name));
}

/// Runs one program, prints what it returns and writes, and adds its outputs to
/// `outputs` under their names after `prefix`, those of several ranks after
/// theirs.
static llvm::LogicalResult runProgram(RanksRunner &ranks,
                                      const ProgramInfo &program,
                                      const Settings &settings, Turn turn,
                                      llvm::StringRef prefix,
                                      TensorMap &outputs) {
  std::vector<TensorMap> inputs;
  for (int64_t rank = 0; rank < ranks.getNumRanks(); ++rank)
    inputs.push_back(inputsOf(ranks, program, settings, turn, rank));
  llvm::FailureOr<std::vector<TensorMap>> results =
      ranks.run(program.name, inputs);
  if (failed(results))
    return llvm::failure();
  for (auto [rank, made] : llvm::enumerate(*results)) {
    if (settings.prints && (rank == 0 || settings.printsEachRank))
      printRank(ranks, rank, program, made, settings);
    for (const auto &[name, value] : made) {
      std::string full = (prefix + name).str();
      outputs[ranks.getNumRanks() > 1 ? nameOfRank(full, rank) : full] = value;
    }
  }
  return llvm::success();
}

/// Runs the init program, or the refresh program if a state was given.
static llvm::LogicalResult begin(RanksRunner &ranks, const Settings &settings) {
  std::optional<ProgramInfo> init =
      findProgram(ranks.getRank(0), ProgramKind::Init);
  if (!init || !settings.states.empty())
    return refreshStates(ranks);
  std::vector<TensorMap> inputs;
  for (int64_t rank = 0; rank < ranks.getNumRanks(); ++rank)
    inputs.push_back(makeInputs(*init, settings.stateSeed, rank));
  return llvm::success(succeeded(ranks.run(init->name, inputs)));
}

/// Runs the program of that name with the inputs of a micro-batch.
static llvm::LogicalResult runNamed(RanksRunner &ranks, llvm::StringRef name,
                                    const Settings &settings, Turn turn,
                                    TensorMap &outputs) {
  const std::string prefix = settings.accum > 1 && name != names::kApply
                                 ? "micro" + std::to_string(turn.micro) + "/"
                                 : "";
  for (const ProgramInfo &program : ranks.getRank(0).getPrograms())
    if (program.name == name)
      return runProgram(ranks, program, settings, turn, prefix, outputs);
  return ranks.getModule().emitError()
         << "expects a program '@" << name << "', but got none";
}

/// Denominators of all micro-batches, then their micro-steps, then the update.
static llvm::LogicalResult runStep(RanksRunner &ranks, const Settings &settings,
                                   int64_t step, TensorMap &outputs) {
  auto has = [&](llvm::StringRef name) {
    return llvm::any_of(
        ranks.getRank(0).getPrograms(),
        [&](const ProgramInfo &program) { return program.name == name; });
  };
  const int64_t count = settings.accum;
  for (int64_t k = 0; has(names::kDenominators) && k < count; ++k)
    if (failed(runNamed(ranks, names::chooseDenominators(k, count, has),
                        settings, {step, k}, outputs)))
      return llvm::failure();
  for (int64_t k = 0; k < count; ++k)
    if (failed(runNamed(ranks, names::chooseMicro(k, count, has), settings,
                        {step, k}, outputs)))
      return llvm::failure();
  return runNamed(ranks, names::kApply, settings, {step, 0}, outputs);
}

/// The first program, then steps.
static llvm::LogicalResult
runSteps(RanksRunner &ranks, const Settings &settings, TensorMap &outputs) {
  for (ProgramKind kind : {ProgramKind::Micro, ProgramKind::Apply})
    if (!findProgram(ranks.getRank(0), kind))
      return ranks.getModule().emitError()
             << "--steps expects a micro and an apply program";
  if (failed(begin(ranks, settings)))
    return llvm::failure();
  for (int64_t step = 0; step < settings.steps; ++step)
    if (failed(runStep(ranks, settings, step, outputs)))
      return llvm::failure();
  return llvm::success();
}

/// The program that was named, or all of them in the order of the file.
static llvm::LogicalResult
runPrograms(RanksRunner &ranks, const Settings &settings, TensorMap &outputs) {
  std::vector<ProgramInfo> programs = ranks.getRank(0).getPrograms();
  bool isAll = settings.program.empty() && programs.size() > 1, found = false;
  for (const ProgramInfo &program : programs) {
    llvm::StringRef name = program.name;
    if (!settings.program.empty() && name != settings.program)
      continue;
    found = true;
    if (settings.prints && settings.program.empty())
      printEscaped(("program @" + name + "\n").str());
    std::string prefix = isAll ? (name + "/").str() : "";
    if (failed(runProgram(ranks, program, settings, {}, prefix, outputs)))
      return llvm::failure();
  }
  if (!found && settings.program.empty())
    return ranks.getModule().emitError() << "expects a program";
  if (!found)
    return ranks.getModule().emitError()
           << "expects a program '@" << settings.program << "'";
  return llvm::success();
}

/// Whole tensors, one of all ranks together.
static int saveStates(const RanksRunner &ranks, const Settings &settings) {
  llvm::FailureOr<TensorMap> states = getNamedStates(ranks);
  if (failed(states))
    return int(ExitCode::Input);
  Status status = saveTensors(settings.statePath, *states, settings.mode);
  return status ? int(ExitCode::Ok) : status.error().report();
}

static int runModule(mlir::ModuleOp module, const Settings &settings) {
  RanksRunner ranks(module, settings.mode, countRanks(module),
                    uint64_t(settings.streamOrder));
  if (failed(ranks.initialize(settings.stateSeed)))
    return int(ExitCode::Input);
  for (const auto &[name, value] : settings.states)
    if (failed(setNamedState(ranks, name, value)))
      return int(ExitCode::Input);
  TensorMap outputs;
  if (failed(settings.steps ? runSteps(ranks, settings, outputs)
                            : runPrograms(ranks, settings, outputs)))
    return int(ExitCode::Input);
  if (!settings.outputsPath.empty())
    if (Status status =
            saveTensors(settings.outputsPath, outputs, settings.mode);
        !status)
      return status.error().report();
  return settings.statePath.empty() ? int(ExitCode::Ok)
                                    : saveStates(ranks, settings);
}

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
  Expected<FlagValues> flags = table.parse(argc - 1, argv + 1, options);
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
    if (failed(module))
      return int(ExitCode::Input);
    modules.push_back(std::move(*module));
  }
  return settings.compares ? compareFiles(*modules[0], *modules[1], settings)
                           : runModule(*modules[0], settings);
}

int main(int argc, char **argv) {
  return runTool([&] { return run(argc, argv); });
}
