//===- Progress.h - Progress output of a run --------------------*- C++ -*-===//
//
// One report per step on standard output: a bar that redraws itself on a
// terminal, a line, a JSON object, or nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_PROGRESS_H
#define WEFT_RUNTIME_REPORTS_PROGRESS_H

#include "weft/Base/Descriptor.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Reports/EventFile.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

/// The numbers of a step of several ranks.
struct RankReport {
  double commMs = 0.0;   // exposed time of collectives
  int64_t commBytes = 0; // sent by a rank
  int64_t slowest = 0;   // the rank that worked the longest
  double lagMs = 0.0;    // by how much longer than the others
  bool lostRows = false; // a rank could not read its rows: nothing is updated
  /// False where a device runs the collectives: the host does not see their
  /// time.
  bool isCommMsKnown = true;
};

/// The means that programs report of a step or an evaluation.
struct ReportedMeans {
  double loss = 0.0;
  NamedNumbers losses;  // terms of the loss that have names
  NamedNumbers metrics; // outputs that are not trained
};

/// All numbers of `means`, in a fixed order.
std::vector<double *> listNumbers(ReportedMeans &means);

/// The numbers of one step; everything a progress line or a metrics line shows.
struct StepReport : ReportedMeans {
  int64_t step = 0;
  double lr = 0.0;
  double gradNorm = 0.0;
  bool hasGradNorm = false;
  bool hasScaler = false;
  double lossScale = 1.0; // of this step
  bool skipped = false;
  bool hasNoTargets = false; // no target of the step counts
  /// Of several optimizer instances: which one was skipped.
  std::vector<std::pair<std::string, bool>> foundInf;
  int64_t skips = 0; // of this run so far
  double tokensPerSecond = 0.0;
  double stepMs = 0.0;
  double computeMs = 0.0;
  double dataMs = 0.0;
  int64_t memoryBytes = 0;
  std::optional<RankReport> ranks; // if there are several
};

/// The numbers of an evaluation.
struct EvalReport : ReportedMeans {
  int64_t step = 0;
  std::optional<double> perplexity; // of a language model
  int64_t rows = 0;                 // that count
  int64_t availableRows = 0;        // of the data
  bool isSample = false;            // by --eval-steps
};

/// NarrowLine: a line that a terminal does not wrap.
enum class ProgressKind { Bar, Line, NarrowLine, Json, None };

/// Whether the kind is text for people.
inline bool isForPeople(ProgressKind kind) {
  return kind == ProgressKind::Bar || kind == ProgressKind::Line ||
         kind == ProgressKind::NarrowLine;
}

/// The steps of a run, for its last lines.
struct RunSummary {
  int64_t steps = 0; // of this run
  double seconds = 0.0;
  double epochs = 0.0; // of this run
  double loss = 0.0;   // of the last step
  std::optional<double> valLoss;
  std::vector<std::string> files;
};

/// "done      40 steps, 0.65 epochs in 18.2 s: loss 2.9207" and the files, in
/// lines of at most `columns`.
std::string describeEnd(const RunSummary &summary, size_t columns);

/// The metrics object of a step without a line end; also the JSON progress.
std::string stepJson(const StepReport &report);
/// The metrics object of an evaluation, and of a sample.
std::string evalJson(const EvalReport &report);
std::string sampleJson(int64_t step, const std::string &text);

/// A part of a progress line; rank 0 is always shown, and the larger the rank,
/// the sooner it is dropped.
struct ProgressField {
  std::string text; // with the spaces before it
  int rank = 0;
};

/// The fields that fit into a line of so many columns, in their order.
std::string fitFields(const std::vector<ProgressField> &fields, size_t width);

class Progress {
public:
  /// Shows nothing.
  Progress() = default;
  /// `unit`: what tokensPerSecond counts, "tok" or "rows".
  Progress(ProgressKind kind, int64_t firstStep, int64_t lastStep,
           int64_t logEvery, std::string unit);

  void step(const StepReport &report);
  void eval(const EvalReport &report);
  void sample(int64_t step, const std::string &text);
  /// A line of prose between steps ("saved run/step_00000010").
  void note(const std::string &text);
  /// Ends the line of the bar.
  void finish();
  /// Steps, time and losses so far.
  const RunSummary &summary() const { return seen; }

private:
  void line(const StepReport &report);
  void bar(const StepReport &report);
  std::string eta(const StepReport &report) const;
  std::vector<ProgressField> fields(const StepReport &report) const;

