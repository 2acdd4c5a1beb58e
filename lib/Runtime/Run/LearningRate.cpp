//===- LearningRate.cpp - Learning rate of a step -------------------------===//

#include "weft/Runtime/Run/RunFlags.h"

#include "weft/Base/CountText.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"
#include "weft/Runtime/Run/Run.h"

#include <algorithm>
#include <cmath>

using namespace weft;

/// The part of the way from `from` to `to` that `i` has gone, in [0, 1].
static double progress(int64_t i, int64_t from, int64_t to) {
  if (i >= to)
    return 1.0;
  if (i <= from)
    return 0.0;
  return double(i - from) / double(to - from);
}

double RateSchedule::at(int64_t step) const {
  const double pi = 3.14159265358979323846;
  const int64_t i = step - 1;
  if (i < warmup)
    return lr * double(i + 1) / double(warmup);
  const double span = lr - minLr;
  switch (kind) {
  case RateScheduleKind::Constant:
    return lr;
  case RateScheduleKind::Linear:
    return minLr + (1.0 - progress(i, warmup, decaySteps)) * span;
  case RateScheduleKind::Cosine:
    return minLr +
           0.5 * (1.0 + std::cos(pi * progress(i, warmup, decaySteps))) * span;
  case RateScheduleKind::Wsd: {
    int64_t start = decaySteps * 4 / 5;
    if (i < start)
      return lr;
    return minLr + (1.0 - std::sqrt(progress(i, start, decaySteps))) * span;
  }
  }
  return lr;
}

//===- Checks -------------------------------------------------------------===//

static bool decays(const RateSchedule &rate) {
  return rate.kind != RateScheduleKind::Constant;
}

/// The length of a training, by the flag that was given.
static std::string stepsText(const RunOptions &options) {
  const std::string steps = std::to_string(*options.steps);
  return options.epochs ? "the " + countText(*options.steps, "step") +
                              " of --epochs=" + std::to_string(*options.epochs)
                        : "--steps=" + steps;
}

Status weft::checkRates(const RunOptions &options) {
  if (!options.trains())
    return Status::success();
  const RateSchedule &rate = options.schedule;
  if (rate.warmup >= *options.steps)
    return usageError("--warmup expects less than ", stepsText(options),
                      ", but got ", rate.warmup)
        .hint("no step would follow the warmup");
  if (!decays(rate))
    return Status::success();
  if (rate.warmup >= rate.decaySteps)
    return usageError("--warmup expects less than --lr-decay-steps=",
                      rate.decaySteps, ", but got ", rate.warmup);
  if (rate.minLr > rate.lr)
    return usageError("--min-lr expects at most --lr=", numberText(rate.lr),
                      ", but got ", numberText(rate.minLr))
        .hint("--lr is the learning rate after the warmup, --min-lr the one at "
              "the end");
  return Status::success();
}

std::string weft::warnOfEarlyEnd(const RunOptions &options) {
  const RateSchedule &rate = options.schedule;
  if (!options.trains() || !decays(rate) || rate.decaySteps >= *options.steps)
    return "";
  const std::string steps = std::to_string(*options.steps);
  return "--lr-decay-steps=" + std::to_string(rate.decaySteps) +
         " is below --steps=" + steps + ": from step " +
         std::to_string(rate.decaySteps + 1) +
         " on the learning rate is --min-lr=" + numberText(rate.minLr) +
         "; --lr-decay-steps=" + steps + " makes the schedule last the run";
}

/// The steps of a schedule that lasted as long as its run; 0 if the record does
/// not tell.
static int64_t decayStepsOf(const RunRecord &run) {
  return run.decaySteps > 0 ? run.decaySteps
                            : countOf(run.flags, "steps").value_or(0);
}

std::string weft::warnOfJump(const RunOptions &options, const RunRecord &was,
                             const RunRecord &now, int64_t nextStep) {
  const RateSchedule &rate = options.schedule;
  const int64_t steps = decayStepsOf(was);
  const bool isDefault = !findSetting(was.flags, "lr-decay-steps") &&
                         !findSetting(now.flags, "lr-decay-steps");
  if (!options.trains() || !decays(rate) || !isDefault || steps < 1 ||
      steps == rate.decaySteps || nextStep > *options.steps)
    return "";
  RateSchedule kept = rate;
  kept.decaySteps = steps;
  // As people read them: what differs in the seventh digit is no jump.
  const std::string before = numberText(kept.at(nextStep), 6);
  const std::string after = numberText(rate.at(nextStep), 6);
  if (before == after)
    return "";
  return concat("the learning rate of step ", nextStep, " is ", after,
                " instead of ", before, ", since the training has ",
                rate.decaySteps, " steps instead of ", steps,
                "; --lr-decay-steps=", steps, " keeps the course");
}

void weft::setSteps(RunOptions &options, int64_t steps) {
  options.steps = steps;
  if (options.decaysToEnd)
    options.schedule.decaySteps = steps;
}

Expected<int64_t> weft::countEpochSteps(const TrainState &state, int64_t epochs,
                                        int64_t rows, int64_t rowsOfStep) {
  int64_t last = 0;
  if (__builtin_mul_overflow(epochs, rows, &last) || last > mostRows)
    return usageError("--epochs expects a training of at most ", mostRows,
                      " rows, but got ", epochs, " times ", rows);
  const int64_t left = std::max<int64_t>(last - state.cursor.rows, 0);
  return state.step + left / rowsOfStep + (left % rowsOfStep != 0);
}
