//===- StepRunner.cpp - Runs the programs of training steps ---------------===//

#include "weft/Runtime/Run/StepRunner.h"

#include "weft/Abi/Names.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/StateSegments.h"
#include "weft/Runtime/Run/Evaluate.h"

#include <algorithm>
#include <cmath>

using namespace weft;

static double msSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

StepRunner::StepRunner(WeftContext &context, const RunInputs &inputs,
                       const DataSet &data, const TrainState &state,
                       NanHunt *hunt)
    : context(context), metadata(inputs.metadata), options(inputs.options),
      faults(inputs.faults), data(data), micros(*context.executable()),
      denominators(*context.executable()),
      apply(*context.findProgram(names::kApply)),
      order(data.train->rows(), state.cursor.shuffle, state.cursor.shuffleSeed),
      seed(state.seed), firstStep(state.step + 1), hunt(hunt) {}

void StepRunner::warmUp() {
  std::vector<const WeftProgram *> programs = denominators.list(options.accum);
  for (const WeftProgram *micro : micros.list(options.accum))
    programs.push_back(micro);
  programs.push_back(&apply);
  context.device().warmUp(context, programs);
}

bool StepRunner::runsInAdvance() const {
  return context.device().runsInAdvance() > 0 && !context.traceHook &&
         !context.checkHook;
}

//===----------------------------------------------------------------------===//
// Runs of programs
//===----------------------------------------------------------------------===//

/// Clears the queue after an error. The results of runs in flight cannot be
/// read any more, so their steps fail. Returns the error for `step`.
Status StepRunner::lose(Error error, const StepPtr &step) {
  for (Run &run : inFlight) {
    run.step->runsInFlight = 0;
    if (!run.step->failure && run.step != step)
      run.step->failure = error;
  }
  inFlight.clear();
  step->runsInFlight = 0;
  return error;
}

/// Starts a run on the device. If its queue is full, waits for the oldest run
/// first.
Status StepRunner::start(const StepPtr &step, const WeftProgram &program) {
  const int most = std::max(1, context.device().runsInAdvance());
  while (int(inFlight.size()) >= most)
    finishOldest();
  if (step->failure)
    return std::move(*step->failure);
  const auto begin = Clock::now();
  if (Status s = startChecked(context, program); !s)
    return lose(s.takeError(), step);
  ++step->runsInFlight;
  if (metadata.ranks() > 1)
    step->deviceBytes += sentBytes(program);
  step->report.computeMs += msSince(begin);
  inFlight.push_back({step, &program});
  if (!runsInAdvance())
    finishOldest();
  if (step->failure)
    return std::move(*step->failure);
  return Status::success();
}

void StepRunner::finishOldest() {
  const Run run = std::move(inFlight.front());
  inFlight.pop_front();
  --run.step->runsInFlight;
  const auto begin = Clock::now();
  if (Status s = finishChecked(context, *run.program); !s) {
    run.step->failure = lose(s.takeError(), run.step).takeError();
    return;
  }
  run.step->report.computeMs += msSince(begin);
  if (!run.step->isDropped)
    read(run);
}

void StepRunner::read(const Run &run) {
  StepReport &report = run.step->report;
  if (run.program == &apply)
    readUpdate(*run.step);
  else if (WeftContext::findOutput(*run.program, names::kLoss))
    addOutputs(context, metadata, *run.program, report);
}

//===----------------------------------------------------------------------===//
// Micro-steps
//===----------------------------------------------------------------------===//

/// The data rows of the batch that begins with training row `first`.
std::vector<int64_t> StepRunner::batchAt(int64_t first) const {
  std::vector<int64_t> batch;
  for (int64_t i = 0; i < metadata.batch; ++i)
    batch.push_back(order.dataRow(first + i));
  return batch;
}

/// The first training row of this rank in micro-batch `k`. The rows of a
/// micro-batch over all ranks are consecutive, one batch per rank.
int64_t StepRunner::firstRowOf(const StepInFlight &step, int64_t k) const {
  return step.firstRow +
         (k * context.ranks() + context.rank()) * metadata.batch;
}

/// With one rank, rows that cannot be read end the step. One of several ranks
/// finishes the step and spoils its gradients.
Status StepRunner::readRows(const StepPtr &step, const WeftProgram &program,
                            int64_t row) {
  Status s = fillRows(context, dataInputs(program), *data.train, batchAt(row));
  if (s)
    return s;
  if (metadata.ranks() == 1) {
    step->dataLost = true;
    return s;
  }
  step->lostRows = s.takeError();
  return Status::success();
}

