//===- Trainer.h - The training loop ----------------------------*- C++ -*-===//
//
// The loop of a rank: step, outcome, vote, act. After a step each rank votes
// with its outcome. The votes of all ranks decide whether the run continues,
// saves, stops or fails.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_TRAINER_H
#define WEFT_RUNTIME_RUN_TRAINER_H

#include "weft/Base/Results.h"
#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/Signals.h"
#include "weft/Runtime/Run/StepRunner.h"

namespace weft {

/// The parts of a run that the loop of a rank uses.
struct TrainerParts {
  WeftContext &context;
  const DataSet &data;
  Consensus &consensus;
  Journal &journal;
  const StopRequest &signals;
  CheckpointWriter *writer = nullptr; // null: nothing is saved
};

class Trainer {
public:
  /// `hunt` is null without --debug-nan.
  Trainer(const TrainerParts &parts, const RunInputs &inputs, TrainState state,
          std::unique_ptr<NanHunt> hunt = nullptr);

  /// Trains from `state` to the last step: Ok, or StoppedAndSaved after a
  /// signal.
  Expected<ExitCode> run();

  const TrainState &state() const { return now; }
  /// Whether the tokenizer of a sample was lost: the same on all ranks.
  bool hasLostText() const { return lostText; }

private:
  Expected<ExitCode> loop();
  Status step();
  void joinOthers(StepInFlight &step);
  /// The outcome of writing about the state, which is whole without that.
  Status written(Status outcome) {
    if (!outcome)
      resumesWhen = "the file can be written";
    return outcome;
  }
  Status conclude(StepInFlight &step);
  Status judge(StepInFlight &step);
  Status undo(StepInFlight &step);
  bool mayOverlapNextStep(const StepInFlight &step) const;
  void dropNext();
  bool isEvalDue(int64_t step) const;
  bool isLookDue(int64_t step) const;
  bool isSampleDue(int64_t step) const;
  Status look();
  Decision reach(Place::Kind kind, int64_t step, const Status &outcome);
  Expected<std::optional<ExitCode>> act(const Decision &all, Status outcome);
  Error fail(const Decision &all, Status outcome);

  // SkippedSteps.cpp: steps whose gradients are not finite.
  bool hasScaler() const;
  std::vector<std::string> skippedFor(int64_t steps) const;
  void warnOfSkips(int64_t step);
  Status nonFinite(const StepInFlight &step);
  Status countSkip(StepInFlight &step);
  Status nonFiniteLoss(const StepReport &report);
  Status skipWithoutTargets(StepReport &report);
  Status checkApplied() const;
  Status scaleExhausted(const StepReport &report) const;
  void reportFirstBad(int64_t step, bool good);
  std::string adviceAgainstBad() const;
  Status checkInverse(const StepInFlight &step) const;

  Expected<bool> evaluate();
  Status sample();
  bool isBest();
  Status save();

  WeftContext &context;
  const Metadata &metadata;
  const RunOptions &options;
  const DataSet &data;
  const Faults &faults;
  Consensus &consensus;
  Journal &journal;
  const StopRequest &signals;
  CheckpointWriter *writer;
  TrainState now;
  std::optional<double> best; // validation loss, with --keep-best
  int64_t lastStep;           // of this run
  int64_t firstStep;
  int64_t savedStep; // of the last save, or the start
  /// The condition of a resume after a failure that left the state whole; null
  /// after any other.
  const char *resumesWhen = nullptr;
  static constexpr char kDataIsComplete[] = "the data is complete";
  bool lostText = false;         // the tokenizer of samples
  std::unique_ptr<NanHunt> hunt; // only with --debug-nan
  std::string nanCause;          // of the last step
  /// Whether this rank holds a gradient element that is not finite.
  bool foundBad = false;
  StepRunner runner;
  /// The next step, if it has begun before the results of this one are read.
  std::shared_ptr<StepInFlight> next;
  const LossScaler scaler;
  int64_t skips = 0, skipsInARow = 0;
  std::map<std::string, int64_t> groupSkipsInARow; // of several instances
  int64_t applied = 0;        // steps of this run that updated something
  int64_t withoutTargets = 0; // steps of this run
  bool warnedOfSkips = false;
  bool warnedOfNoTargets = false;
};

/// Checks that a run writes every input of the programs with its size, and that
/// no input is missing that an optimizer of the metadata reads: else exit 70.
Status checkPorts(const WeftExecutable &executable, const Metadata &metadata);

/// Checks that the programs and outputs of a training run exist: else exit 70.
Status checkTrainable(const WeftExecutable &executable, const DataSet &data);
/// The same for a run that only evaluates.
Status checkEvaluable(const WeftExecutable &executable);

/// Checks that the given hyper-parameter flags reach the update: exit 2 if the
/// program has no such input.
Status checkHyperParameters(const WeftExecutable &executable,
                            const Metadata &metadata,
                            const RunOptions &options);

/// Checks that training from `state` to the last step reads no more rows than
/// can be counted: else exit 2.
Status checkRowCount(const TrainState &state, const RunOptions &options,
                     const Metadata &metadata, int ranks);

/// Merges the reports of a step of all ranks into `report`, whose `ranks` has
/// the collectives' costs of this rank. Losses and the times of the parts of a
/// step become means; step time, sent bytes and memory become maxima. All ranks
/// call it.
Status joinReports(WeftContext &context, StepReport &report);

//===- Causes of all ranks ------------------------------------------------===//

/// The cause of this rank as a text for the other ranks; "" for none.
std::string formatNanCause(const NanCause &cause);

/// A sentence about the first cause of all ranks, with its rank if there are
/// several; "" for none. `texts` has the causes of the ranks, by rank.
std::string describeFirstCause(const std::vector<std::string> &texts);

/// The same by a vote of all ranks after a step with values that are not
/// finite. If a rank has left, the cause of this rank.
std::string findFirstCause(Consensus &consensus, int64_t step,
                           const NanCause &own);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_TRAINER_H
