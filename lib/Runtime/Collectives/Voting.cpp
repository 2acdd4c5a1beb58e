//===- Voting.cpp - Votes of ranks over a transport -----------------------===//

#include "weft/Runtime/Collectives/Voting.h"

#include <algorithm>
#include <cstring>

using namespace weft;

namespace {

/// A vote without its text: plain bytes that are the same on every rank.
struct PackedVote {
  int64_t kind, step, doneStep;
  int64_t stop, save, last, failure, mayStillSave;
  int64_t textBytes;
};

} // namespace

static PackedVote pack(const Vote &vote) {
  return {vote.place.kind,
          vote.place.step,
          vote.doneStep,
          vote.stop,
          vote.save,
          vote.last,
          int64_t(vote.failure),
          vote.mayStillSave,
          int64_t(vote.text.size())};
}

static Vote unpack(const PackedVote &packed, std::string text) {
  Vote vote;
  vote.place = {Place::Kind(packed.kind), packed.step};
  vote.doneStep = packed.doneStep;
  vote.stop = packed.stop;
  vote.save = packed.save;
  vote.last = packed.last;
  vote.failure = ExitCode(packed.failure);
  vote.mayStillSave = packed.mayStillSave;
  vote.text = std::move(text);
  return vote;
}

/// The texts of all votes, by rank: as many bytes of each as the longest has.
static Expected<std::vector<std::string>>
gatherTexts(Transport &transport, const Vote &own,
            const std::vector<PackedVote> &votes, const std::string &title) {
  int64_t longest = 0;
  for (const PackedVote &vote : votes)
    longest = std::max(longest, vote.textBytes);
  std::string sent = own.text;
  sent.resize(size_t(longest));
  std::vector<std::string> texts(votes.size(), std::string(size_t(longest), 0));
  std::vector<const char *> send(votes.size(), sent.data());
  std::vector<char *> receive;
  for (std::string &text : texts)
    receive.push_back(text.data());
  if (longest > 0)
    if (Status s =
            transport.exchange(send.data(), receive.data(), longest, title);
        !s)
      return s.takeError();
  for (size_t rank = 0; rank < texts.size(); ++rank)
    texts[rank].resize(size_t(votes[rank].textBytes));
  return texts;
}

static Expected<std::vector<Vote>> gatherVotes(Transport &transport,
                                               const Vote &own) {
  const std::string title = "the vote " + placeText(own.place);
  auto packed = transport.gather(pack(own), title);
  if (!packed)
    return packed.takeError();
  auto texts = gatherTexts(transport, own, *packed, title);
  if (!texts)
    return texts.takeError();
  std::vector<Vote> votes;
  for (size_t rank = 0; rank < packed->size(); ++rank)
    votes.push_back(unpack((*packed)[rank], std::move((*texts)[rank])));
  return votes;
}

/// Whoever did not come is the reason, and what this rank knows counts as well.
static Decision decideAlone(const Transport &transport, const Vote &own,
                            const Error &error) {
  std::vector<Vote> votes(size_t(transport.ranks()), own);
  for (int rank = 0; rank < transport.ranks(); ++rank)
    if (rank != transport.rank())
      votes[size_t(rank)].failure = ExitCode::Communication;
  Decision decision = decide(votes);
  decision.mayStillSave = false;
  if (decision.failure == ExitCode::Communication)
    decision.reason = error.message();
  return decision;
}

Decision VotingAgreement::agree(const Vote &vote) {
  auto votes = gatherVotes(*transport, vote);
  return votes ? decide(*votes) : decideAlone(*transport, vote, votes.error());
}