  ProgressKind kind = ProgressKind::None;
  int64_t firstStep = 0, lastStep = 0, logEvery = 1;
  std::string unit;
  double meanMs = 0.0;
  RunSummary seen;
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
  bool barOpen = false;
  std::chrono::steady_clock::time_point barDrawn;
};

//===- The metrics file ---------------------------------------------------===//

// A first line describes the run, then one object per step and evaluation. A
// resumed run cuts the file back to the step it continues from.

/// The contents of a metrics file before the first new line.
struct MetricsStart {
  std::string text;
  std::vector<std::string> warnings;
  /// The path does not exist; opening fails if it exists by then.
  bool isNew = false;
  /// The file has no lines of an earlier run.
  bool isEmpty = false;
};

constexpr int64_t keepAllSteps = INT64_MAX;

/// Reads an existing file and writes nothing. Without `keptStep` the new text
/// is `header`. Otherwise it is the old header and the lines up to that step,
/// without a last line that a crash has torn. A file that is no metrics file,
/// or has a line that is no metrics line, is an error: it is never truncated or
/// overwritten. With `overwrites` a file that is no metrics file is replaced.
Expected<MetricsStart> startMetrics(const std::string &path,
                                    const std::string &header,
                                    std::optional<int64_t> keptStep,
                                    bool overwrites = false);

class MetricsLog {
public:
  /// Writes nowhere.
  MetricsLog() = default;

  /// Writes the text of `start`. `old` is the lock on the replaced file, taken
  /// before `start` was read; it is empty if there was no file. Two runs cannot
  /// write one file: the later one gets a storage error.
  static Expected<MetricsLog>
  open(const std::string &path, const MetricsStart &start, const FileLock &old);

  /// Appends one line; a full disk is a storage error.
  Status line(const std::string &json);

private:
  Status write(const std::string &text) const;

  Descriptor file;
  FileLock lock;
  std::string path;
};

/// Part of the process: progress on standard output, the metrics file and the
/// event file, which have one writer however many ranks a process runs.
class Journal {
public:
  /// Says nothing and writes nowhere: for the ranks that do not report.
  Journal() = default;
  Journal(Progress progress, MetricsLog metrics, EventFile events = {})
      : progress(std::move(progress)), metrics(std::move(metrics)),
        events(std::move(events)), reports(true) {}

  /// Shows it and appends it to the files; a full disk is a storage error.
  Status step(const StepReport &report) {
    progress.step(report);
    if (Status s = metrics.line(stepJson(report)); !s)
      return s;
    return events.step(report);
  }
  Status eval(const EvalReport &report) {
    progress.eval(report);
    if (Status s = metrics.line(evalJson(report)); !s)
      return s;
    return events.eval(report);
  }
  Status sample(int64_t step, const std::string &text) {
    progress.sample(step, text);
    return metrics.line(sampleJson(step, text));
  }
  /// A line of prose between steps, and a warning.
  void note(const std::string &text) { progress.note(text); }
  void warnOf(const std::string &text, const std::string &hint) {
    progress.finish();
    if (reports)
      warn(text, hint);
  }
  /// Nothing comes after this.
  void finish() { progress.finish(); }
  const RunSummary &summary() const { return progress.summary(); }

private:
  Progress progress;
  MetricsLog metrics;
  EventFile events;
  bool reports = false;
};

//===- The Chrome trace of the commands of a run --------------------------===//

/// Collects one event per command while a run lasts and writes the JSON that
/// chrome://tracing, Perfetto and weft inspect --profile read. Times are
/// microseconds from the start.
class Trace {
public:
  /// Events beyond this many are dropped; write() says how many.
  static constexpr size_t maxEvents = 1000000;

  /// Collects the events of `context` until it is destroyed.
  explicit Trace(WeftContext &context);
  ~Trace();
  Trace(const Trace &) = delete;
  Trace &operator=(const Trace &) = delete;

  /// Writes the file whole; `processName` labels the timeline.
  Status write(const std::string &path, const std::string &processName) const;
  size_t dropped() const { return droppedEvents; }

private:
  WeftContext &context;
  std::vector<TraceEvent> events;
  std::map<int64_t, int64_t> ends; // of the last command, by stream
  size_t droppedEvents = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_PROGRESS_H
