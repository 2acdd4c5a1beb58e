//===- Trainer.cpp - The training loop ------------------------------------===//

#include "weft/Runtime/Run/Trainer.h"

#include "weft/Formats/Names.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Run/Generate.h"

#include <chrono>
#include <cmath>

using namespace weft;

using Clock = std::chrono::steady_clock;

static double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

Trainer::Trainer(WeftContext &context, const Metadata &metadata,
                 const RunOptions &options, const DataSet &data,
                 const Faults &faults, TrainState state,
                 std::unique_ptr<NanHunt> hunt)
    : context(context), metadata(metadata), options(options), data(data),
      faults(faults), micro(*context.findProgram(names::kMicro)),
      apply(*context.findProgram(names::kApply)), microPorts(dataInputs(micro)),
      now(state),
      progress(options.progress, state.step + 1, *options.steps,
               options.logEvery, metadata.isLanguageModel() ? "tok" : "rows"),
      lastStep(*options.steps), firstStep(state.step + 1),
      savedStep(state.step), hunt(std::move(hunt)),
      scaler(LossScaler::of(*context.executable())) {
  order =
      RowOrder(data.train->rows(), now.cursor.shuffle, now.cursor.shuffleSeed);
  if (options.stopAfter > 0)
    lastStep = std::min(lastStep, state.step + options.stopAfter);
}

/// The first row of the next micro-step for this rank: each takes a batch of
/// the rows that all ranks read together.
int64_t Trainer::firstRow() const {
  return now.cursor.rows + context.rank() * metadata.batch;
}

/// The data rows of the batch that begins with training row `first`.
std::vector<int64_t> Trainer::batchAt(int64_t first) const {
  std::vector<int64_t> batch;
  for (int64_t i = 0; i < metadata.batch; ++i)
    batch.push_back(order.dataRow(first + i));
  return batch;
}

Status Trainer::microStep(int64_t k, StepReport &report) {
  auto start = Clock::now();
  const int64_t row = firstRow(), all = context.ranks() * metadata.batch;
  if (Status s = fillRows(context, microPorts, *data.train, order, row); !s) {
    dataLost = true;
    return s;
  }
  // The disk works while the program runs.
  data.train->willNeed(batchAt(row + all));
  setInput(context, micro, names::kLossSeed,
           1.0 / double(options.accum * context.ranks()));
  setInput(context, micro, names::kAccumulate, k == 0 ? 0.0 : 1.0);
  if (const WeftPort *rng = WeftContext::findInput(micro, names::kRng)) {
    writeInteger(context, *rng, now.seed, 0);
    writeInteger(context, *rng, row, 1);
  }
  report.dataMs += msSince(start);
  start = Clock::now();
  if (Status s = runChecked(context, micro); !s)
    return s;
  report.computeMs += msSince(start);
  addLosses(context, micro, report.loss, report.losses);
  now.cursor.rows += all;
  return Status::success();
}

Status Trainer::update(StepReport &report) {
  auto start = Clock::now();
  report.lr = options.schedule.at(report.step);
  setInput(context, apply, names::kLr, report.lr);
  setInput(context, apply, names::kBeta1, options.beta1);
  setInput(context, apply, names::kBeta2, options.beta2);
  setInput(context, apply, names::kEps, options.eps);
  setInput(context, apply, names::kWeightDecay, options.weightDecay);
  for (const auto &[input, decay] : options.ownDecays)
    setInput(context, apply, input.c_str(), decay);
  setInput(context, apply, names::kMomentum, options.momentum);
  setInput(context, apply, names::kMaxNorm, options.clip);
  if (Status s = runChecked(context, apply); !s)
    return explainApply(report.step, s.takeError());
  report.computeMs += msSince(start);
  if (const WeftPort *norm = WeftContext::findOutput(apply, names::kGradNorm)) {
    report.gradNorm = readNumber(context, *norm);
    report.hasGradNorm = true;
  }
  bool bad = readNumber(context,
                        *WeftContext::findOutput(apply, names::kFoundInf)) != 0;
  reportFirstBad(report.step, !bad && std::isfinite(report.loss));
  if (!hasScaler())
    return bad ? nonFinite(report.step) : Status::success();
  readScaler(report);
  return countSkip(report, bad);
}

