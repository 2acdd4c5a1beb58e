//===- Trainer.cpp - The training loop ------------------------------------===//

#include "weft/Runtime/Run/Trainer.h"

#include "weft/Runtime/Checkpoints/CheckpointShares.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Run/Evaluate.h"

#include <algorithm>
#include <cmath>

using namespace weft;

static bool isDue(int64_t step, int64_t every) {
  return every > 0 && step % every == 0;
}

Trainer::Trainer(const TrainerParts &parts, const RunInputs &inputs,
                 TrainState state, std::unique_ptr<NanHunt> hunt)
    : context(parts.context), metadata(inputs.metadata),
      options(inputs.options), data(parts.data), faults(inputs.faults),
      consensus(parts.consensus), journal(parts.journal),
      signals(parts.signals), writer(parts.writer), now(state),
      lastStep(*options.steps), firstStep(state.step + 1),
      savedStep(state.step), hunt(std::move(hunt)),
      runner(context, inputs, data, state, this->hunt.get()),
      scaler(LossScaler::of(*context.executable())) {
  if (options.stopAfter > 0)
    lastStep = std::min(lastStep, state.step + options.stopAfter);
}

//===----------------------------------------------------------------------===//
// A step and its outcome
//===----------------------------------------------------------------------===//

/// Decides by the results of the update whether training may continue.
Status Trainer::judge(StepInFlight &step) {
  // A mean over no targets is NaN, which is no sign of divergence.
  if (step.report.hasNoTargets)
    return skipWithoutTargets(step.report);
  const bool isFinite = std::isfinite(step.report.loss);
  reportFirstBad(step.report.step, !step.foundInf && isFinite);
  if (hasScaler())
    return countSkip(step);
  if (step.foundInf)
    return nonFinite(step);
  return isFinite ? Status::success() : nonFiniteLoss(step.report);
}

/// Adds the step to errors of collectives, which do not know it.
static void nameStep(StepInFlight &step) {
  if (step.failure && step.failure->code() == ExitCode::Communication)
    step.failure->during("step " + std::to_string(step.report.step));
}

/// A rank whose step failed leaves all collectives. The other ranks notice it
/// in their next collective.
void Trainer::joinOthers(StepInFlight &step) {
  if (metadata.ranks() == 1)
    return;
  // Peers have begun the next step and wait for this rank there.
  if (!step.failure && next && next->failure)
    step.failure = std::move(*next->failure);
  if (step.report.ranks)
    step.report.ranks->lostRows = step.lostRows.has_value();
  if (!step.failure)
    if (Status s = joinReports(context, step.report); !s)
      step.failure = s.takeError();
  if (step.failure)
    leaveRanks(context);
}

/// A step without the rows of some rank has updated nothing. The vote after it
/// tells all ranks which rank could not read its rows.
Status Trainer::undo(StepInFlight &step) {
  if (Status s = runner.restoreScaler(); !s)
    return s;
  if (!step.lostRows)
    return Status::success();
  resumesWhen = kDataIsComplete;
  return std::move(*step.lostRows);
}

/// A complete step becomes the state of the run and is reported.
Status Trainer::conclude(StepInFlight &step) {
  if (step.failure) {
    resumesWhen = step.dataLost ? kDataIsComplete : nullptr;
    return std::move(*step.failure);
  }
  if (step.report.ranks && step.report.ranks->lostRows)
    return undo(step);
  if (Status s = judge(step); !s)
    return s;
  now.step = step.report.step;
  now.cursor.rows = step.endRow;
  now.valLoss.reset();
  faults.crashIf(Fault::Kind::CrashAfterStep, now.step);
  faults.exitIf(now.step, context.rank());
  if (Status s = flipWeights(context, faults, now.step); !s)
    return s;
  return written(journal.step(step.report));
}

/// False if something between the two steps reads the state or may end the run.
/// Ranks see a signal at different times but must run the same programs, so
/// several ranks stop only by their vote.
bool Trainer::mayOverlapNextStep(const StepInFlight &step) const {
  const int64_t number = step.report.step;
  return runner.runsInAdvance() && !step.failure && number < lastStep &&
         !isDue(number, options.saveEvery) && !isLookDue(number) &&
         (metadata.ranks() > 1 || signals.stopSignal() == 0);
}

/// Drops the next step, which was begun too early. Its results are not read.
void Trainer::dropNext() {
  if (next)
    runner.drop(*next);
  next.reset();
}

