//===- Evaluate.cpp - Loss and metrics of validation data -----------------===//

#include "weft/Runtime/Run/Evaluate.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace weft;

Status weft::fillRows(const WeftContext &context,
                      const std::vector<WeftPort> &ports,
                      const DataSource &source,
                      const std::vector<int64_t> &rows) {
  for (const WeftPort &port : ports) {
    const int64_t count = port.dims[0], bytes = port.bytes / count;
    char *out = context.device().inputBytes(port);
    for (int64_t i = 0; i < count; ++i)
      if (Status s = source.fill(port, rows[size_t(i)], out + i * bytes); !s)
        return s;
  }
  return Status::success();
}

void weft::addOutputs(const WeftContext &context, const Metadata &metadata,
                      const WeftProgram &program, ReportedMeans &sums) {
  size_t nextLoss = 0, nextMetric = 0;
  for (const WeftPort &port : outputsOf(program)) {
    if (std::strcmp(port.name, names::kLoss) == 0) {
      sums.loss += readNumber(context, port);
      continue;
    }
    const bool isMetric =
        std::find(metadata.metrics.begin(), metadata.metrics.end(),
                  port.name) != metadata.metrics.end();
    NamedNumbers &list = isMetric ? sums.metrics : sums.losses;
    size_t &next = isMetric ? nextMetric : nextLoss;
    if (next == list.size())
      list.push_back({port.name, 0.0});
    list[next++].second += readNumber(context, port);
  }
}

void weft::takeMeans(int64_t count, ReportedMeans &sums) {
  for (double *number : listNumbers(sums))
    *number /= double(count);
}

namespace {
/// The part of an evaluation that one rank runs.
class Evaluation {
public:
  Evaluation(WeftContext &context, const Metadata &metadata,
             const DataSource &val, const EvalPlan &plan)
      : context(context), metadata(metadata), val(val), plan(plan) {}

  Status countTargets();
  Status addBatches();
  Status join(bool &isWhole);
  EvalReport takeReport();

  Status rows; // reading rows of this rank

private:
  /// A batch of this rank in round `round`; weight 0 where none is left.
  EvalBatch batchOf(int64_t round) const;
  int64_t rounds() const;
  Status runRound(const WeftProgram &program, const EvalBatch &batch);
  bool mayGoOn() const { return bool(rows) || metadata.ranks() > 1; }

  WeftContext &context;
  const Metadata &metadata;
  const DataSource &val;
  const EvalPlan &plan;
  EvalReport sums;
};
} // namespace

/// All ranks run the program equally often, since it may gather.
int64_t Evaluation::rounds() const {
  return (plan.size() + metadata.ranks() - 1) / metadata.ranks();
}

EvalBatch Evaluation::batchOf(int64_t round) const {
  const int64_t index = round * metadata.ranks() + context.rank();
  if (index < plan.size())
    return plan.at(index);
  EvalBatch batch = plan.at(0);
  batch.weight = 0;
  return batch;
}

static void clearInputs(const WeftContext &context,
                        const std::vector<WeftPort> &ports) {
  for (const WeftPort &port : ports)
    std::memset(context.device().inputBytes(port), 0, size_t(port.bytes));
}

/// A rank that cannot read its rows takes zeros.
Status Evaluation::runRound(const WeftProgram &program,
                            const EvalBatch &batch) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < metadata.batch; ++i)
    list.push_back(batch.first + std::min(i, batch.rows - 1));
  const std::vector<WeftPort> ports = dataInputs(program);
  if (rows)
    rows = fillRows(context, ports, val, list);
  if (!mayGoOn())
    return Status::success();
  if (!rows)
    clearInputs(context, ports);
  return runChecked(context, program);
}

/// The denominators of all batches together, times B / R: the weights of the
/// batches then make each loss one over all rows.
Status Evaluation::countTargets() {
  const DenominatorPrograms programs(*context.executable());
  if (!programs.exist())
    return Status::success();
  const double ranks = double(metadata.ranks());
  for (int64_t round = 0; round < rounds() && mayGoOn(); ++round) {
    const WeftProgram &program = programs.get(round, rounds());
    const EvalBatch batch = batchOf(round);
    setInput(context, program, names::kAccumulate, round == 0 ? 0.0 : 1.0);
    setInput(context, program, names::kBatchShare,
             double(batch.weight) * ranks / double(plan.rows()));
    if (Status s = runRound(program, batch); !s)
      return s;
  }
  return Status::success();
}

/// A batch of weight 0 adds nothing, even if its numbers are not finite.
static void addNamed(NamedNumbers &sums, const NamedNumbers &one,
                     int64_t weight) {
  sums.resize(one.size());
  for (size_t i = 0; i < one.size(); ++i) {
    sums[i].first = one[i].first;
    if (weight != 0)
      sums[i].second += double(weight) * one[i].second;
  }
}

