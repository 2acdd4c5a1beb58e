//===- Journal.h - What a process tells of its run --------------*- C++ -*-===//
//
// Part of the process: progress on standard output and the metrics file, which
// have one writer however many ranks a process runs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_JOURNAL_H
#define WEFT_RUNTIME_RUN_JOURNAL_H

#include "weft/Runtime/Reports/Metrics.h"
#include "weft/Runtime/Reports/Progress.h"

namespace weft {

class Journal {
public:
  /// Says nothing and writes nowhere: for the ranks that do not report.
  Journal() = default;
  Journal(Progress progress, MetricsLog metrics)
      : progress(std::move(progress)), metrics(std::move(metrics)) {}

  /// Shows it and appends it to the metrics; a full disk is a storage error.
  Status step(const StepReport &report);
  Status eval(const EvalReport &report);
  Status sample(int64_t step, const std::string &text);
  /// A line of prose between steps, and a warning.
  void note(const std::string &text);
  void warnOf(const std::string &text, const std::string &hint);
  /// Nothing comes after this.
  void finish();

private:
  std::optional<Progress> progress;
  MetricsLog metrics;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_JOURNAL_H
