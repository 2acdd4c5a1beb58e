//===- Journal.cpp - What a process tells of its run ----------------------===//

#include "weft/Runtime/Run/Journal.h"

#include "weft/Base/Error.h"

using namespace weft;

Status Journal::step(const StepReport &report) {
  if (progress)
    progress->step(report);
  return metrics.line(stepJson(report));
}

Status Journal::eval(const EvalReport &report) {
  if (progress)
    progress->eval(report);
  return metrics.line(evalJson(report));
}

Status Journal::sample(int64_t step, const std::string &text) {
  if (progress)
    progress->sample(step, text);
  return metrics.line(sampleJson(step, text));
}

void Journal::note(const std::string &text) {
  if (progress)
    progress->note(text);
}

void Journal::warnOf(const std::string &text, const std::string &hint) {
  if (!progress)
    return;
  progress->finish();
  warn(text, hint);
}

void Journal::finish() {
  if (progress)
    progress->finish();
}
