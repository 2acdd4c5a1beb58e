//===- BenchCommand.cpp - weft bench: a cost table of this machine --------===//

#include "Bench.h"
#include "CommandHelp.h"
#include "MlirFlags.h"
#include "ToolCommands.h"

#include "weft/Base/CountText.h"
#include "weft/Base/OutputFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Schedule/CostTableFile.h"
#include "weft/Support/HelperProgram.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>

using namespace weft;

FlagTable weft::benchFlags() {
  return FlagTable({
      {"output", FlagKind::String, DriverFlag, "", "FILE",
       "the cost table; default, and -: standard output", "", 0, 0, "o",
       FlagFile::Written},
      {"overwrite", FlagKind::Switch, DriverFlag, "", "",
       "let the table replace a file that weft did not write"},
      {"ranks", FlagKind::Int, DriverFlag, "1", "N",
       "ranks that run at once; their links are measured too", "", 1, 64},
      {"loopback", FlagKind::Switch, DriverFlag, "", "",
       "ranks are threads of one process"},
      {"threads", FlagKind::Int, DriverFlag, "", "N",
       "threads of a rank, and --threads-max of its program; default: as in a "
       "run",
       "", 1, 1024},
      {"precision", FlagKind::List, DriverFlag, "", "f16|bf16",
       "measure these types in addition to f32"},
      {"target", FlagKind::String, DriverFlag, "cpu", "TARGET",
       "cpu (this machine) or cpu:LEVEL, as of weft compile"},
      {"shared", FlagKind::Switch, DriverFlag, "", "",
       "other programs run meanwhile: the table has the least processor time "
       "of each command, with one thread"},
      {"quick", FlagKind::Switch, DriverFlag, "", "",
       "only two of the models, for a rough table"},
      {"rounds", FlagKind::Int, DriverFlag, "5", "N",
       "runs of each model; the table has medians", "", 1, 1000},
      {"steps", FlagKind::Int, DriverFlag, "12", "N",
       "steps of each run; the first two count only if there are no others", "",
       1, 1000},
      helpFlag(DriverFlag),
  });
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static std::string describe(const CostFit &fit) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << countText(fit.samples, "command") << ", typically "
         << llvm::format("%.0f", fit.getPercentOff()) << " % off";
  return text;
}

/// The command line, but for where the table goes, and the processor.
static std::string describe(const FlagValues &flags) {
  std::string text = "weft bench";
  for (const std::string &flag : flags.without("output").canonical(DriverFlag))
    text += " " + flag;
  return text + ", " + llvm::sys::getHostCPUName().str();
}

static void warnOfPoorFits(const std::vector<CostFit> &fits,
                           const FlagValues &flags) {
  const std::string poor = listPoorFits(fits);
  if (poor.empty())
    return;
  const bool canShare =
      !flags.getSwitch("shared") && flags.getInt("ranks") == 1;
  warn("estimates with this table are typically more than 50 % off: " + poor,
       canShare ? "measure processor time, with --shared --threads=1, or more "
                  "--rounds"
                : "measure more --rounds and --steps");
}

