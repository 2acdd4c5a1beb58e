//===- RankPart.h - The part of a run that each rank has --------*- C++ -*-===//
//
// A rank has a device with the state of the program, and the loop that trains
// it. Flags, signals, progress, metrics, data files and the lock of the save
// directory belong to the process (Run.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_RANKPART_H
#define WEFT_RUNTIME_RUN_RANKPART_H

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Checkpoints/InitialWeights.h"
#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Run/Journal.h"
#include "weft/Runtime/Run/RunInputs.h"
#include "weft/Runtime/Run/Signals.h"

#include <memory>

namespace weft {

class RankPart {
public:
  /// `steps` and `streams` connect the collectives of programs, `consensus` the
  /// votes.
  RankPart(const RunInputs &inputs, Consensus &consensus, RankConnections steps,
           StreamConnections streams = {})
      : inputs(inputs), consensus(consensus), steps(std::move(steps)),
        streams(std::move(streams)) {}

  /// A device with memory for the program: exit 4 or 9 if there is none.
  Status open();
  const WeftContext &context() const { return *opened; }
  /// Whom a collective that failed has waited for in vain.
  Absence absence() const;
  /// Ranks that wait for this one learn that it will not come.
  void leave();
  /// Waits for the device, so that what goes wrong there last is an error, too.
  Status finish();
  /// Gives the device back.
  void close() { opened.reset(); }
  /// Measures the algorithms of the products, and does nothing else: how many.
  Expected<int64_t> tune();

  /// Before copies of weights are made, while the state is loaded.
  Status startHunt();
  /// Reads the chosen checkpoint; a dry run verifies it and keeps nothing.
  Status loadCheckpoint(ResumePoint &point);
  Status loadWeights(InitialWeights &weights, int64_t seed);
  /// Makes what follows from the state that was loaded, and of a `resumed`
  /// loss scale what the program says; what that changed is a warning.
  Status completeState(bool resumed);

  /// Trains to the last step; `policy` is null if nothing is saved.
  Expected<ExitCode> train(const TrainState &state, const DataSet &data,
                           const SavePolicy *policy, const RunRecord &record,
                           Journal &journal, const StopRequest &signals);
  /// Nothing where another rank has the error.
  Expected<std::optional<EvalReport>> evaluate(const DataSet &data);
  /// The continuation of the prompt.
  Expected<std::string> sample(int64_t seed);

private:
  void breakCollectives();

  const RunInputs &inputs;
  Consensus &consensus;
  RankConnections steps; // until the device has them
  StreamConnections streams;
  std::unique_ptr<WeftContext> opened;
  std::unique_ptr<NanHunt> hunt; // only with --debug-nan
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RANKPART_H