Status Trainer::step() {
  auto step = next ? std::exchange(next, nullptr)
                   : runner.begin(now.step + 1, now.cursor.rows);
  runner.update(step);
  // The device runs the next step while the host reads results of this one.
  if (mayOverlapNextStep(*step))
    next = runner.begin(step->report.step + 1, step->endRow);
  runner.finish(*step);
  nameStep(*step);
  joinOthers(*step);
  return conclude(*step);
}

//===----------------------------------------------------------------------===//
// Evaluation and samples between steps
//===----------------------------------------------------------------------===//

bool Trainer::isEvalDue(int64_t step) const {
  return data.val && (isDue(step, options.evalEvery) || step == lastStep);
}

bool Trainer::isLookDue(int64_t step) const {
  return isEvalDue(step) || isSampleDue(step);
}

bool Trainer::isSampleDue(int64_t step) const {
  return !lostText && isDue(step, options.sampleEvery);
}

/// Evaluates. False if another rank could not read its rows: then there is no
/// loss, and that rank reports the error in the next vote.
Expected<bool> Trainer::evaluate() {
  if (hunt)
    if (Status s = hunt->begin(); !s)
      return s.takeError();
  auto report =
      weft::evaluate(context, metadata, *data.val,
                     EvalPlan(metadata, data.val->rows(), options.evalSteps));
  if (!report) {
    if (report.error().code() == ExitCode::Input)
      resumesWhen = kDataIsComplete;
    return report.takeError();
  }
  if (!*report)
    return false;
  EvalReport &found = **report;
  found.step = now.step;
  reportFirstBad(now.step, std::isfinite(found.loss));
  if (std::isfinite(found.loss))
    now.valLoss = found.loss;
  else
    journal.warnOf("step " + std::to_string(now.step) +
                       ": the validation loss is not a finite number",
                   adviceAgainstBad());
  if (Status s = written(journal.eval(found)); !s)
    return s.takeError();
  return true;
}

/// Prints a sample of the prompt with the current weights. All ranks train on
/// without samples once the tokenizer of a rank is lost.
Status Trainer::sample() {
  auto text = generateText(context, metadata, options, now.seed, &signals);
  if (!text) {
    leaveRanks(context);
    return text.takeError();
  }
  if (text->failure) {
    lostText = true;
    journal.warnOf(
        concat("step ", now.step,
               ": the run continues without samples: ", text->failure->where()),
        "weft generate MODEL --resume DIR samples from a checkpoint");
    return Status::success();
  }
  return written(journal.sample(now.step, *options.generate + text->text));
}

