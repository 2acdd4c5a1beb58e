//===- Progress.h - Progress output of a run --------------------*- C++ -*-===//
//
// One report per step on standard output: a bar that redraws itself on a
// terminal, a line, a JSON object, or nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_PROGRESS_H
#define WEFT_RUNTIME_REPORTS_PROGRESS_H

#include <chrono>
#include <cstdint>
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

/// The numbers of one step; everything a progress line or a metrics line shows.
struct StepReport {
  int64_t step = 0;
  double loss = 0.0;
  double lr = 0.0;
  double gradNorm = 0.0;
  bool hasGradNorm = false;
  NamedNumbers losses; // terms of the loss that have names
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
struct EvalReport {
  int64_t step = 0;
  double loss = 0.0;
  NamedNumbers losses;
  std::optional<double> perplexity; // of a language model
  int64_t rows = 0;                 // that count
  int64_t availableRows = 0;        // of the data
  bool isSample = false;            // by --eval-steps
};

enum class ProgressKind { Bar, Line, Json, None };

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
std::string fitFields(const std::vector<ProgressField> &fields, size_t room);

class Progress {
public:
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

private:
  void line(const StepReport &report);
  void bar(const StepReport &report);
  std::string eta(const StepReport &report) const;
  std::vector<ProgressField> fields(const StepReport &report) const;

  ProgressKind kind;
  int64_t firstStep;
  int64_t lastStep;
  int64_t logEvery;
  std::string unit;
  double meanMs = 0.0;
  bool barOpen = false;
  std::chrono::steady_clock::time_point barDrawn;
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_PROGRESS_H
