//===- BenchCommand.cpp - weft bench: a cost table of this machine --------===//

#include "BenchRun.h"
#include "CommandHelp.h"
#include "MlirFlags.h"
#include "ToolCommands.h"

#include "weft/Base/CountText.h"
#include "weft/Base/OutputFile.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Formats/OwnFiles.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Simulate/OverlapFit.h"
#include "weft/Schedule/CostTableFile.h"
#include "weft/Support/HelperProgram.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>

using namespace weft;

FlagTable weft::benchFlags() {
  return FlagTable({
      {"output", FlagKind::String, DriverFlag, "", "FILE",
       "the cost table; default: standard output", "", 0, 0, "o",
       FlagFile::Written},
      {"overwrite", FlagKind::Switch, DriverFlag, "", "",
       "let the table replace a file that weft did not write"},
      {"ranks", FlagKind::Int, DriverFlag, "1", "N",
       "ranks that run at once; their links are measured too", "", 1, 64},
      {"loopback", FlagKind::Switch, DriverFlag, "", "",
       "ranks are threads of one process"},
      {"threads", FlagKind::Int, DriverFlag, "", "N",
       "threads of a rank; default: as in a run", "", 1, 4096},
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

namespace {
/// Runs the models, again and again, so that what else the machine does befalls
/// all of them alike.
class Bench {
public:
  Bench(BenchOptions options, std::string folder)
      : options(options), folder(std::move(folder)) {}

  /// Compiles all models with a precision.
  Status prepare(const std::string &precision);
  /// Runs each program once.
  Status measure();

  /// The median of all rounds, of each command; on a shared machine the
  /// shortest.
  std::vector<CostSample> getSamples() const;
  /// Adds speeds and the costs of overlapping collectives to the rates.
  Expected<CostTable> makeTable(const std::vector<CostFit> &rates) const;

private:
  /// One rank needs one program. Several ranks need a second program, whose
  /// collectives overlap with computation.
  struct Pair {
    BenchProgram inLine;
    std::optional<BenchProgram> apart;
    std::vector<std::vector<CostSample>> rounds = {}; // of inLine
    std::vector<double> exposed = {}; // microseconds, one per round of apart
  };

  Expected<BenchProgram> compile(const BenchModel &model,
                                 std::vector<std::string> flags);
  Status measure(Pair &pair);
  double findSlowdown(const std::vector<CostFit> &rates) const;
  Expected<std::vector<ExposedPlan>> findExposed() const;

  BenchOptions options;
  std::string folder;
  std::vector<Pair> pairs;
  /// One round of a pair: the time by which overlapping collectives lengthen
  /// computation, and the times of the collectives alone.
  struct Loss {
    double us;
    std::vector<CostSample> collectives;
  };
  std::vector<Loss> losses;
  std::vector<double> handOvers;
  int programs = 0;
};
} // namespace

Expected<BenchProgram> Bench::compile(const BenchModel &model,
                                      std::vector<std::string> flags) {
  if (options.ranks > 1) {
    flags.push_back("--mesh=dp:" + std::to_string(options.ranks));
    flags.push_back("--zero=3");
  }
  return BenchProgram::compile(model, flags,
                               folder + "/" + std::to_string(programs++),
                               options.findThreads());
}

Status Bench::prepare(const std::string &precision) {
  for (const BenchModel &model : benchModels(options.isQuick)) {
    std::vector<std::string> flags = {"--precision=" + precision,
                                      "--target=" + options.target};
    if (options.ranks > 1)
      flags.push_back("--prefetch=0");
    auto inLine = compile(model, flags);
    if (!inLine)
      return inLine.takeError();
    pairs.push_back({std::move(*inLine), std::nullopt});
    if (options.ranks == 1)
      continue;
    flags.back() = "--prefetch=1";
    auto apart = compile(model, flags);
    if (!apart)
      return apart.takeError();
    pairs.back().apart = std::move(*apart);
  }
  return Status::success();
}

static std::vector<CostSample>
findCollectives(const std::vector<CostSample> &samples) {
  std::vector<CostSample> found;
  llvm::copy_if(samples, std::back_inserter(found),
                [](const CostSample &sample) { return sample.isCollective; });
  return found;
}

/// Time of computation, in microseconds.
static double sumComputing(const std::vector<CostSample> &samples) {
  double us = 0;
  for (const CostSample &sample : samples)
    if (!sample.isCollective && sample.bytes > 0)
      us += sample.us;
  return us;
}

Status Bench::measure(Pair &pair) {
  auto inLine = pair.inLine.run(options);
  if (!inLine)
    return inLine.takeError();
  if (pair.apart) {
    auto apart = pair.apart->run(options);
    if (!apart)
      return apart.takeError();
    losses.push_back(
        {sumComputing(apart->samples) - sumComputing(inLine->samples),
         findCollectives(inLine->samples)});
    handOvers.push_back(apart->handOverUs);
    pair.exposed.push_back(apart->exposedUs);
  }
  if (!pair.rounds.empty() &&
      pair.rounds.front().size() != inLine->samples.size())
    return Error(ExitCode::Internal, "expects the same commands in each run");
  pair.rounds.push_back(std::move(inLine->samples));
  return Status::success();
}

Status Bench::measure() {
  for (Pair &pair : pairs)
    if (Status status = measure(pair); !status)
      return status.takeError();
  return Status::success();
}

std::vector<CostSample> Bench::getSamples() const {
  std::vector<CostSample> samples;
  for (const Pair &pair : pairs)
    for (size_t i = 0; i < pair.rounds.front().size(); ++i) {
      samples.push_back(pair.rounds.front()[i]);
      std::vector<double> times;
      for (const std::vector<CostSample> &round : pair.rounds)
        times.push_back(round[i].us);
      samples.back().us = options.isShared ? *llvm::min_element(times)
                                           : medianOf(std::move(times));
    }
  return samples;
}

static double medianOfAny(const std::vector<double> &values) {
  return values.empty() ? 0 : medianOf(values);
}

/// The rates of a kind of collective.
static const CostFit *findFit(const std::vector<CostFit> &rates,
                              const std::string &kind) {
  auto found = llvm::find_if(
      rates, [&](const CostFit &fit) { return fit.getPart() == kind; });
  return found == rates.end() ? nullptr : &*found;
}

/// Microseconds that collectives send, by their rates. The timeline slows
/// computation down for that time.
static double sumSending(const std::vector<CostSample> &collectives,
                         const std::vector<CostFit> &rates) {
  double us = 0;
  for (const CostSample &sample : collectives)
    if (const CostFit *fit = findFit(rates, sample.kind))
      us += fit->getTimeUs({0, sample.bytes}) - fit->getTimeUs({});
  return us;
}

/// The fraction of its speed that computation loses while a rank sends.
double Bench::findSlowdown(const std::vector<CostFit> &rates) const {
  std::vector<double> slowdowns;
  for (const Loss &loss : losses)
    if (const double sending = sumSending(loss.collectives, rates); sending > 0)
      slowdowns.push_back(loss.us / sending);
  // Less than all, or nothing would be computed.
  return std::clamp(medianOfAny(slowdowns), 0.0, 0.95);
}

Expected<std::vector<ExposedPlan>> Bench::findExposed() const {
  std::vector<ExposedPlan> plans;
  for (const Pair &pair : pairs) {
    if (!pair.apart)
      continue;
    auto plan =
        TimedPlan::compile(pair.apart->getFolder(), pair.apart->getFlags());
    if (!plan)
      return plan.takeError();
    plans.push_back({std::move(*plan), medianOf(pair.exposed)});
  }
  return plans;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static CostTable makeRates(const std::vector<CostFit> &fits) {
  CostTable table;
  for (const CostFit &fit : fits) {
    CostTable::Part &all = table.parts[""];
    if (fit.kind == "gemm" && fit.element == "f32")
      all.gflops = fit.rates.gflops;
    if (fit.kind == "launch" && fit.element == "f32") {
      all.gigabytesPerSecond = fit.rates.gigabytesPerSecond;
      all.overheadUs = fit.rates.overheadUs;
    }
    if (fit.getPart() == "all_gather")
      table.links[""] = {fit.rates.gigabytesPerSecond, fit.rates.overheadUs};
    table.parts[fit.getPart()] = fit.rates;
  }
  return table;
}

Expected<CostTable> Bench::makeTable(const std::vector<CostFit> &rates) const {
  CostTable table = makeRates(rates);
  table.threads = options.findThreads();
  table.overlap.slowsCompute = findSlowdown(rates);
  table.overlap.beginUs = medianOfAny(handOvers);
  auto plans = findExposed();
  if (!plans)
    return plans.takeError();
  auto besideUs = findBesideUs(table, *plans, folder);
  if (!besideUs)
    return besideUs.takeError();
  table.overlap.besideUs = *besideUs;
  return table;
}

static std::string describe(const CostFit &fit) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << countText(fit.samples, "command") << ", typically "
         << llvm::format("%.0f", 100 * std::expm1(fit.error)) << " % off";
  return text;
}

/// The command line, but for where the table goes, and the processor.
static std::string describe(const FlagValues &flags) {
  std::string text = "weft bench";
  for (const std::string &flag : flags.without("output").canonical(DriverFlag))
    text += " " + flag;
  return text + ", " + llvm::sys::getHostCPUName().str();
}

static Expected<std::string> writeTable(const Bench &bench,
                                        const FlagValues &flags) {
  const std::vector<CostFit> fits = fitCosts(bench.getSamples());
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

/// Checks flags early: other failures would only show at the end, or after
/// minutes.
static Status checkFlags(const FlagValues &flags) {
  const bool hasRanks = flags.getInt("ranks") > 1;
  if (flags.getSwitch("shared") &&
      (hasRanks || flags.getInt("threads", 0) != 1))
    return usageError("--shared expects one rank and --threads=1: threads that "
                      "wait for others use processor time");
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
  if (!flags.isSet("output") || flags.getString("output") == "-")
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
  if (flags.isSet("output") && flags.getString("output") != "-")
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
  auto types = readPrecisions(*flags);
  if (!types)
    return types.takeError();
  if (Status status = checkFlags(*flags); !status)
    return status.takeError();
  if (Status status = applyMlirFlags({}); !status)
    return status.takeError();
  return runBench(*flags, *types);
}
