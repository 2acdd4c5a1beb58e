//===- BenchCommand.cpp - weft bench: a cost table of this machine --------===//

#include "BenchRun.h"
#include "Commands.h"
#include "MlirFlags.h"

#include "weft/Formats/OutputFile.h"
#include "weft/Formats/StandardStreams.h"
#include "weft/Pipeline/CompileFlags.h"
#include "weft/Schedule/CostTableFile.h"
#include "weft/Support/HelperProgram.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstdio>
#include <optional>

using namespace weft;

static FlagTable benchFlags() {
  return FlagTable({
      {"output", FlagKind::String, DriverFlag, "", "FILE",
       "the cost table; default: standard output", "", 0, 0, "o",
       FlagFile::Written},
      {"ranks", FlagKind::Int, DriverFlag, "1", "N",
       "ranks that run at once, whose links are measured too", "", 1, 64},
      {"loopback", FlagKind::Switch, DriverFlag, "", "",
       "ranks are threads of one process, not processes of mpirun"},
      {"threads", FlagKind::Int, DriverFlag, "", "N",
       "threads of a rank; default: that of programs", "", 1, 4096},
      {"precision", FlagKind::List, DriverFlag, "", "f16|bf16",
       "measure these types beside f32"},
      {"quick", FlagKind::Switch, DriverFlag, "", "",
       "two of the models alone, for a rough table"},
      {"rounds", FlagKind::Int, DriverFlag, "5", "N",
       "runs of each model, whose medians count", "", 1, 1000},
      {"steps", FlagKind::Int, DriverFlag, "12", "N",
       "steps of each run; the first two count only if there are no others", "",
       1, 1000},
      {"help", FlagKind::Switch, DriverFlag, "", "", "show this text"},
  });
}

namespace {
/// Runs the models, again and again, so that what else the machine does befalls
/// all of them alike.
class Bench {
public:
  Bench(BenchOptions options, std::string folder)
      : options(options), folder(std::move(folder)) {}

  /// Compiles all models on a type.
  Status prepare(const std::string &precision);
  /// Runs each program once.
  Status measure();

  /// The median of all rounds, of each command.
  std::vector<CostSample> getSamples() const;
  /// What it costs that collectives run beside what computes; `rates` are those
  /// of collectives alone.
  Overlap getOverlap(const std::vector<CostFit> &rates) const;

private:
  /// Of one rank there is one program; of several a second one, whose
  /// collectives run beside what computes.
  struct Pair {
    BenchProgram inLine;
    std::optional<BenchProgram> apart;
    std::vector<std::vector<CostSample>> rounds = {}; // of inLine
  };

  Expected<BenchProgram> compile(const BenchModel &model,
                                 std::vector<std::string> flags);
  Status measure(Pair &pair);

  BenchOptions options;
  std::string folder;
  std::vector<Pair> pairs;
  std::vector<CostSample> beside; // collectives of the others
  std::vector<double> slowdowns, handOvers;
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
                               folder + "/" + std::to_string(programs++));
}

Status Bench::prepare(const std::string &precision) {
  for (const BenchModel &model : benchModels(options.isQuick)) {
    std::vector<std::string> flags = {"--precision=" + precision};
    if (options.ranks > 1)
      flags.push_back("--prefetch=0");
    auto inLine = compile(model, flags);
    if (!inLine)
      return inLine.takeError();
    pairs.push_back({std::move(*inLine), std::nullopt});
    if (options.ranks == 1)
      continue;
    auto apart = compile(model, {"--precision=" + precision, "--prefetch=1"});
    if (!apart)
      return apart.takeError();
    pairs.back().apart = std::move(*apart);
  }
  return Status::success();
}

/// Time of what computes and of what sends.
static std::pair<double, double>
sumTimes(const std::vector<CostSample> &samples) {
  double computing = 0, sending = 0;
  for (const CostSample &sample : samples)
    if (sample.bytes > 0)
      (sample.isCollective() ? sending : computing) += sample.us;
  return {computing, sending};
}

Status Bench::measure(Pair &pair) {
  auto inLine = pair.inLine.run(options);
  if (!inLine)
    return inLine.takeError();
  if (pair.apart) {
    auto apart = pair.apart->run(options);
    if (!apart)
      return apart.takeError();
    auto [computing, sending] = sumTimes(inLine->samples);
    if (sending > 0)
      slowdowns.push_back((sumTimes(apart->samples).first - computing) /
                          sending);
    handOvers.push_back(apart->handOverUs);
    for (const CostSample &sample : apart->samples)
      if (sample.isCollective() && sample.stream != 0)
        beside.push_back(sample);
  }
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
      samples.back().us = medianOf(std::move(times));
    }
  return samples;
}

