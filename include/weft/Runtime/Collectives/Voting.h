//===- Voting.h - Votes of ranks over a transport ---------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVES_VOTING_H
#define WEFT_RUNTIME_COLLECTIVES_VOTING_H

#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Collectives/Transport.h"

namespace weft {

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

#endif // WEFT_RUNTIME_COLLECTIVES_VOTING_H