Status Trainer::look() {
  if (isEvalDue(now.step)) {
    auto isWhole = evaluate();
    if (!isWhole)
      return isWhole.takeError();
    if (!*isWhole)
      return Status::success();
  }
  return isSampleDue(now.step) ? sample() : Status::success();
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Whether this step has the lowest validation loss of the save directory.
bool Trainer::isBest() {
  if (!options.keepBest || !now.valLoss || (best && *now.valLoss >= *best))
    return false;
  best = now.valLoss;
  return true;
}

/// Votes after `step`, or after the evaluation and the sample that follow it.
Decision Trainer::reach(Place::Kind kind, int64_t step, const Status &outcome) {
  Vote vote = voteAt({kind, step}, outcome);
  vote.doneStep = now.step;
  vote.mayStillSave = resumesWhen != nullptr;
  vote.isReason = !outcome && foundBad;
  vote.stop = signals.stopSignal() != 0;
  vote.last = now.step == lastStep;
  vote.save = isDue(now.step, options.saveEvery);
  if (kind == Place::Look && outcome)
    vote.save |= isBest();
  return consensus.reach(vote);
}

Status Trainer::save() {
  auto directory = writer->save(now);
  if (!directory)
    return directory.takeError();
  savedStep = now.step;
  journal.note("saved " + *directory);
  return Status::success();
}

/// The error of the run. If it left the state whole, the complete steps are
/// saved.
Error Trainer::fail(const Decision &all, Status outcome) {
  Error error = errorOf(all, consensus, std::move(outcome));
  if (!all.mayStillSave || !writer || now.step == savedStep)
    return error;
  Status saved = save();
  std::string hint = error.hintText().empty() ? "" : error.hintText() + "; ";
  error.hint(hint + (saved ? concat("all complete steps are saved: continue "
                                    "with --resume=auto once ",
                                    resumesWhen ? resumesWhen : "it is mended")
                           : "the steps so far could not be saved: " +
                                 saved.error().where()));
  return error;
}

/// Carries out a decision; an exit code if it ends the run.
Expected<std::optional<ExitCode>> Trainer::act(const Decision &all,
                                               Status outcome) {
  if (all.failed() || all.save || all.stop || all.last)
    dropNext();
  now.onlyBest = !all.failed() && !all.stop && !all.last &&
                 !isDue(now.step, options.saveEvery);
  if (all.failed())
    return fail(all, std::move(outcome));
  if (writer && (all.save || all.stop || all.last)) {
    if (Status s = save(); !s)
      return s.takeError();
  } else if (isDue(now.step, options.checkReplicas)) {
    if (Status s = compareReplicas(context, consensus, now.step); !s)
      return s.takeError();
  }
  if (all.last)
    return std::optional(ExitCode::Ok);
  if (!all.stop)
    return std::optional<ExitCode>();
  journal.note("stopped after step " + std::to_string(now.step));
  return std::optional(ExitCode::StoppedAndSaved);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Expected<ExitCode> Trainer::loop() {
  std::optional<ExitCode> ended;
  while (!ended && now.step < lastStep) {
    const int64_t number = now.step + 1;
    Status outcome = step();
    Decision all = reach(Place::Step, number, outcome);
    if (!all.failed() && isLookDue(now.step)) {
      outcome = look();
      all = reach(Place::Look, number, outcome);
    }
    if (Status s = assign(act(all, std::move(outcome)), ended); !s)
      return s.takeError();
  }
  if (ended == ExitCode::StoppedAndSaved)
    return *ended;
  // The result is equal on all ranks, so it needs no vote.
  if (Status s = checkApplied(); !s)
    return s.takeError();
  return ExitCode::Ok;
}

Expected<ExitCode> Trainer::run() {
  if (now.step >= *options.steps)
    journal.note(concat("already at step ", now.step, " of ", *options.steps));
  if (writer && options.keepBest)
    if (Status s = assign(writer->bestLoss(), best); !s)
      return s.takeError();
  if (now.step < lastStep)
    runner.warmUp();
  auto code = loop();
  if (code && metadata.ranks() > 1)
    if (std::string costs = costText(context); !costs.empty())
      journal.note("comm      " + costs);
  journal.finish();
  return code;
}

//===- Reports of all ranks -----------------------------------------------===//

/// Indices of the numbers that a rank sends; its means follow.
enum ReportNumber : size_t {
  StepMs,
  ComputeMs,
  DataMs,
  CommMs,
  CommBytes,
  PeakBytes,
  LostRows,
  FirstMean
};

static std::vector<double> numbersOf(StepReport &report) {
  std::vector<double> numbers = {report.stepMs,
                                 report.computeMs,
                                 report.dataMs,
                                 report.ranks->commMs,
                                 double(report.ranks->commBytes),
                                 double(report.memoryBytes),
                                 double(report.ranks->lostRows)};
  for (const double *mean : listNumbers(report))
    numbers.push_back(*mean);
  return numbers;
}

static double meanOf(const RankNumbers &all, size_t i) {
  return sumOverRanks(all, i) / double(all.size());
}

static double largestOf(const RankNumbers &all, size_t i) {
  double largest = all.front()[i];
  for (const std::vector<double> &ofRank : all)
    largest = std::max(largest, ofRank[i]);
  return largest;
}

/// The rank that worked the longest, and by how much longer than the mean of
/// the others. Time in collectives is no work, since ranks wait there.
static void findSlowest(const RankNumbers &all, RankReport &report) {
  double most = 0, sum = 0;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const double worked = all[rank][StepMs] - all[rank][CommMs];
    sum += worked;
    if (rank > 0 && worked <= most)
      continue;
    most = worked;
    report.slowest = int64_t(rank);
  }
  report.lagMs = std::max(0.0, most - (sum - most) / double(all.size() - 1));
}

Status weft::joinReports(WeftContext &context, StepReport &report) {
  auto all = gatherNumbers(context, numbersOf(report),
                           "the loss of step " + std::to_string(report.step));
  if (!all)
    return all.takeError();
  const double longest = largestOf(*all, StepMs);
  report.tokensPerSecond *= report.stepMs / longest;
  report.stepMs = longest;
  report.computeMs = meanOf(*all, ComputeMs);
  report.dataMs = meanOf(*all, DataMs);
  report.ranks->commMs = meanOf(*all, CommMs);
  report.ranks->commBytes = int64_t(largestOf(*all, CommBytes));
  report.memoryBytes = int64_t(largestOf(*all, PeakBytes));
  report.ranks->lostRows = largestOf(*all, LostRows) != 0;
  size_t next = FirstMean;
  for (double *mean : listNumbers(report))
    *mean = meanOf(*all, next++);
  findSlowest(*all, *report.ranks);
  return Status::success();
}