static double medianOfAny(const std::vector<double> &values) {
  return values.empty() ? 0 : medianOf(values);
}

Overlap Bench::getOverlap(const std::vector<CostFit> &rates) const {
  std::vector<double> longer;
  for (const CostFit &fit : rates)
    for (const CostSample &sample : beside)
      if (sample.kind == fit.kind)
        longer.push_back(sample.us - fit.getTimeUs(0, sample.bytes));
  Overlap overlap;
  // Less than all, or nothing would be computed.
  overlap.slowsCompute = std::clamp(medianOfAny(slowdowns), 0.0, 0.95);
  overlap.besideUs = std::max(0.0, medianOfAny(longer));
  overlap.beginUs = medianOfAny(handOvers);
  return overlap;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static CostTable makeTable(const std::vector<CostFit> &fits,
                           const Overlap &overlap) {
  CostTable table;
  for (const CostFit &fit : fits) {
    CostTable::Part &all = table.parts[""];
    if (fit.kind == "gemm" && fit.element == "f32")
      all.gflops = fit.rates.gflops;
    if (fit.kind == "launch" && fit.element == "f32") {
      all.gigabytesPerSecond = fit.rates.gigabytesPerSecond;
      all.overheadUs = fit.rates.overheadUs;
    }
    if (fit.element.empty() && fit.kind == "all_gather")
      table.links[""] = {fit.rates.gigabytesPerSecond, fit.rates.overheadUs};
    table.parts[fit.getPart()] = fit.rates;
  }
  table.overlap = overlap;
  return table;
}

static std::string describe(const CostFit &fit) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << fit.samples << " commands, typically "
         << llvm::format("%.0f", 100 * std::expm1(fit.error)) << " % off";
  return text;
}

static std::string describe(const BenchOptions &options) {
  std::string text = "weft bench";
  if (options.ranks > 1)
    text += " --ranks " + std::to_string(options.ranks);
  if (options.areThreads)
    text += " --loopback";
  if (options.threads > 0)
    text += " --threads " + std::to_string(options.threads);
  if (options.isQuick)
    text += " --quick";
  return text + ", " + llvm::sys::getHostCPUName().str();
}

static std::string writeTable(const Bench &bench, const BenchOptions &options) {
  const std::vector<CostFit> fits = fitCosts(bench.getSamples());
  llvm::StringMap<std::string> notes;
  notes[""] = describe(options) + "; rates of what is not named below";
  for (const CostFit &fit : fits)
    notes[fit.getPart()] = describe(fit);
  return writeCostTable(makeTable(fits, bench.getOverlap(fits)), notes);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static Expected<std::vector<std::string>>
readPrecisions(const FlagValues &flags) {
  std::vector<std::string> types = {"f32"};
  for (const std::string &type : flags.getList("precision")) {
    if (type != "f16" && type != "bf16" && type != "f32")
      return usageError("flag '--precision' expects f16 or bf16, but got " +
                        inQuotes(type));
    if (std::find(types.begin(), types.end(), type) == types.end())
      types.push_back(type);
  }
  return types;
}

static Expected<ExitCode> runBench(const FlagValues &flags,
                                   const std::vector<std::string> &types) {
  BenchOptions options;
  options.ranks = flags.getInt("ranks");
  options.areThreads = flags.getSwitch("loopback");
  options.threads = flags.getInt("threads", 0);
  options.steps = flags.getInt("steps");
  options.isQuick = flags.getSwitch("quick");
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
  const std::string text = writeTable(bench, options);
  if (!flags.isSet("output")) {
    std::fputs(text.c_str(), stdout);
    return ExitCode::Ok;
  }
  if (Status status = writeFile(flags.getString("output"), text); !status)
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
    std::printf("usage: weft bench [-o FILE] [flags]\n\n"
                "Measures what the commands of programs take on this machine, "
                "and writes it\nas the file of --cost-table. Nothing else "
                "should run meanwhile.\n\n%s",
                table.help().c_str());
    return ExitCode::Ok;
  }
  auto types = readPrecisions(*flags);
  if (!types)
    return types.takeError();
  if (Status status = applyMlirFlags({}); !status)
    return status.takeError();
  return runBench(*flags, *types);
}
