//===- RankPart.h - The part of one rank in a run ---------------*- C++ -*-===//
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
#include "weft/Runtime/Reports/Metrics.h"
#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Run/RunFlags.h"
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
  /// Ranks that did not reach the collective that failed.
  Absence absence() const;
  /// Notifies the ranks that wait for this one that it has left the run.
  void leave();
  /// Waits for the device, so that a late failure there is an error, too.
  Status finish();
  /// Releases the device.
  void close() { opened.reset(); }
  /// Measures the algorithms of the products; returns their number.
  Expected<int64_t> tune();

  /// Call it before the state is loaded and working copies are made.
  Status startHunt();
  /// Reads the chosen checkpoint; a dry run verifies it and keeps nothing.
  Status loadCheckpoint(ResumePoint &point);
  Status loadWeights(InitialWeights &weights, int64_t seed);
  /// Computes the working copies of loaded parameters. Adapts a `resumed` loss
  /// scale to the program's settings; a change of it is a warning.
  Status completeState(bool resumed);

  /// Trains to the last step; `policy` is null if nothing is saved.
  Expected<ExitCode> train(const TrainState &state, const DataSet &data,
                           const SavePolicy *policy, const RunRecord &record,
                           Journal &journal, const StopRequest &signals);
  /// Nothing if another rank has the error.
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
