//===- Trainer.h - The training loop ----------------------------*- C++ -*-===//
//
// A step is K micro-steps and one update. The loop owns the order of things:
// update, report, evaluate, save, stop.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_TRAINER_H
#define WEFT_RUNTIME_RUN_TRAINER_H

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Data/Windows.h"
#include "weft/Runtime/Execute/Scaler.h"
#include "weft/Runtime/Reports/Metrics.h"
#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Runtime/Run/Signals.h"

namespace weft {

class Trainer {
public:
  Trainer(WeftContext &context, const Metadata &metadata,
          const RunOptions &options, const DataSet &data, const Faults &faults,
          TrainState state, std::unique_ptr<NanHunt> hunt = nullptr);

  /// Trains from `state` to the last step. `metrics` and `writer` may write
  /// nowhere (writer null). Ok, or StoppedAndSaved after a signal.
  Expected<ExitCode> run(MetricsLog &metrics, CheckpointWriter *writer,
                         const SignalScope &signals);

  const TrainState &state() const { return now; }

private:
  Expected<ExitCode> loop(MetricsLog &metrics, CheckpointWriter *writer,
                          const SignalScope &signals);
  Status trainStep(StepReport &report);
  Status microStep(int64_t k, StepReport &report);
  int64_t firstRow() const;
  std::vector<int64_t> batchAt(int64_t first) const;
  Status update(StepReport &report);
  Status injectFaults();
  Status nonFinite(int64_t step) const;

  // LossScale.cpp: what happens to steps whose gradients are not finite.
  bool hasScaler() const;
  void readScaler(StepReport &report);
  std::vector<std::string> skippedFor(int64_t steps) const;
  void warnOfSkips(int64_t step);
  Status countSkip(StepReport &report, bool skipped);
  Status checkApplied() const;
  Status scaleExhausted(const StepReport &report) const;
  void reportFirstBad(int64_t step, bool good);
  std::string adviceAgainstBad() const;
  Error explainApply(int64_t step, Error error) const;

  Status finishStep(StepReport &report, MetricsLog &metrics,
                    const SignalScope &signals);
  Status evaluate(MetricsLog &metrics);
  Status sample(MetricsLog &metrics, const SignalScope &signals);
  bool isBest();
  Status save(CheckpointWriter &writer);
  /// The error of a step; the steps before one whose data is gone are saved.
  Error saveBeforeEnd(Error error, CheckpointWriter *writer);

  WeftContext &context;
  const Metadata &metadata;
  const RunOptions &options;
  const DataSet &data;
  const Faults &faults;
  const WeftProgram &micro, &apply;
  std::vector<WeftPort> microPorts;
  RowOrder order;
  TrainState now;
  std::optional<double> best; // validation loss, with --keep-best
  Progress progress;
  int64_t lastStep; // of this run
  int64_t firstStep;
  int64_t savedStep;             // nothing is new since
  bool dataLost = false;         // rows could not be read
  std::unique_ptr<NanHunt> hunt; // only with --debug-nan
  std::string culprit;           // what it found in the last step
  const LossScaler scaler;
  int64_t skips = 0, skipsInARow = 0;
  std::map<std::string, int64_t> groupSkipsInARow; // of several instances
  int64_t applied = 0; // steps of this run that updated something
  bool warnedOfSkips = false;
};

/// The programs and ports that a training run needs exist and have the shape of
/// a batch: else exit 70.
Status checkTrainable(const WeftExecutable &executable,
                      const Metadata &metadata, const DataSet &data);
/// The same for a run that only evaluates.
Status checkEvaluable(const WeftExecutable &executable,
                      const Metadata &metadata);

/// The hyper-parameter flags that were given reach the update: exit 2 if the
/// program has no such input.
Status checkHyperParameters(const WeftExecutable &executable,
                            const Metadata &metadata,
                            const RunOptions &options);

/// Training from `state` to the last step reads no more rows than can be
/// counted: else exit 2.
Status checkRowCount(const TrainState &state, const RunOptions &options,
                     const Metadata &metadata, int ranks);

/// Writes the gradients under the names of their parameters. They are whole on
/// the rank that writes them: else an error.
Status writeGradients(const WeftContext &context, const std::string &path);

/// Every gradient that `faults` break exists: else exit 2.
Status checkFaults(const WeftExecutable &executable, const Faults &faults);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_TRAINER_H
