//===- Voting.h - Votes of ranks over a transport ---------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVES_VOTING_H
#define WEFT_RUNTIME_COLLECTIVES_VOTING_H

#include "weft/Runtime/Collectives/Agree.h"
#include "weft/Runtime/Collectives/Transport.h"

namespace weft {

/// Each rank sends its vote to all others, and all take the same decision. A
/// rank that has left, or does not come in time, votes for exit 7.
class VotingAgreement final : public Agreement {
public:
  explicit VotingAgreement(std::unique_ptr<Transport> transport)
      : transport(std::move(transport)) {}

  int rank() const override { return transport->rank(); }
  int ranks() const override { return transport->ranks(); }
  Decision agree(const Vote &vote) override;

private:
  std::unique_ptr<Transport> transport;
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_VOTING_H
