//===- CostFit.cpp - Rates from measured times ----------------------------===//

#include "weft/Schedule/CostFit.h"

#include "weft/Plan/Plan.h"
#include "weft/Support/TypeText.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Costs of commands
//===----------------------------------------------------------------------===//

static CostSample describe(plan::CommandOpInterface command, CostKinds &kinds,
                           int64_t threads) {
  CostSample sample;
  sample.kind = command.getCommandKind().str();
  sample.stream = command.getStreamNumber();
  if (int64_t sent = getSentBytes(command)) {
    sample.isCollective = true;
    sample.bytes = static_cast<double>(sent);
    return sample;
  }
  const CommandWork work = getWork(command);
  sample.flops = work.flops, sample.bytes = work.bytes;
  sample.scores = work.scores;
  sample.imbalance = getImbalance(command, threads);
  if (const CostKindList list = kinds.getKinds(command); list.size() > 1)
    sample.special = list.back().str();
  if (Type element = command.getElementType())
    sample.element = getTypeText(element);
  return sample;
}

std::map<std::string, std::vector<CostSample>>
weft::describeCosts(ModuleOp module, int64_t threads) {
  std::map<std::string, std::vector<CostSample>> programs;
  CostKinds kinds(module);
  for (auto program : module.getOps<plan::ProgramOp>()) {
    std::vector<CostSample> &samples = programs[program.getSymName().str()];
    program.walk([&](plan::CommandOpInterface command) {
      samples.push_back(describe(command, kinds, threads));
    });
  }
  return programs;
}

//===----------------------------------------------------------------------===//
// The fit
//===----------------------------------------------------------------------===//

namespace {
/// Searches for the logarithms of the rates: three, or four with scores.
class Fitter {
public:
  explicit Fitter(ArrayRef<const CostSample *> samples);

  void search();
  Rates getRates() const { return toRates(point); }

  /// Whether a rate determines some measured time. One that is far above the
  /// best measured rate explains less than a hundredth of each.
  bool determines(size_t rate) const {
    return point[rate] < most[rate] - std::log(kMostSlack / kFreeSlack);
  }
  static constexpr size_t kFlops = 1, kBytes = 2, kScores = 3; // of a point

private:
  /// The highest rate of the search, and the least rate that nothing
  /// determines, over the best measured rate.
  static constexpr double kMostSlack = 1e3, kFreeSlack = 1e2;

  using Point = SmallVector<double, 4>;

  static Rates toRates(const Point &point);
  double measure(const Point &point) const;
  bool improve(double step, bool isOverheadOnly);
  void searchWith(double newExponent, bool isOverheadOnly);

  ArrayRef<const CostSample *> samples;
  Point point, least, most;
  double best = 0;
  double exponent = 1; // of times, as weights
};
} // namespace

Rates Fitter::toRates(const Point &point) {
  Rates rates;
  rates.overheadUs = std::exp(point[0]);
  rates.gflops = std::exp(point[1]);
  rates.gigabytesPerSecond = std::exp(point[2]);
  if (point.size() > 3)
    rates.gigascoresPerSecond = std::exp(point[3]);
  return rates;
}

static CommandWork toWork(const CostSample &sample) {
  return {sample.flops, sample.bytes, sample.scores};
}

/// The measured time if the threads had even work.
static double getEvenUs(const CostSample &sample) {
  return sample.us / sample.imbalance;
}

/// Mean squared logarithm of estimate to measured time.
double Fitter::measure(const Point &point) const {
  const Rates rates = toRates(point);
  double sum = 0, weights = 0;
  for (const CostSample *sample : samples) {
    const double ratio = rates.getTimeUs(toWork(*sample)) / getEvenUs(*sample);
    const double weight = std::pow(sample->us, exponent);
    sum += weight * std::log(ratio) * std::log(ratio);
    weights += weight;
  }
  return sum / weights;
}

/// A rate of collectives is at least half of the best measured rate, to allow
/// for noise: a long latency hides it. A rate of computation is at least a
/// sixteenth, since small commands find their data in a cache. It may be far
/// higher if all commands are short. The overhead is at most twice the shortest
/// time.
Fitter::Fitter(ArrayRef<const CostSample *> samples) : samples(samples) {
  double shortest = INFINITY, gflops = 1e-3, gigabytes = 1e-3, gigascores = 0;
  for (const CostSample *sample : samples) {
    const double us = getEvenUs(*sample);
    shortest = std::min(shortest, us);
    gflops = std::max(gflops, sample->flops / us * 1e-3);
    gigabytes = std::max(gigabytes, sample->bytes / us * 1e-3);
    gigascores = std::max(gigascores, sample->scores / us * 1e-3);
  }
  const double slack = samples.front()->isCollective ? 2 : 16;
  point = {std::log(shortest / 2), std::log(gflops), std::log(gigabytes)};
  least = {std::log(shortest / 1e4), std::log(gflops / slack),
           std::log(gigabytes / slack)};
  most = {std::log(shortest * 2), std::log(gflops * kMostSlack),
          std::log(gigabytes * kMostSlack)};
  if (gigascores > 0) {
    point.push_back(std::log(gigascores));
    least.push_back(std::log(gigascores / slack));
    most.push_back(std::log(gigascores * kMostSlack));
  }
}

