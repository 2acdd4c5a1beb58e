//===- StepRunner.h - Runs the programs of training steps -------*- C++ -*-===//
//
// Part of a rank. A step runs K micro-steps (one micro-batch each) and one
// update. If losses are divided by the number of targets, the step first counts
// the targets of its micro-steps. The caller acts on the results. If the device
// runs asynchronously, the micro-steps of a step are enqueued before the
// results of the previous step are read; the update never is.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_STEPRUNNER_H
#define WEFT_RUNTIME_RUN_STEPRUNNER_H

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Run/RunFlags.h"

#include <chrono>
#include <deque>
#include <memory>

namespace weft {

/// A step from its first micro-step until its results are read.
struct StepInFlight {
  StepReport report;
  int64_t firstRow = 0; // of all ranks
  int64_t endRow = 0;
  bool foundInf = false;       // of some optimizer instance
  bool scaleExhausted = false; // the loss scale cannot shrink any more

  int runsInFlight = 0;   // runs whose results are not read yet
  bool isDropped = false; // the results will not be read

  /// Why the step is incomplete.
  std::optional<Error> failure;
  bool dataLost = false; // rows could not be read: nothing was updated
  /// Rows that one of several ranks could not read. That rank completes the
  /// step with the others and spoils its gradients, so that nothing is updated.
  std::optional<Error> lostRows;

  std::chrono::steady_clock::time_point started;
  CollectiveCount costBefore; // of the rank, with a mesh
  int64_t deviceBytes = 0;    // sent by the device in programs of the step
};

class StepRunner {
  using Clock = std::chrono::steady_clock;

public:
  /// `hunt` is null without --debug-nan; it outlives the runner.
  StepRunner(WeftContext &context, const RunInputs &inputs, const DataSet &data,
             const TrainState &state, NanHunt *hunt);

  /// Whether micro-steps may begin before the results of the previous step are
  /// read. False on a synchronous device, and while commands are traced or
  /// checked.
  bool runsInAdvance() const;
  /// Starts the micro-steps of step `step`, whose rows begin at `firstRow`.
  /// They change only gradients.
  std::shared_ptr<StepInFlight> begin(int64_t step, int64_t firstRow);
  /// Starts its update. Precondition: the previous step is known to be good.
  void update(const std::shared_ptr<StepInFlight> &step);
  /// Waits for its results: the step is complete, or has a `failure`.
  void finish(StepInFlight &step);
  /// Waits for the runs of the step on the device and discards their results.
  void drop(StepInFlight &step);
  /// Recomputes the gradients of a step that was not applied, after a later
  /// step has overwritten them.
  Status repeatGradients(const StepInFlight &step);

  const WeftProgram &applyProgram() const { return apply; }
  /// Prepares the device for the first step.
  void warmUp();
  /// Restores the loss scale from before the last update.
  Status restoreScaler();

private:
  using StepPtr = std::shared_ptr<StepInFlight>;
  /// A run of a program that the device has started.
  struct Run {
    StepPtr step;
    const WeftProgram *program;
  };

  Status beginMicroSteps(const StepPtr &step);
  int64_t firstRowOf(const StepInFlight &step, int64_t k) const;
  Status readRows(const StepPtr &step, const WeftProgram &program, int64_t row);
  Status countTargets(const StepPtr &step, int64_t k);
  Status microStep(const StepPtr &step, int64_t k);
  Status keepScaler();
  Status startUpdate(const StepPtr &step);
  Status start(const StepPtr &step, const WeftProgram &program);
  void finishOldest();
  Status lose(Error error, const StepPtr &step);
  void read(const Run &run);
  void readUpdate(StepInFlight &step);
  void readScaler(StepInFlight &step);
  void countCollectives(StepInFlight &step);
  std::vector<int64_t> batchAt(int64_t first) const;

  WeftContext &context;
  const Metadata &metadata;
  const RunOptions &options;
  const Faults &faults;
  const DataSet &data;
  const MicroPrograms micros;
  const DenominatorPrograms denominators;
  const WeftProgram &apply;
  SampleOrder order;
  /// Bytes of the loss scale before the last update; only with several ranks.
  std::vector<std::string> scalerBefore;
  const int64_t seed, firstStep;
  NanHunt *hunt;
  std::deque<Run> inFlight;                                  // the oldest first
  Clock::time_point lastFinished = Clock::time_point::min(); // of a step
};

//===- Gradients ----------------------------------------------------------===//

/// Rank 0 writes the gradients, the mean over all ranks, under the names of
/// their parameters. All ranks call it.
Status writeGradients(WeftContext &context, const std::string &path);

/// A clause for messages about the first gradient on this rank that is not
/// finite, with parameter and element; "" if all are finite.
Expected<std::string> findBadGradient(const WeftContext &context);

/// Exit 2 unless every gradient, parameter and rank of `faults` exists.
Status checkFaults(const WeftExecutable &executable, int64_t ranks,
                   const Faults &faults);
/// Writes the non-finite values that `faults` request for `step` into
/// gradients, and reports them to `hunt`, which may be null.
Status breakGradients(WeftContext &context, const Faults &faults, int64_t step,
                      NanHunt *hunt);
/// Makes a gradient of this rank non-finite, so that no rank updates.
Status spoilGradients(WeftContext &context);
/// Inverts a bit of each weight that `faults` flip on this rank after `step`.
Status flipWeights(WeftContext &context, const Faults &faults, int64_t step);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_STEPRUNNER_H
