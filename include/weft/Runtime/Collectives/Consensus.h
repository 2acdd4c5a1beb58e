//===- Consensus.h - Votes and decisions of all ranks -----------*- C++ -*-===//
//
// A rank never stops, saves or fails alone: it casts a vote and follows the
// decision on the votes of all ranks. All ranks vote at the same places of a
// run, in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_CONSENSUS_H
#define WEFT_RUNTIME_COLLECTIVES_CONSENSUS_H

#include "weft/Base/Results.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// A place of a run where ranks vote. Ranks that vote at different places have
/// diverged, which is an internal error on all ranks.
struct Place {
  enum Kind {
    Step,      // the programs of a step have run
    Look,      // the evaluation and the sample after it
    SaveBegun, // a save has a directory
    SaveWritten,
    SaveCommitted,
    Replicas,  // replicas are compared
    NanCauses, // search for the first value that is not finite
    Part       // a part before the first step or after the last
  };
  Kind kind = Step;
  int64_t step = 0;

  bool operator==(const Place &other) const {
    return kind == other.kind && step == other.step;
  }
};

/// "after step 3", "after step 3 is written".
std::string placeText(const Place &place);

/// The vote of one rank.
struct Vote {
  Place place;
  /// The step that produced the state of this rank.
  int64_t doneStep = 0;
  bool stop = false; // a signal requested it
  bool save = false; // an interval is over, or this result is the best so far
  bool last = false; // no step follows this one
  /// Why this rank cannot continue.
  ExitCode failure = ExitCode::Ok;
  /// On failure: the state of the last complete step is worth a save.
  bool mayStillSave = false;
  /// If several ranks fail: this one knows the reason, or is the reason.
  bool isReason = false;
  /// Information for the other ranks, such as the files it has written.
  std::string text;
};

/// The common action of all ranks, and the text of each vote.
struct Decision {
  bool stop = false, save = false, last = false;
  /// The worst failure, and the first rank that has it.
  ExitCode failure = ExitCode::Ok;
  int rank = 0;
  /// On failure: all ranks hold the state of the same step, and save it before
  /// they leave.
  bool mayStillSave = false;
  std::string reason;             // of a failure that no rank has an error for
  std::vector<std::string> texts; // by rank

  bool failed() const { return failure != ExitCode::Ok; }
};

/// The severity of a failure. Exit codes that tell most about the cause come
/// last: 0; then 7, since a rank that times out is not the failed one; user
/// errors, 2 and 6; files, 3 and 5; the machine, 4, 8 and 9; weft itself, 70
/// and every other code.
int severityOf(ExitCode code);

/// The decision on the votes of all ranks, by rank. It depends on the votes
/// alone. Stop, save and last hold for all ranks if one rank sets them. The
/// worst failure wins. Among equal ones the rank that is the reason wins, else
/// the first rank.
Decision decide(const std::vector<Vote> &votes);

/// The connection of one rank to all ranks of its run, itself included.
class Consensus {
public:
  virtual ~Consensus();
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Waits for the votes of all ranks and decides. A rank that has left without
  /// a vote counts as failed with exit 7, and no rank waits for it. A rank
  /// leaves by destroying this object, on every path.
  virtual Decision reach(const Vote &vote) = 0;
  /// For work that may exceed the timeout of the other ranks: sends heartbeats
  /// while the result lives. Null if no rank waits.
  virtual std::unique_ptr<HeartbeatSender> sendHeartbeats() { return nullptr; }
};

/// The only rank of its run.
class OneRank final : public Consensus {
public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  Decision reach(const Vote &vote) override { return decide({vote}); }
};

/// The error that a rank reports for `decision`, a failure: `own` if this rank
/// is the one that failed.
Error errorOf(const Decision &decision, const Consensus &consensus, Status own);

/// The vote of a rank that only reports whether it failed.
Vote voteAt(Place place, const Status &status, std::string text = "");

/// Each rank sends its vote to all others, and all reach the same decision. A
/// rank that has left or timed out counts as a vote for exit 7, and nothing is
/// saved. A worse failure of this rank itself takes precedence. A rank whose
/// wait for another one has timed out, anywhere, leaves without a vote.
class VotingConsensus final : public Consensus {
public:
  explicit VotingConsensus(std::unique_ptr<Transport> transport)
      : number(transport->rank()), count(transport->ranks()),
        timeout(transport->timeout()), heartbeats(transport->heartbeats()),
        transport(std::move(transport)) {}

  int rank() const override { return number; }
  int ranks() const override { return count; }
  Decision reach(const Vote &vote) override;
  std::unique_ptr<HeartbeatSender> sendHeartbeats() override;
  /// See the functions of Transport.
  void notify(FailureNotice notice) {
    if (transport)
      transport->notify(notice);
  }
  bool hasNotified(int rank, FailureNotice notice) {
    return transport && transport->hasNotified(rank, notice);
  }
  /// Whether this rank was the reason of the last failure that was decided. A
  /// save may have followed it.
  bool isReason() const { return reason == rank(); }
  /// The ranks that a failed vote has waited for.
  const Absence &absence() const {
    return transport ? transport->absence() : gone;
  }

private:
  Decision leave(const Vote &own);
  Expected<std::vector<Vote>> votesOf(const Vote &own);
  Decision decideAlone(const Vote &own, const Error &error) const;

  const int number, count;
  const double timeout;
  const std::shared_ptr<Heartbeats> heartbeats;
  /// Buffers. Messages of a failed vote may still read and write them.
  struct {
    std::string block, blocks, rest, rests;
  } bytes;
  std::unique_ptr<Transport> transport; // until the rank leaves
  Absence gone;                         // when it left
  int reason = -1; // the rank of a failure that was decided last
};

/// A vote as bytes, the same on every machine.
std::string voteBytes(const Vote &vote);
/// Parses all of `bytes` as a vote.
Expected<Vote> parseVote(std::string_view bytes);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_CONSENSUS_H
