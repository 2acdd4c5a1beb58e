//===- RunModule.cpp - Run programs of a module ---------------------------===//

#include "RunModule.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Interp/Inputs.h"
#include "weft/Interp/NamedStates.h"
#include "weft/Interp/TensorFile.h"
#include "weft/Weft/Weft.h"

using namespace weft;

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
  Tensor rows(type);
  const bool isWhole =
      parts == 1 || type.getRank() == 0 || all.rank() != type.getRank() ||
      all.isFloat() != rows.isFloat() || all.size() != parts * rows.size();
  if (isWhole)
    return all;
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

/// Prints the results of a rank and, where single programs run, its writes.
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

/// Runs one program, prints its results and written states, and adds its
/// outputs to `outputs`. Names get `prefix`; with several ranks they also name
/// the rank (nameOfRank).
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
  const std::string prefix =
      settings.accum > 1 && name != names::kApply
          ? names::kMicro + std::to_string(turn.micro) + "/"
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

int weft::runModule(mlir::ModuleOp module, const Settings &settings) {
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
