//===- RunRanks.h - The rank parts that a process runs ----------*- C++ -*-===//
//
// A single rank runs on the main thread of the process. Several ranks have one
// thread each, with the thread team of its device; all work of a rank runs on
// its thread. If each rank is a process, this process has one rank, and the
// processes vote on the outcome of each part of a run.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_RUNRANKS_H
#define WEFT_RUNTIME_RUN_RUNRANKS_H

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Checkpoints/WeightSource.h"
#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Collectives/RankGroups.h"
#include "weft/Runtime/Data/DataSource.h"
#include "weft/Runtime/Reports/NanHunt.h"
#include "weft/Runtime/Reports/Progress.h"
#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Run/Predict.h"
#include "weft/Runtime/Run/RunFlags.h"
#include "weft/Runtime/Run/Signals.h"

#include <functional>
#include <memory>

namespace weft {

/// A rank has a device with the state of the program, and the loop that trains
/// it. Flags, signals, progress, metrics, data files and the lock of the save
/// directory belong to the process (Run.h).
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
  /// See the functions of Device.
  std::string optionalLibrary() const;
  std::string libraryRefusal() const;
  void forgoLibrary(const std::string &reason);
  std::string describeTuning() const;
  Expected<std::string> findAlgorithms();
  Status useAlgorithms(const std::string &text);
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
  Status loadWeights(WeightSource &weights, int64_t seed);
  /// Computes the working copies of loaded parameters. Adapts a `resumed` loss
  /// scale to the program's settings; a change of it is a warning.
  Status completeState(bool resumed);

  /// Trains to the last step; `policy` is null if nothing is saved.
  Expected<ExitCode> train(const TrainState &state, const DataSet &data,
                           const SavePolicy *policy, const RunRecord &record,
                           Journal &journal, const StopRequest &signals);
  /// Nothing if another rank has the error.
  Expected<std::optional<EvalReport>> evaluate(const DataSet &data);
  /// Whether this rank, or with several ranks each one, has its results; rank 0
  /// hands the rows of all to `sink`. False if another rank has the error.
  Expected<bool> predict(const DataSet &data, const RowSink &sink);
  /// The continuation of the prompt.
  Expected<SampledText> sample(int64_t seed, const TextReader &reader);
  /// Whether a training has lost the tokenizer of its samples.
  bool hasLostText() const { return lostText; }
  /// The continuation of a prompt of ids, which `reader` gets one by one.
  Status sampleIds(int64_t seed, const IdReader &reader);

private:
  void breakCollectives();

  const RunInputs &inputs;
  Consensus &consensus;
  RankConnections steps; // until the device has them
  StreamConnections streams;
  std::unique_ptr<WeftContext> opened;
  std::unique_ptr<NanHunt> hunt; // only with --debug-nan
  bool lostText = false;
};

class Ranks {
public:
  /// A task that runs on a rank.
  using Work = std::function<Status(RankPart &)>;

  explicit Ranks(const RunInputs &inputs);
  ~Ranks();
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  /// Creates the ranks of this process, and their threads if there are several.
  Status start();

  /// The first rank of this process. If the process has all ranks, this is rank
  /// 0, which reports for all.
  const RankPart &first() const;
  /// Runs `work` on the ranks of this process one after another, without
  /// collectives. Stops at the first failure.
  Status inTurn(const Work &work);
  /// Runs `work` on all ranks at once. Of several errors it returns the most
  /// severe one (severityOf). Among equals the rank that the vote named as the
  /// reason wins, else the first rank.
  Status together(const Work &work);

  /// For long work of this process without the others: heartbeats are sent
  /// while the result lives. Null if this process has all ranks.
  std::unique_ptr<HeartbeatSender> sendHeartbeats();

  /// Votes with all processes after a part of the run. Returns the texts of all
  /// processes by rank, or the error that all end with; one process reports it.
  /// `own` is the outcome of this process. If this process has all ranks, the
  /// result is `text` alone. An error that was settled before is returned
  /// unchanged.
  Expected<std::vector<std::string>> reach(Status own, std::string text);
  /// The same without a text.
  Status settle(Status own);

private:
  struct Member;
  Status startProcess();
  Status run(Member &member, const Work &work);
  Error alone(Error error);

  const RunInputs &inputs;
  std::unique_ptr<VotingConsensus> processes; // if there are several
  int64_t parts = 0;                          // that the processes have done
  std::optional<bool> reportsFailure;         // after an election
  std::vector<std::unique_ptr<Member>> members;
};

//===- The rank that reports a failure ------------------------------------===//

// Processes that cannot vote any more elect the one that reports why. A rank
// that has found a failure sends FailureNotice::Failed. It sends
// FailureNotice::Reports, and is elected, unless another rank does so first.
//
// Notices take a moment to arrive, so two ranks may send Reports. Both see the
// other's, and the lower rank is elected.

/// One rank calls it once, when its run has failed.
class ReportElection {
public:
  /// `processes` connects all processes of the run. No vote follows.
  explicit ReportElection(VotingConsensus &processes) : processes(processes) {}

  /// Whether this rank reports the failure. `absence` has the ranks that it
  /// waited for; none: the failure is another one. Takes at most 5 s.
  bool wins(const Absence &absence) const;

  /// Gives another rank the time to report: a launcher ends all processes when
  /// one has ended. Takes at most 5.3 s.
  void awaitReport() const;

private:
  bool hears(FailureNotice notice, const std::vector<int> &ranks) const;
  bool hearsReport() const;
  bool hasReported() const;
  bool isReported(const std::vector<int> &left) const;
  bool waitsForSender(const std::vector<int> &missing) const;
  int countContenders(const std::vector<int> &missing) const;
  bool awaitTurn(const std::vector<int> &missing, double seconds) const;
  bool sendReport() const;

  VotingConsensus &processes;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RUNRANKS_H
