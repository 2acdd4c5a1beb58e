//===- StepRunner.h - Runs the programs of training steps -------*- C++ -*-===//
//
// Part of a rank. A step counts the targets of its K micro-steps, where losses
// are divided by that count, runs the micro-steps and one update. The caller
// decides what its results mean for the run. Where the device runs ahead of the
// host, the micro-steps of a step are given to it before the results of the
// step before are read; the update never is.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_STEPRUNNER_H
#define WEFT_RUNTIME_RUN_STEPRUNNER_H

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Data/Windows.h"
#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/MicroPrograms.h"
#include "weft/Runtime/Run/RunInputs.h"

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
  bool scaleExhausted = false; // the loss scale cannot answer to that

  int runsInFlight = 0;   // whose results nobody has read
  bool isDropped = false; // nobody will

  /// Why it is not whole, and what that says of the state.
  std::optional<Error> failure;
  bool dataLost = false; // rows could not be read: nothing was updated
  /// The same of one of several ranks, which goes through the step with the
  /// others and sees to it that nothing is updated.
  std::optional<Error> lostRows;

  std::chrono::steady_clock::time_point started;
  CollectiveCount costBefore; // of the rank, with a mesh
  int64_t deviceBytes = 0;    // that the device sends in programs of the step
};

class StepRunner {
  using Clock = std::chrono::steady_clock;

public:
  /// `hunt` is null without --debug-nan; it outlives the runner.
  StepRunner(WeftContext &context, const RunInputs &inputs, const DataSet &data,
             const TrainState &state, NanHunt *hunt);

  /// Whether micro-steps may begin before the results of the step before are
  /// read: not on a device that waits, and not while commands are watched.
  bool runsInAdvance() const;
  /// Step `step`, whose rows begin at `firstRow`: micro-steps. They change
  /// gradients alone.
  std::shared_ptr<StepInFlight> begin(int64_t step, int64_t firstRow);
  /// Its update, once the step before is known to be good.
  void update(const std::shared_ptr<StepInFlight> &step);
  /// Waits for its results: it is whole, or says why not.
  void finish(StepInFlight &step);
  /// Waits for the last of what was given to the device for it, and forgets it.
  void drop(StepInFlight &step);
  /// Makes the gradients of a step that was not applied once more: those of a
  /// later one have taken their place.
  Status repeatGradients(const StepInFlight &step);

  const WeftProgram &applyProgram() const { return apply; }
  /// Does ahead what only the first step has to do.
  void warmUp();
  /// Takes back what the last update has made of the loss scale.
  Status restoreScaler();

private:
  using StepPtr = std::shared_ptr<StepInFlight>;
  /// A run that was given to the device.
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
  RowOrder order;
  /// Bytes of the loss scale before the last update, of several ranks.
  std::vector<std::string> scalerBefore;
  const int64_t seed, firstStep;
  NanHunt *hunt;
  std::deque<Run> inFlight;                                  // the oldest first
  Clock::time_point lastFinished = Clock::time_point::min(); // of a step
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_STEPRUNNER_H
