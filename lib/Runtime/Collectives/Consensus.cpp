//===- Consensus.cpp - Votes and decisions of all ranks -------------------===//

#include "weft/Runtime/Collectives/Consensus.h"

#include <algorithm>

using namespace weft;

Consensus::~Consensus() = default;

std::string weft::placeText(const Place &place) {
  const std::string step = "step " + std::to_string(place.step);
  switch (place.kind) {
  case Place::Step:
    return "after " + step;
  case Place::Look:
    return "after the evaluation of " + step;
  case Place::SaveBegun:
    return "before " + step + " is written";
  case Place::SaveWritten:
    return "after " + step + " is written";
  case Place::SaveCommitted:
    return "after " + step + " is saved";
  case Place::Replicas:
    return "where ranks are compared after " + step;
  case Place::NanCauses:
    return "in the search for non-finite values of " + step + " is looked for";
  case Place::Part:
    return "before the first step, part " + std::to_string(place.step);
  }
  return step;
}

int weft::severityOf(ExitCode code) {
  static const ExitCode order[] = {
      ExitCode::Ok,         ExitCode::Communication, ExitCode::Usage,
      ExitCode::Numerics,   ExitCode::Input,         ExitCode::Checkpoint,
      ExitCode::DoesNotFit, ExitCode::Storage,       ExitCode::Device};
  return int(std::find(std::begin(order), std::end(order), code) -
             std::begin(order));
}

/// Ranks at different places would wait forever for each other's next
/// collective, or mistake one for another. Ranks that have left are ignored.
static void failWhereParted(const std::vector<Vote> &votes,
                            Decision &decision) {
  size_t first = votes.size();
  for (size_t rank = 0; rank < votes.size(); ++rank) {
    if (votes[rank].failure == ExitCode::Communication)
      continue;
    first = std::min(first, rank);
    if (votes[rank].place == votes[first].place)
      continue;
    decision.failure = ExitCode::Internal;
    decision.rank = int(rank);
    decision.mayStillSave = false;
    decision.reason = "expects all ranks in one place, but got rank " +
                      std::to_string(first) + " " +
                      placeText(votes[first].place) + " and rank " +
                      std::to_string(rank) + " " + placeText(votes[rank].place);
    return;
  }
}

Decision weft::decide(const std::vector<Vote> &votes) {
  Decision all;
  bool isOneState = true;
  all.mayStillSave = true;
  for (size_t rank = 0; rank < votes.size(); ++rank) {
    const Vote &vote = votes[rank];
    all.stop |= vote.stop;
    all.save |= vote.save;
    all.last |= vote.last;
    all.texts.push_back(vote.text);
    isOneState &= vote.doneStep == votes.front().doneStep;
    if (vote.failure == ExitCode::Ok)
      continue;
    all.mayStillSave &= vote.mayStillSave;
    const int more = severityOf(vote.failure) - severityOf(all.failure);
    if (more > 0 ||
        (more == 0 && vote.isReason && !votes[size_t(all.rank)].isReason)) {
      all.failure = vote.failure;
      all.rank = int(rank);
    }
  }
  all.mayStillSave &= all.failed() && isOneState;
  failWhereParted(votes, all);
  return all;
}

Error weft::errorOf(const Decision &decision, const Consensus &consensus,
                    Status own) {
  if (!decision.reason.empty())
    return Error(decision.failure, decision.reason);
  // A rank that timed out knows the missing rank. The other ranks blame the
  // first rank that timed out.
  if (!own && (consensus.rank() == decision.rank ||
               decision.failure == ExitCode::Communication))
    return own.takeError();
  return Error(decision.failure,
               "rank " + std::to_string(decision.rank) +
                   (decision.failure == ExitCode::Communication
                        ? " has left the run"
                        : " cannot continue"));
}

Vote weft::voteAt(Place place, const Status &status, std::string text) {
  Vote vote;
  vote.place = place;
  vote.failure = status ? ExitCode::Ok : status.error().code();
  vote.text = std::move(text);
  return vote;
}