static Expected<std::string> writeTable(const Bench &bench,
                                        const FlagValues &flags) {
  const std::vector<CostFit> fits = fitCosts(bench.getSamples());
  warnOfPoorFits(fits, flags);
  auto table = bench.makeTable(fits);
  if (!table)
    return table.takeError();
  llvm::StringMap<std::string> notes;
  notes[""] =
      describe(flags) + "; rates of all commands that are not named below";
  for (const CostFit &fit : fits)
    notes[fit.getPart()] = describe(fit);
  return writeCostTable(*table, notes);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static Expected<std::vector<std::string>>
readPrecisions(const FlagValues &flags) {
  std::vector<std::string> types = {"f32"};
  for (const std::string &given : flags.getList("precision")) {
    const std::string type = canonicalChoice("f16|bf16", given);
    if (type != "f16" && type != "bf16")
      return usageError("flag '--precision' expects f16 or bf16, but got " +
                        inQuotes(type));
    if (std::find(types.begin(), types.end(), type) == types.end())
      types.push_back(type);
  }
  return types;
}

/// Processor time is a measure of the work of one thread only.
static Status checkShared(const FlagValues &flags) {
  const int64_t ranks = flags.getInt("ranks"),
                threads = flags.getInt("threads", 0);
  std::string wrong;
  if (ranks != 1)
    wrong = "--ranks=1, but got " + std::to_string(ranks);
  else if (threads != 1)
    wrong = "--threads=1, but got " +
            (threads > 0 ? std::to_string(threads) : "none");
  if (wrong.empty())
    return Status::success();
  return usageError("--shared expects " + wrong)
      .hint("--shared counts processor time, which threads and ranks also use "
            "while they wait for others: --shared --ranks=1 --threads=1");
}

/// Checks flags early: other failures would only show at the end, or after
/// minutes.
static Status checkFlags(const FlagValues &flags) {
  const bool hasRanks = flags.getInt("ranks") > 1;
  if (flags.getSwitch("shared"))
    if (Status status = checkShared(flags); !status)
      return status;
  const std::string target = flags.getString("target");
  if (!llvm::StringRef(target).split(':').first.equals_insensitive("cpu"))
    return usageError("--target expects cpu or cpu:LEVEL, but got " +
                      inQuotes(target));
  if (flags.getSwitch("loopback") && !hasRanks)
    return usageError("--loopback expects --ranks of at least 2, but got 1");
  if (hasRanks && !flags.getSwitch("loopback") &&
      !llvm::sys::findProgramByName("mpirun"))
    return Error(ExitCode::Device, "found no mpirun on the PATH")
        .hint("install openmpi-bin, or measure threads: --loopback");
  if (!flags.isSet("output"))
    return Status::success();
  const std::vector<FileUse> outputs = flags.files(FlagFile::Written);
  if (Status status = checkOutputPaths(outputs, {}, manifestName); !status)
    return status;
  if (Status status = checkReplaced(outputs, flags.getSwitch("overwrite"));
      !status)
    return status;
  if (isWrittenInPlace(flags.getString("output")))
    return Status::success();
  // Nothing is written: it goes with this.
  auto file = OutputFile::create(flags.getString("output"));
  if (!file)
    return file.takeError();
  return Status::success();
}

static Status writeResult(const FlagValues &flags, const std::string &text) {
  if (flags.isSet("output"))
    return writeFile(flags.getString("output"), sealText(text, "#"));
  printText(text);
  return Status::success();
}

static Expected<ExitCode> runBench(const FlagValues &flags,
                                   const std::vector<std::string> &types) {
  BenchOptions options;
  options.ranks = flags.getInt("ranks");
  options.areThreads = flags.getSwitch("loopback");
  options.threads = flags.getInt("threads", 0);
  options.steps = flags.getInt("steps");
  options.isQuick = flags.getSwitch("quick");
  options.isShared = flags.getSwitch("shared");
  options.target = flags.getString("target");
  Expected<Temporary> folder = makeHelperFolder("weft-bench");
  if (!folder)
    return folder.takeError();
  Bench bench(options, folder->path());
  for (const std::string &type : types)
    if (Status status = bench.prepare(type); !status)
      return status.takeError();
  for (int64_t round = 0; round < flags.getInt("rounds"); ++round)
    if (Status status = bench.measure(); !status)
      return status.takeError();
  auto text = writeTable(bench, flags);
  if (!text)
    return text.takeError();
  if (Status status = writeResult(flags, *text); !status)
    return status.takeError();
  return ExitCode::Ok;
}

Expected<ExitCode> weft::benchCommand(const Arguments &args) {
  FlagTable table = benchFlags();
  FlagParseOptions parsing;
  parsing.program = "weft bench";
  parsing.maxPositionals = 0;
  Expected<FlagValues> flags = table.parse(args, parsing);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp(
        {{"weft bench [-o FILE] [flags]"},
         {"Measures the commands of programs on this machine and writes "
          "the file of --cost-table. Nothing else should run meanwhile."}},
        {table});
    return ExitCode::Ok;
  }
  if (flags->getString("output") == kStandardOutput)
    *flags = flags->without("output");
  auto types = readPrecisions(*flags);
  if (!types)
    return types.takeError();
  if (Status status = checkFlags(*flags); !status)
    return status.takeError();
  if (Status status = applyMlirFlags({}); !status)
    return status.takeError();
  return runBench(*flags, *types);
}
