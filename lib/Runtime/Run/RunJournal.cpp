//===- RunJournal.cpp - The files that a run reports to -------------------===//

#include "weft/Base/OutputFile.h"
#include "weft/Base/Results.h"
#include "weft/Runtime/Run/Run.h"
#include "weft/Runtime/Run/RunFlags.h"

using namespace weft;

Expected<MetricsStart> Run::metricsStart() const {
  if (options.metrics.empty() || !isFirst())
    return MetricsStart();
  // With --eval-only, a line is appended to the existing metrics.
  std::optional<int64_t> keptStep;
  if (options.evalOnly)
    keptStep = keepAllSteps;
  else if (resume)
    keptStep = state.step;
  return startMetrics(options.metrics, metricsHeader(), keptStep,
                      options.overwrites);
}

/// Whether the resumed run has written the same metrics file.
bool Run::wroteMetrics() const {
  if (!resume || !resume->manifest.run || options.evalOnly ||
      isWrittenInPlace(options.metrics))
    return false;
  const std::string *was = findSetting(resume->manifest.run->files, "metrics");
  const std::string *now = findSetting(record.files, "metrics");
  return was && now && *was == *now;
}

Expected<MetricsLog> Run::openMetrics() const {
  if (options.metrics.empty() || !isFirst())
    return MetricsLog();
  auto old = FileLock::take(options.metrics);
  if (!old)
    return old.takeError();
  auto start = metricsStart();
  if (!start)
    return start.takeError();
  for (const std::string &text : start->warnings)
    warn(text);
  if (start->isEmpty && wroteMetrics())
    tell(options.metrics + ": starts empty: the metrics up to step " +
         std::to_string(state.step) + " of the checkpoint are lost");
  return MetricsLog::open(options.metrics, *start, *old);
}

/// Begins the files of the journal, after all other checks.
Expected<Journal> Run::openJournal(Progress progress) const {
  auto metrics = openMetrics();
  if (!metrics)
    return metrics.takeError();
  EventFile events;
  if (!options.tensorboard.empty() && isFirst()) {
    // An evaluation repeats no steps.
    std::optional<int64_t> firstStep;
    if (options.trains())
      firstStep = state.step + 1;
    if (Status s =
            assign(EventFile::create(options.tensorboard, firstStep), events);
        !s)
      return s.takeError();
  }
  return Journal(std::move(progress), std::move(*metrics), std::move(events));
}