//===- Votes of several ranks ---------------------------------------------===//

// A vote is a block of fixed size, which nearly every vote fits into. If the
// text of one rank does not fit, all ranks take part in a second exchange with
// the remainders.

static constexpr size_t kHeaderBytes = 19, kLengthBytes = 4, kBlockBytes = 256;
static constexpr size_t kInlineBytes = kBlockBytes - kLengthBytes;
/// Far above the text of a save on one rank. A longer vote is a failure of its
/// rank.
static constexpr size_t kMostBytes = size_t(1) << 26;

//===----------------------------------------------------------------------===//
// Bytes of a vote
//===----------------------------------------------------------------------===//

static void appendNumber(std::string &bytes, uint64_t number, int size) {
  for (int i = 0; i < size; ++i)
    bytes += char(number >> (8 * i) & 0xff);
}

static uint64_t numberAt(const char *bytes, int size) {
  uint64_t number = 0;
  for (int i = 0; i < size; ++i)
    number |= uint64_t(uint8_t(bytes[i])) << (8 * i);
  return number;
}

std::string weft::voteBytes(const Vote &vote) {
  std::string bytes;
  bytes += char(vote.place.kind);
  bytes += char(vote.stop | vote.save << 1 | vote.last << 2 |
                vote.mayStillSave << 3 | vote.isReason << 4);
  bytes += char(uint8_t(vote.failure));
  appendNumber(bytes, uint64_t(vote.place.step), 8);
  appendNumber(bytes, uint64_t(vote.doneStep), 8);
  return bytes + vote.text;
}

static bool isExitCode(int code) {
  static constexpr ExitCode all[] = {ExitCode::Ok,
                                     ExitCode::Usage,
                                     ExitCode::Input,
                                     ExitCode::DoesNotFit,
                                     ExitCode::Checkpoint,
                                     ExitCode::Numerics,
                                     ExitCode::Communication,
                                     ExitCode::Storage,
                                     ExitCode::Device,
                                     ExitCode::Internal,
                                     ExitCode::StoppedAndSaved,
                                     ExitCode::Interrupted,
                                     ExitCode::Terminated};
  return std::any_of(std::begin(all), std::end(all),
                     [&](ExitCode known) { return int(known) == code; });
}

static Error badVote(const char *what, size_t got) {
  return communicationError("expects ", what, " in a vote, but got ", got);
}

Expected<Vote> weft::parseVote(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes)
    return badVote("19 or more bytes", bytes.size());
  const size_t kind = uint8_t(bytes[0]), flags = uint8_t(bytes[1]),
               code = uint8_t(bytes[2]);
  if (kind > size_t(Place::Part))
    return badVote("a kind of place", kind);
  if (flags > 31)
    return badVote("five flags", flags);
  if (!isExitCode(int(code)))
    return badVote("an exit code", code);
  Vote vote;
  vote.place.kind = Place::Kind(kind);
  vote.place.step = int64_t(numberAt(bytes.data() + 3, 8));
  vote.doneStep = int64_t(numberAt(bytes.data() + 11, 8));
  vote.stop = flags & 1;
  vote.save = flags & 2;
  vote.last = flags & 4;
  vote.mayStillSave = flags & 8;
  vote.isReason = flags & 16;
  vote.failure = ExitCode(code);
  vote.text = bytes.substr(kHeaderBytes);
  return vote;
}

//===----------------------------------------------------------------------===//
// The consensus
//===----------------------------------------------------------------------===//

/// `all` = the concatenated `own` of each rank; all have the same size.
static Status exchangeEqual(Transport &transport, const std::string &own,
                            std::string &all, const std::string &title) {
  all.resize(own.size() * size_t(transport.ranks()));
  std::vector<const char *> send(size_t(transport.ranks()), own.data());
  std::vector<char *> receive;
  for (int rank = 0; rank < transport.ranks(); ++rank)
    receive.push_back(all.data() + size_t(rank) * own.size());
  return transport.exchange(send.data(), receive.data(), int64_t(own.size()),
                            title);
}