/// Tries all moves of the rates by one step up or down.
bool Fitter::improve(double step, bool isOverheadOnly) {
  bool isBetter = false;
  const int moves = isOverheadOnly ? 3 : point.size() > 3 ? 81 : 27;
  for (int code = 1; code < moves; ++code) {
    Point next = point;
    int rest = code;
    for (size_t i = 0; i < next.size(); ++i, rest /= 3)
      next[i] = std::clamp(next[i] + step * (rest % 3 == 2 ? -1 : rest % 3),
                           least[i], most[i]);
    const double distance = measure(next);
    if (distance < best - 1e-12) {
      best = distance;
      point = next;
      isBetter = true;
    }
  }
  return isBetter;
}

void Fitter::searchWith(double newExponent, bool isOverheadOnly) {
  exponent = newExponent;
  best = measure(point);
  for (double step = 1; step > 1e-3; step /= 2)
    while (improve(step, isOverheadOnly))
      ;
}

/// Long commands give the rates, short ones the overhead.
void Fitter::search() {
  searchWith(1, /*isOverheadOnly=*/false);
  searchWith(0.5, /*isOverheadOnly=*/true);
}

std::string CostFit::getPart() const {
  return element.empty() ? kind : kind + "." + element;
}

double CostFit::getTimeUs(const CommandWork &work) const {
  CostTable table;
  table.parts[""] = rates;
  return table.getRates({}, Type()).getTimeUs(work);
}

using Samples = ArrayRef<const CostSample *>;

static CostTable::Part fitRates(Samples samples) {
  Fitter fitter(samples);
  fitter.search();
  const Rates rates = fitter.getRates();
  CostTable::Part part;
  part.overheadUs = rates.overheadUs;
  if (fitter.determines(Fitter::kBytes))
    part.gigabytesPerSecond = rates.gigabytesPerSecond;
  auto computes = [](const CostSample *sample) { return sample->flops > 0; };
  if (llvm::any_of(samples, computes) && fitter.determines(Fitter::kFlops))
    part.gflops = rates.gflops;
  if (rates.gigascoresPerSecond > 0 && fitter.determines(Fitter::kScores))
    part.gigascoresPerSecond = rates.gigascoresPerSecond;
  return part;
}

/// The mean rate, for samples with too few sizes to fit more.
static CostTable::Part fitOneRate(Samples samples) {
  double flops = 0, bytes = 0, us = 0;
  for (const CostSample *sample : samples) {
    flops += sample->flops;
    bytes += sample->bytes;
    us += getEvenUs(*sample);
  }
  CostTable::Part part;
  if (samples.front()->isCollective)
    part.overheadUs = us / static_cast<double>(samples.size());
  else if (flops > 0)
    part.gflops = flops / us * 1e-3;
  else
    part.gigabytesPerSecond = bytes / us * 1e-3;
  return part;
}

static size_t countSizes(Samples samples) {
  std::set<std::pair<double, double>> sizes;
  for (const CostSample *sample : samples)
    sizes.insert({sample->flops, sample->bytes});
  return sizes.size();
}

static double findError(const CostFit &fit, Samples samples) {
  double sum = 0;
  for (const CostSample *sample : samples) {
    const double off =
        std::log(fit.getTimeUs(toWork(*sample)) / getEvenUs(*sample));
    sum += off * off;
  }
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

static CostFit fitOne(Samples samples, const std::string &kind) {
  constexpr size_t kFewSizes = 4;
  CostFit fit;
  fit.kind = kind;
  fit.element = samples.front()->element;
  fit.samples = samples.size();
  fit.rates =
      countSizes(samples) < kFewSizes ? fitOneRate(samples) : fitRates(samples);
  fit.error = findError(fit, samples);
  return fit;
}

double CostFit::getPercentOff() const { return 100 * std::expm1(error); }

std::string weft::listPoorFits(const std::vector<CostFit> &fits) {
  constexpr double kPoorPercent = 50;
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const CostFit &fit : fits)
    if (fit.kind != kLaunchKind && fit.getPercentOff() > kPoorPercent)
      stream << (text.empty() ? "" : ", ") << fit.getPart() << " ("
             << llvm::format("%.0f", fit.getPercentOff()) << " %)";
  return text;
}

std::vector<CostFit> weft::fitCosts(const std::vector<CostSample> &samples) {
  std::map<std::pair<std::string, std::string>, std::vector<const CostSample *>>
      groups;
  for (const CostSample &sample : samples)
    if (sample.us > 0 && sample.flops + sample.bytes > 0) {
      groups[{sample.kind, sample.element}].push_back(&sample);
      if (!sample.special.empty())
        groups[{sample.special, sample.element}].push_back(&sample);
    }
  std::vector<CostFit> fits;
  for (const auto &group : groups)
    fits.push_back(fitOne(group.second, group.first.first));
  return fits;
}