/// A rank without a batch left learns the names of terms and metrics, too.
Status Evaluation::addBatches() {
  const WeftProgram &program = *context.findProgram(names::kEval);
  for (int64_t round = 0; round < rounds() && mayGoOn(); ++round) {
    const EvalBatch batch = batchOf(round);
    if (Status s = runRound(program, batch); !s)
      return s;
    ReportedMeans one;
    addOutputs(context, metadata, program, one);
    addNamed(sums.losses, one.losses, batch.weight);
    addNamed(sums.metrics, one.metrics, batch.weight);
    if (batch.weight != 0)
      sums.loss += double(batch.weight) * one.loss;
  }
  return Status::success();
}

/// The sums of all ranks, unless one of them could not read its rows.
Status Evaluation::join(bool &isWhole) {
  const std::vector<double *> numbers = listNumbers(sums);
  std::vector<double> own = {double(!rows)};
  for (const double *number : numbers)
    own.push_back(*number);
  auto all = gatherNumbers(context, own, "the validation loss");
  if (!all)
    return all.takeError();
  isWhole = sumOverRanks(*all, 0) == 0;
  for (size_t i = 0; i < numbers.size(); ++i)
    *numbers[i] = sumOverRanks(*all, i + 1);
  return Status::success();
}

EvalReport Evaluation::takeReport() {
  takeMeans(plan.rows(), sums);
  sums.rows = plan.rows();
  sums.availableRows = plan.available();
  sums.isSample = plan.isSample();
  // With terms, the loss is a weighted sum and no cross-entropy of tokens.
  if (metadata.isLanguageModel() && sums.losses.empty())
    sums.perplexity = std::exp(sums.loss);
  return std::move(sums);
}

Expected<std::optional<EvalReport>> weft::evaluate(WeftContext &context,
                                                   const Metadata &metadata,
                                                   const DataSource &val,
                                                   const EvalPlan &plan) {
  Evaluation part(context, metadata, val, plan);
  bool isWhole = true;
  Status done = part.countTargets();
  if (done)
    done = part.addBatches();
  if (done && metadata.ranks() > 1)
    done = part.join(isWhole);
  if (!done) {
    leaveRanks(context);
    return done.takeError();
  }
  if (!part.rows)
    return part.rows.takeError();
  if (!isWhole)
    return std::optional<EvalReport>();
  return std::optional(part.takeReport());
}

//===- EvalPlan -----------------------------------------------------------===//

EvalPlan::EvalPlan(const Metadata &metadata, int64_t available,
                   int64_t mostBatches)
    : batch(metadata.batch), all(available) {
  full = available / batch;
  int64_t rest = available % batch;
  if (mostBatches > 0 && mostBatches <= full) {
    sample = mostBatches < full || rest > 0;
    full = mostBatches;
    rest = 0;
  }
  if (!metadata.rowMean)
    rest = 0;
  // The difference of two batches loses digits unless full batches are added to
  // it, so rows that do not fill a first batch have batches of their own.
  remainder = full == 0 ? rest : std::min<int64_t>(rest, 2);
  counted = full * batch + rest;
}

EvalBatch EvalPlan::at(int64_t index) const {
  if (index < full)
    return {index * batch, batch, batch};
  const int64_t begin = full * batch, rest = counted - begin;
  if (remainder == rest)
    return {begin + (index - full), 1, 1};
  if (index == full)
    return {begin, rest, batch};
  return {counted - 1, 1, rest - batch};
}

//===- Programs of a step -------------------------------------------------===//

static auto hasProgram(const WeftExecutable &executable) {
  return [&](const char *name) { return findProgram(executable, name); };
}

MicroPrograms::MicroPrograms(const WeftExecutable &executable) {
  auto choose = [&](int64_t number, int64_t count) {
    return findProgram(
        executable, names::chooseMicro(number, count, hasProgram(executable)));
  };
  only = choose(0, 1);
  first = choose(0, 2);
  middle = choose(1, 3);
  last = choose(1, 2);
}

const WeftProgram &MicroPrograms::get(int64_t number, int64_t count) const {
  if (count == 1)
    return *only;
  if (number == 0)
    return *first;
  return number == count - 1 ? *last : *middle;
}

std::vector<const WeftProgram *> MicroPrograms::list(int64_t count) const {
  std::vector<const WeftProgram *> programs;
  for (int64_t number : {int64_t(0), int64_t(1), count - 1})
    if (number < count)
      if (const WeftProgram *program = &get(number, count);
          std::find(programs.begin(), programs.end(), program) ==
          programs.end())
        programs.push_back(program);
  return programs;
}

std::vector<const WeftProgram *>
DenominatorPrograms::list(int64_t count) const {
  if (!exist())
    return {};
  if (count == 1 || keep == last)
    return {last};
  return {keep, last};
}

DenominatorPrograms::DenominatorPrograms(const WeftExecutable &executable) {
  auto choose = [&](int64_t number, int64_t count) {
    return findProgram(executable, names::chooseDenominators(
                                       number, count, hasProgram(executable)));
  };
  last = choose(0, 1);
  keep = choose(0, 2);
}