Expected<std::vector<Vote>> VotingConsensus::votesOf(const Vote &own) {
  const std::string vote = voteBytes(own);
  const std::string title = "the vote " + placeText(own.place);
  auto &[block, blocks, mine, rests] = bytes;
  block.clear();
  appendNumber(block, vote.size(), kLengthBytes);
  block += vote.substr(0, kInlineBytes);
  block.resize(kBlockBytes, '\0');
  if (Status s = exchangeEqual(*transport, block, blocks, title); !s)
    return s.takeError();

  size_t longest = 0;
  std::vector<size_t> lengths;
  for (int rank = 0; rank < ranks(); ++rank) {
    lengths.push_back(numberAt(&blocks[size_t(rank) * kBlockBytes], 4));
    longest = std::max(longest, lengths.back());
  }
  if (longest > kMostBytes)
    return badVote("at most 67108864 bytes", longest);
  const size_t rest = longest > kInlineBytes ? longest - kInlineBytes : 0;
  if (rest > 0) {
    mine = vote.substr(std::min(vote.size(), kInlineBytes));
    mine.resize(rest, '\0');
    if (Status s = exchangeEqual(*transport, mine, rests, title); !s)
      return s.takeError();
  }
  std::vector<Vote> votes;
  for (size_t rank = 0; rank < lengths.size(); ++rank) {
    std::string one = blocks.substr(rank * kBlockBytes + kLengthBytes,
                                    std::min(lengths[rank], kInlineBytes));
    if (lengths[rank] > kInlineBytes)
      one += rests.substr(rank * rest, lengths[rank] - kInlineBytes);
    auto vote = parseVote(one);
    if (!vote)
      return vote.takeError();
    votes.push_back(std::move(*vote));
  }
  return votes;
}

std::unique_ptr<HeartbeatSender> VotingConsensus::sendHeartbeats() {
  return count > 1 && heartbeats
             ? std::make_unique<HeartbeatSender>(heartbeats, number, timeout)
             : nullptr;
}

/// A rank that timed out in an exchange would time out again, so it leaves.
Decision VotingConsensus::leave(const Vote &own) {
  gone = absence();
  transport.reset();
  std::vector<Vote> votes(size_t(count), voteAt(own.place, Status()));
  votes[size_t(number)] = own;
  reason = number;
  return decide(votes);
}

Decision VotingConsensus::reach(const Vote &vote) {
  if (vote.failure == ExitCode::Communication)
    return leave(vote);
  if (!transport) {
    Vote left = vote;
    left.failure = ExitCode::Communication;
    return leave(left);
  }
  if (vote.text.size() > kMostBytes - kHeaderBytes) {
    Vote tooLong = voteAt(vote.place, Status());
    tooLong.failure = ExitCode::Internal;
    return reach(tooLong);
  }
  auto votes = votesOf(vote);
  Decision all = votes ? decide(*votes) : decideAlone(vote, votes.error());
  if (all.failed())
    reason = all.rank;
  return all;
}

Decision VotingConsensus::decideAlone(const Vote &own,
                                      const Error &error) const {
  Vote silent = voteAt(own.place, Status());
  silent.doneStep = own.doneStep;
  std::vector<Vote> votes(size_t(ranks()), silent);
  votes[size_t(rank())] = own;
  for (int gone : transport->missing())
    votes[size_t(gone)].failure = ExitCode::Communication;
  if (transport->missing().empty()) // no rank can be heard
    for (int other = 0; other < ranks(); ++other)
      if (other != rank())
        votes[size_t(other)].failure = ExitCode::Communication;
  Decision decision = decide(votes);
  decision.mayStillSave = false;
  if (decision.failure == ExitCode::Communication)
    decision.reason = error.message();
  return decision;
}
