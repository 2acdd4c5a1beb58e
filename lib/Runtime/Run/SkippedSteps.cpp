//===- SkippedSteps.cpp - Steps without finite gradients ------------------===//

#include "weft/Abi/Names.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Run/StepRunner.h"
#include "weft/Runtime/Run/Trainer.h"

#include <cmath>
#include <cstdio>
#include <tuple>

using namespace weft;

/// After so many skips in a row the scaler is not just searching for a scale.
static constexpr int64_t kManySkips = 20;

static const char *const kFindOp =
    "compile with --debug-nan to name the op that makes the first value that "
    "is not finite";
static const char *const kStayFinite =
    "a smaller --lr, a --warmup or --clip 1 keeps a run finite";

bool Trainer::hasScaler() const {
  return WeftContext::findOutput(runner.applyProgram(), names::kLossScale);
}

/// Without a loss scale a non-finite step ends the run. It has not changed the
/// weights, but the gradients may already belong to the next step.
Status Trainer::nonFinite(const StepInFlight &step) {
  if (next) {
    dropNext();
    if (Status s = runner.repeatGradients(step); !s)
      return s;
  }
  auto what = findBadGradient(context);
  if (!what)
    return what.takeError();
  foundBad = !what->empty();
  return numericsError("step ", step.report.step,
                       ": expects finite gradients, but ",
                       foundBad ? *what : std::string("some gradient is not"),
                       "; nothing was updated")
      .hint(adviceAgainstBad());
}

/// The update had finite gradients, but of a loss that is not finite, so its
/// result is not saved.
Status Trainer::nonFiniteLoss(const StepReport &report) {
  foundBad = true;
  return numericsError("step ", report.step,
                       ": expects a finite loss, but got ",
                       numberText(report.loss), "; the update is not saved")
      .hint(adviceAgainstBad());
}

/// No state has changed. One warning is enough, since metrics have each step.
Status Trainer::skipWithoutTargets(StepReport &report) {
  report.skipped = true;
  report.skips = ++skips;
  ++withoutTargets;
  if (!warnedOfNoTargets)
    journal.warnOf("step " + std::to_string(report.step) +
                       ": no target of its rows counts, so nothing is updated",
                   "for later steps only \"skipped\" in the metrics says so");
  warnedOfNoTargets = true;
  return Status::success();
}

void Trainer::reportFirstBad(int64_t step, bool good) {
  nanCause.clear();
  if (!hunt)
    return;
  if (good)
    hunt->learn();
  else
    nanCause = findFirstCause(consensus, step, hunt->findCause());
  if (nanCause.empty())
    return;
  journal.warnOf("step " + std::to_string(step) + ": " + nanCause, "");
}

std::string Trainer::adviceAgainstBad() const {
  if (!hunt)
    return (hasScaler() ? "" : std::string(kStayFinite) + "; ") + kFindOp;
  return (nanCause.empty() ? "" : nanCause + "; ") + kStayFinite;
}

/// " of optimizer 'first'", or "" for all optimizers.
static std::string ofOptimizers(const std::vector<std::string> &names,
                                size_t all) {
  if (names.empty() || names.size() == all)
    return "";
  std::string text = names.size() == 1 ? " of optimizer " : " of optimizers ";
  for (const std::string &name : names)
    text += (name == names.front() ? "" : ", ") + inQuotes(name);
  return text;
}

/// The optimizer instances that were skipped in the last `steps` steps.
std::vector<std::string> Trainer::skippedFor(int64_t steps) const {
  std::vector<std::string> names;
  for (const auto &[name, count] : groupSkipsInARow)
    if (count >= steps)
      names.push_back(name);
  return names;
}

void Trainer::warnOfSkips(int64_t step) {
  warnedOfSkips = true;
  journal.warnOf(
      "step " + std::to_string(step) + ": " + std::to_string(kManySkips) +
          " steps in a row were skipped, as gradients" +
          ofOptimizers(skippedFor(kManySkips), groupSkipsInARow.size()) +
          " are not finite",
      hunt ? adviceAgainstBad() : kFindOp);
}