/// Adds the counts of micro-batch `k` to the denominators of the step.
Status StepRunner::countTargets(const StepPtr &step, int64_t k) {
  const auto begin = Clock::now();
  const WeftProgram &program = denominators.get(k, options.accum);
  if (Status s = readRows(step, program, firstRowOf(*step, k)); !s)
    return s;
  setInput(context, program, names::kAccumulate, k == 0 ? 0.0 : 1.0);
  setInput(context, program, names::kBatchShare,
           step->lostRows ? std::nan("") : 1.0 / double(options.accum));
  step->report.dataMs += msSince(begin);
  return start(step, program);
}

Status StepRunner::microStep(const StepPtr &step, int64_t k) {
  const auto begin = Clock::now();
  const WeftProgram &micro = micros.get(k, options.accum);
  const int64_t all = context.ranks() * metadata.batch;
  const int64_t row = firstRowOf(*step, k);
  if (Status s = readRows(step, micro, row); !s)
    return s;
  // Prefetch the next rows while the program runs.
  data.train->willNeed(batchAt(row + all));
  // The mean over ranks is part of the programs, not of the loss seed.
  setInput(context, micro, names::kLossSeed,
           step->lostRows ? std::nan("") : 1.0 / double(options.accum));
  setInput(context, micro, names::kAccumulate, k == 0 ? 0.0 : 1.0);
  if (const WeftPort *rng = WeftContext::findInput(micro, names::kRng)) {
    writeInteger(context, *rng, seed, 0);
    writeInteger(context, *rng, row, 1);
  }
  step->report.dataMs += msSince(begin);
  step->endRow += all;
  return start(step, micro);
}

Status StepRunner::beginMicroSteps(const StepPtr &step) {
  if (hunt)
    if (Status s = hunt->begin(); !s)
      return s;
  faults.sleepIf(Fault::Kind::SlowStep, step->report.step, context.rank());
  for (int64_t k = 0; denominators.exist() && k < options.accum; ++k)
    if (Status s = countTargets(step, k); !s)
      return s;
  for (int64_t k = 0; k < options.accum; ++k)
    if (Status s = microStep(step, k); !s)
      return s;
  return Status::success();
}

