//===- Bench.cpp - Measurements of weft bench -----------------------------===//

#include "Bench.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>

using namespace weft;

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

Expected<BenchProgram> Bench::compile(const BenchModel &model,
                                      std::vector<std::string> flags) {
  if (options.ranks > 1) {
    flags.push_back("--mesh=dp:" + std::to_string(options.ranks));
    flags.push_back("--zero=3");
  }
  // A product may have another form with one thread (GemmPlan).
  if (options.threads > 0)
    flags.push_back("--threads-max=" + std::to_string(options.threads));
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
  table.target = "cpu";
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