/// Counts a skip. It is no error as long as the scale can shrink.
Status Trainer::countSkip(StepInFlight &step) {
  if (Status s = checkInverse(step); !s)
    return s;
  StepReport &report = step.report;
  const bool skipped = step.foundInf;
  report.skipped = skipped;
  skips += skipped;
  skipsInARow = skipped ? skipsInARow + 1 : 0;
  for (const auto &[name, bad] : report.foundInf)
    groupSkipsInARow[name] = bad ? groupSkipsInARow[name] + 1 : 0;
  applied +=
      !(skipped && skippedFor(/*steps=*/1).size() == groupSkipsInARow.size());
  report.skips = skips;
  if (step.scaleExhausted)
    return scaleExhausted(report);
  if (skipsInARow == kManySkips && !warnedOfSkips)
    warnOfSkips(report.step);
  return Status::success();
}

/// An error if a fixed scale has skipped all steps. A dynamic scale may still
/// be shrinking at the end of a short run.
Status Trainer::checkApplied() const {
  const int64_t steps = now.step + 1 - firstStep - withoutTargets;
  if (scaler.policy != ScalePolicy::Fixed || steps == 0 || applied > 0)
    return Status::success();
  auto scale =
      loadArenaNumber(context, scaler.scale->offset, scaler.scale->dtype);
  if (!scale)
    return scale.takeError();
  return numericsError("expects steps with finite gradients, but ",
                       steps == 1 ? "the only step"
                                  : "all " + std::to_string(steps) + " steps",
                       " of this run",
                       withoutTargets > 0 ? " with targets" : "",
                       " had some that are not at the fixed loss scale ",
                       numberText(*scale), "; nothing was updated")
      .hint(
          "compile with a smaller --loss-scale, or with --loss-scale=dynamic");
}

Status Trainer::scaleExhausted(const StepReport &report) const {
  return numericsError(
             "step ", report.step, ": expects finite gradients, but some",
             ofOptimizers(skippedFor(/*steps=*/1), groupSkipsInARow.size()),
             " are not at loss scale ", numberText(report.lossScale),
             ", which cannot shrink any more; nothing was updated")
      .hint(adviceAgainstBad());
}

static bool hasInverse(double scale) {
  return std::isfinite(static_cast<float>(1.0 / scale));
}

static Error noInverse(int64_t step, double scale) {
  return numericsError(
             "step ", step,
             ": expects a loss scale with a finite inverse in f32, but got ",
             numberText(scale), "; the update is not saved")
      .hint("compile with --scaler-min to keep the scale from shrinking so "
            "far");
}

/// Whether the gradients of some optimizer were to be divided by the scale.
static bool isScaleUsed(const StepInFlight &step) {
  for (const auto &[name, bad] : step.report.foundInf)
    if (!bad)
      return true;
  return !step.foundInf;
}

/// An error if the scale has no finite inverse. The update has divided by the
/// scale, so its result is invalid and is not saved.
Status Trainer::checkInverse(const StepInFlight &step) const {
  const double scale = step.report.lossScale;
  if (!isScaleUsed(step) || hasInverse(scale))
    return Status::success();
  return noInverse(step.report.step, scale);
}

//===- Causes of all ranks ------------------------------------------------===//

std::string weft::formatNanCause(const NanCause &cause) {
  if (cause.text.empty())
    return "";
  return concat(int(cause.source), " ", cause.command, " ", cause.text);
}

/// The reverse; the text of a rank that says nothing, or something else, has no
/// cause.
static NanCause parseNanCause(const std::string &text) {
  int source = 0, length = 0;
  long long command = 0;
  if (std::sscanf(text.c_str(), "%d %lld %n", &source, &command, &length) != 2)
    return {};
  return {NanCause::Source(source), int64_t(command),
          text.substr(size_t(length))};
}

std::string weft::describeFirstCause(const std::vector<std::string> &texts) {
  NanCause first;
  std::string sentence;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const NanCause one = parseNanCause(texts[rank]);
    const bool isEarlier = std::tie(one.source, one.command) <
                           std::tie(first.source, first.command);
    if (one.text.empty() || !(sentence.empty() || isEarlier))
      continue;
    first = one;
    sentence = one.text;
    if (texts.size() > 1)
      sentence = "rank " + std::to_string(rank) + ": " + sentence;
  }
  return sentence;
}

std::string weft::findFirstCause(Consensus &consensus, int64_t step,
                                 const NanCause &own) {
  Vote vote =
      voteAt({Place::NanCauses, step}, Status::success(), formatNanCause(own));
  vote.doneStep = step;
  const Decision all = consensus.reach(vote);
  return all.failed() ? own.text : describeFirstCause(all.texts);
}
