//===- StepRunner.h - Runs the programs of training steps -------*- C++ -*-===//
//
// Part of a rank: a step is K micro-steps and one update. What comes of it, and
// whether the run goes on, is not known here.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_STEPRUNNER_H
#define WEFT_RUNTIME_RUN_STEPRUNNER_H

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Data/Windows.h"
#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/RunInputs.h"

#include <chrono>

namespace weft {

/// A step from its first micro-step until its results are read.
struct StepInFlight {
  StepReport report;
  int64_t firstRow = 0; // of all ranks
  int64_t endRow = 0;
  bool foundInf = false;       // of some optimizer instance
  bool scaleExhausted = false; // the loss scale cannot answer to that

  /// Why it is not whole, and what that says of the state.
  std::optional<Error> failure;
  bool dataLost = false;     // rows could not be read: nothing was updated
  bool updateFailed = false; // the update itself reported it

  std::chrono::steady_clock::time_point started;
};

class StepRunner {
public:
  /// `hunt` is null without --debug-nan; it outlives the runner.
  StepRunner(WeftContext &context, const RunInputs &inputs, const DataSet &data,
             const TrainState &state, NanHunt *hunt);

  /// Step `step`, whose rows begin at `firstRow`: micro-steps.
  StepInFlight begin(int64_t step, int64_t firstRow);
  /// Its update, once the step before is known to be good.
  void update(StepInFlight &step);
  /// Reads its results: it is whole, or says why not.
  void finish(StepInFlight &step);

  const WeftProgram &applyProgram() const { return apply; }
  /// Does ahead what only the first step has to do.
  void warmUp();

private:
  Status beginMicroSteps(StepInFlight &step);
  Status microStep(StepInFlight &step, int64_t k);
  Status startUpdate(StepInFlight &step);
  Status readUpdate(StepInFlight &step);
  void readScaler(StepInFlight &step);
  std::vector<int64_t> batchAt(int64_t first) const;

  WeftContext &context;
  const Metadata &metadata;
  const RunOptions &options;
  const Faults &faults;
  const DataSet &data;
  const WeftProgram &micro, &apply;
  std::vector<WeftPort> microPorts;
  RowOrder order;
  const int64_t seed, firstStep;
  NanHunt *hunt;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_STEPRUNNER_H
