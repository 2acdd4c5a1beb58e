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
    return "where what is not finite in " + step + " is looked for";
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
                        : " cannot go on"));
}

Vote weft::voteAt(Place place, const Status &status, std::string text) {
  Vote vote;
  vote.place = place;
  vote.failure = status ? ExitCode::Ok : status.error().code();
  vote.text = std::move(text);
  return vote;
}
