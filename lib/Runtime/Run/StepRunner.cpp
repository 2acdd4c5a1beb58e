//===- StepRunner.cpp - Runs the programs of training steps ---------------===//

#include "weft/Runtime/Run/StepRunner.h"

#include "weft/Formats/Names.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Run/Gradients.h"

using namespace weft;

using Clock = std::chrono::steady_clock;

static double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

StepRunner::StepRunner(WeftContext &context, const RunInputs &inputs,
                       const DataSet &data, const TrainState &state,
                       NanHunt *hunt)
    : context(context), metadata(inputs.metadata), options(inputs.options),
      faults(inputs.faults), data(data),
      micro(*context.findProgram(names::kMicro)),
      apply(*context.findProgram(names::kApply)), microPorts(dataInputs(micro)),
      order(data.train->rows(), state.cursor.shuffle, state.cursor.shuffleSeed),
      seed(state.seed), firstStep(state.step + 1), hunt(hunt) {}

void StepRunner::warmUp() {
  context.device().warmUp(context, {&micro, &apply});
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

/// Each rank takes a batch of the rows that all ranks read together.
Status StepRunner::microStep(StepInFlight &step, int64_t k) {
  auto start = Clock::now();
  const int64_t all = context.ranks() * metadata.batch;
  const int64_t row = step.endRow + context.rank() * metadata.batch;
  if (Status s = fillRows(context, microPorts, *data.train, order, row); !s) {
    step.dataLost = true;
    return s;
  }
  // The disk works while the program runs.
  data.train->willNeed(batchAt(row + all));
  setInput(context, micro, names::kLossSeed,
           1.0 / double(options.accum * context.ranks()));
  setInput(context, micro, names::kAccumulate, k == 0 ? 0.0 : 1.0);
  if (const WeftPort *rng = WeftContext::findInput(micro, names::kRng)) {
    writeInteger(context, *rng, seed, 0);
    writeInteger(context, *rng, row, 1);
  }
  step.report.dataMs += msSince(start);
  start = Clock::now();
  if (Status s = runChecked(context, micro); !s)
    return s;
  step.report.computeMs += msSince(start);
  addLosses(context, micro, step.report.loss, step.report.losses);
  step.endRow += all;
  return Status::success();
}

Status StepRunner::beginMicroSteps(StepInFlight &step) {
  if (hunt)
    if (Status s = hunt->begin(); !s)
      return s;
  for (int64_t k = 0; k < options.accum; ++k)
    if (Status s = microStep(step, k); !s)
      return s;
  return Status::success();
}

StepInFlight StepRunner::begin(int64_t number, int64_t firstRow) {
  StepInFlight step;
  step.report.step = number;
  step.firstRow = step.endRow = firstRow;
  step.started = Clock::now();
  if (Status s = beginMicroSteps(step); !s)
    step.failure = s.takeError();
  return step;
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

/// Flags of the groups, if there are several, and the scale of this step.
void StepRunner::readScaler(StepInFlight &step) {
  const WeftPort *scale = WeftContext::findOutput(apply, names::kLossScale);
  if (!scale)
    return;
  const std::string prefix = names::kFoundInfOf;
  step.report.hasScaler = true;
  step.report.lossScale = readNumber(context, *scale);
  for (int32_t i = 0; i < apply.numOutputs; ++i) {
    std::string name = apply.outputs[i].name;
    if (name.compare(0, prefix.size(), prefix) == 0)
      step.report.foundInf.push_back(
          {name.substr(prefix.size()),
           readNumber(context, apply.outputs[i]) != 0});
  }
  const WeftPort *end = WeftContext::findOutput(apply, names::kScaleExhausted);
  step.scaleExhausted = end && readNumber(context, *end) != 0;
}

Status StepRunner::readUpdate(StepInFlight &step) {
  if (const WeftPort *norm = WeftContext::findOutput(apply, names::kGradNorm)) {
    step.report.gradNorm = readNumber(context, *norm);
    step.report.hasGradNorm = true;
  }
  step.foundInf =
      readNumber(context, *WeftContext::findOutput(apply, names::kFoundInf)) !=
      0;
  readScaler(step);
  return Status::success();
}

Status StepRunner::startUpdate(StepInFlight &step) {
  const int64_t number = step.report.step;
  if (number == firstStep && !options.dumpGrads.empty())
    if (Status s = writeGradients(context, options.dumpGrads); !s)
      return s;
  if (Status s = breakGradients(context, faults, number, hunt); !s)
    return s;
  auto start = Clock::now();
  step.report.lr = options.schedule.at(number);
  setInput(context, apply, names::kLr, step.report.lr);
  setInput(context, apply, names::kBeta1, options.beta1);
  setInput(context, apply, names::kBeta2, options.beta2);
  setInput(context, apply, names::kEps, options.eps);
  setInput(context, apply, names::kWeightDecay, options.weightDecay);
  for (const auto &[input, decay] : options.ownDecays)
    setInput(context, apply, input.c_str(), decay);
  setInput(context, apply, names::kMomentum, options.momentum);
  setInput(context, apply, names::kMaxNorm, options.clip);
  if (Status s = runChecked(context, apply); !s) {
    step.updateFailed = true;
    return s;
  }
  step.report.computeMs += msSince(start);
  return readUpdate(step);
}

void StepRunner::update(StepInFlight &step) {
  if (step.failure)
    return;
  takeMeans(options.accum, step.report.loss, step.report.losses);
  if (Status s = startUpdate(step); !s)
    step.failure = s.takeError();
}

void StepRunner::finish(StepInFlight &step) {
  if (step.failure)
    return;
  StepReport &report = step.report;
  report.stepMs = msSince(step.started);
  const int64_t rows = step.endRow - step.firstRow;
  const int64_t units = metadata.isLanguageModel() ? rows * metadata.seq : rows;
  report.tokensPerSecond = double(units) / (report.stepMs / 1000.0);
  report.memoryBytes = context.device().peakBytes();
}