std::shared_ptr<StepInFlight> StepRunner::begin(int64_t number,
                                                int64_t firstRow) {
  auto step = std::make_shared<StepInFlight>();
  step->report.step = number;
  step->firstRow = step->endRow = firstRow;
  step->started = Clock::now();
  if (metadata.ranks() > 1)
    step->costBefore = costOfPrograms(context);
  if (Status s = beginMicroSteps(step); !s)
    step->failure = s.takeError();
  return step;
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

/// Reads the loss scale of this step and the found_inf flags of the groups, if
/// there are several.
void StepRunner::readScaler(StepInFlight &step) {
  const WeftPort *scale = WeftContext::findOutput(apply, names::kLossScale);
  if (!scale)
    return;
  const std::string prefix = names::kFoundInfOf;
  step.report.hasScaler = true;
  step.report.lossScale = readNumber(context, *scale);
  for (const WeftPort &port : outputsOf(apply)) {
    std::string name = port.name;
    if (name.compare(0, prefix.size(), prefix) == 0)
      step.report.foundInf.push_back(
          {name.substr(prefix.size()), readNumber(context, port) != 0});
  }
  const WeftPort *end = WeftContext::findOutput(apply, names::kScaleExhausted);
  step.scaleExhausted = end && readNumber(context, *end) != 0;
}

void StepRunner::readUpdate(StepInFlight &step) {
  if (const WeftPort *norm = WeftContext::findOutput(apply, names::kGradNorm)) {
    step.report.gradNorm = readNumber(context, *norm);
    step.report.hasGradNorm = true;
  }
  step.foundInf =
      readNumber(context, *WeftContext::findOutput(apply, names::kFoundInf)) !=
      0;
  if (const WeftPort *none = WeftContext::findOutput(apply, names::kNoTargets))
    step.report.hasNoTargets = readNumber(context, *none) != 0;
  readScaler(step);
}

/// Saves the loss scale before an update. A skip changes it, and an undone step
/// must not.
Status StepRunner::keepScaler() {
  scalerBefore.clear();
  for (const NamedTensor &tensor :
       namedTensors(*context.executable(), WEFT_SCALER)) {
    const HeldRange held = heldBy(tensor, context.rank());
    std::string &bytes = scalerBefore.emplace_back(
        size_t(held.elements() * dtypeBytes(tensor.dtype())), '\0');
    if (Status s = context.device().copyOut(bytes.data(), held.offset,
                                            int64_t(bytes.size()));
        !s)
      return s;
  }
  return Status::success();
}

Status StepRunner::restoreScaler() {
  auto bytes = scalerBefore.begin();
  for (const NamedTensor &tensor :
       namedTensors(*context.executable(), WEFT_SCALER)) {
    const HeldRange held = heldBy(tensor, context.rank());
    if (Status s = context.device().copyIn(held.offset, bytes->data(),
                                           int64_t(bytes->size()));
        !s)
      return s;
    ++bytes;
  }
  return Status::success();
}

Status StepRunner::startUpdate(const StepPtr &step) {
  const int64_t number = step->report.step;
  if (number == firstStep && !options.dumpGrads.empty())
    if (Status s = writeGradients(context, options.dumpGrads); !s)
      return s;
  if (Status s = breakGradients(context, faults, number, hunt); !s)
    return s;
  if (step->lostRows)
    if (Status s = spoilGradients(context); !s)
      return s;
  if (metadata.ranks() > 1)
    if (Status s = keepScaler(); !s)
      return s;
  step->report.lr = options.schedule.at(number);
  setInput(context, apply, names::kLr, step->report.lr);
  setInput(context, apply, names::kBeta1, options.beta1);
  setInput(context, apply, names::kBeta2, options.beta2);
  setInput(context, apply, names::kEps, options.eps);
  setInput(context, apply, names::kWeightDecay, options.weightDecay);
  for (const auto &[input, decay] : options.ownDecays)
    setInput(context, apply, input.c_str(), decay);
  setInput(context, apply, names::kMomentum, options.momentum);
  setInput(context, apply, names::kMaxNorm, options.clip);
  return start(step, apply);
}

void StepRunner::update(const std::shared_ptr<StepInFlight> &step) {
  if (step->failure)
    return;
  if (Status s = startUpdate(step); !s)
    step->failure = s.takeError();
}

//===----------------------------------------------------------------------===//
// The end of a step
//===----------------------------------------------------------------------===//

/// Collectives run inside programs, so their time is subtracted from the
/// compute time.
void StepRunner::countCollectives(StepInFlight &step) {
  const CollectiveCount now = costOfPrograms(context);
  RankReport &ranks = step.report.ranks.emplace();
  ranks.commMs = double(now.nanoseconds - step.costBefore.nanoseconds) * 1e-6;
  ranks.isCommMsKnown = context.device().hostView() != nullptr;
  // A device may have begun the next step, so its bytes are counted by program.
  ranks.commBytes = ranks.isCommMsKnown ? now.bytes - step.costBefore.bytes
                                        : step.deviceBytes;
  step.report.computeMs = std::max(0.0, step.report.computeMs - ranks.commMs);
}

void StepRunner::finish(StepInFlight &step) {
  while (step.runsInFlight > 0)
    finishOldest();
  if (step.failure)
    return;
  StepReport &report = step.report;
  takeMeans(options.accum, report);
  // If the step began before the last one ended, count from the end of that
  // one.
  const auto since = std::max(step.started, lastFinished);
  report.stepMs = msSince(since);
  lastFinished = Clock::now();
  const int64_t rows = step.endRow - step.firstRow;
  const int64_t units = metadata.isLanguageModel() ? rows * metadata.seq : rows;
  report.tokensPerSecond = double(units) / (report.stepMs / 1000.0);
  report.memoryBytes = context.device().peakBytes();
  if (metadata.ranks() > 1)
    countCollectives(step);
}

void StepRunner::drop(StepInFlight &step) {
  step.isDropped = true;
  while (step.runsInFlight > 0)
    finishOldest();
}

Status StepRunner::repeatGradients(const StepInFlight &step) {
  auto again = begin(step.report.step, step.firstRow);
  drop(*again);
  if (again->failure) {
    leaveRanks(context);
    return std::move(*again->failure);
  }
  return breakGradients(context, faults, step.report.step, hunt);
}