Status Trainer::trainStep(StepReport &report) {
  auto start = Clock::now();
  report.step = now.step + 1;
  const TrainState before = now;
  now.valLoss.reset();
  if (hunt)
    if (Status s = hunt->begin(); !s)
      return s;
  for (int64_t k = 0; k < options.accum; ++k)
    if (Status s = microStep(k, report); !s) {
      now = before;
      return s;
    }
  takeMeans(options.accum, report.loss, report.losses);
  if (report.step == firstStep && !options.dumpGrads.empty())
    if (Status s = writeGradients(context, options.dumpGrads); !s)
      return s;
  if (Status s = injectFaults(); !s)
    return s;
  if (Status s = update(report); !s)
    return s;
  now.step = report.step;
  report.stepMs = msSince(start);
  int64_t rows = now.cursor.rows - before.cursor.rows;
  int64_t units = metadata.isLanguageModel() ? rows * metadata.seq : rows;
  report.tokensPerSecond = double(units) / (report.stepMs / 1000.0);
  report.memoryBytes = context.device().peakBytes();
  return Status::success();
}

Status Trainer::evaluate(MetricsLog &metrics) {
  if (hunt)
    if (Status s = hunt->begin(); !s)
      return s;
  auto report = weft::evaluate(
      context, metadata, *data.val,
      countBatches(*data.val, metadata.batch, options.evalSteps));
  if (!report) {
    dataLost = report.error().code() == ExitCode::Input;
    return report.takeError();
  }
  report->step = now.step;
  reportFirstBad(now.step, std::isfinite(report->loss));
  if (std::isfinite(report->loss))
    now.valLoss = report->loss;
  progress.eval(*report);
  return metrics.line(evalJson(*report));
}

/// A sample of the prompt, as the weights are now.
Status Trainer::sample(MetricsLog &metrics, const SignalScope &signals) {
  auto text = generateText(context, metadata, options, now.seed, &signals);
  if (!text)
    return text.takeError();
  const std::string whole = *options.generate + *text;
  progress.sample(now.step, whole);
  return metrics.line(sampleJson(now.step, whole));
}

/// Whether this step has the lowest validation loss of the save directory.
bool Trainer::isBest() {
  if (!options.keepBest || !now.valLoss || (best && *now.valLoss >= *best))
    return false;
  best = now.valLoss;
  return true;
}

Status Trainer::save(CheckpointWriter &writer) {
  auto directory = writer.save(now);
  if (!directory)
    return directory.takeError();
  savedStep = now.step;
  progress.note("saved " + *directory);
  return Status::success();
}

Error Trainer::saveBeforeEnd(Error error, CheckpointWriter *writer) {
  if (!dataLost || !writer || now.step == savedStep)
    return error;
  Status saved = save(*writer);
  std::string hint = error.hintText().empty() ? "" : error.hintText() + "; ";
  error.hint(hint + (saved ? "all whole steps are saved: continue with "
                             "--resume=auto once the data is whole"
                           : "the steps so far could not be saved: " +
                                 saved.error().where()));
  return error;
}

Status Trainer::finishStep(StepReport &report, MetricsLog &metrics,
                           const SignalScope &signals) {
  faults.crashIf(Fault::Kind::CrashAfterStep, now.step);
  progress.step(report);
  if (Status s = metrics.line(stepJson(report)); !s)
    return s;
  bool due = options.evalEvery > 0 && now.step % options.evalEvery == 0;
  if (data.val && (due || now.step == lastStep))
    if (Status s = evaluate(metrics); !s)
      return s;
  if (options.sampleEvery > 0 && now.step % options.sampleEvery == 0)
    return sample(metrics, signals);
  return Status::success();
}

Expected<ExitCode> Trainer::loop(MetricsLog &metrics, CheckpointWriter *writer,
                                 const SignalScope &signals) {
  while (now.step < lastStep) {
    StepReport report;
    Status s = trainStep(report);
    if (s)
      s = finishStep(report, metrics, signals);
    if (!s)
      return saveBeforeEnd(s.takeError(), writer);
    bool stop = signals.stopSignal() != 0;
    bool due = options.saveEvery > 0 && now.step % options.saveEvery == 0;
    bool isBestYet = isBest();
    if (writer && (due || stop || isBestYet || now.step == lastStep))
      if (Status s = save(*writer); !s)
        return s.takeError();
    if (stop && now.step < lastStep) {
      progress.note("stopped after step " + std::to_string(now.step));
      return ExitCode::StoppedAndSaved;
    }
  }
  if (Status s = checkApplied(); !s)
    return s.takeError();
  return ExitCode::Ok;
}

Expected<ExitCode> Trainer::run(MetricsLog &metrics, CheckpointWriter *writer,
                                const SignalScope &signals) {
  if (now.step >= *options.steps)
    progress.note("already at step " + std::to_string(now.step) + " of " +
                  std::to_string(*options.steps));
  if (writer && options.keepBest) {
    auto known = writer->bestLoss();
    if (!known)
      return known.takeError();
    best = *known;
  }
  if (now.step < lastStep)
    context.device().warmUp(context, {&micro, &apply});
  auto code = loop(metrics, writer, signals);
  progress.finish();
  return code;
}
