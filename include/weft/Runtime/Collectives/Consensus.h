//===- Consensus.h - Votes and decisions of all ranks -----------*- C++ -*-===//
//
// A rank never stops, saves or fails on its own: it says what it knows, and
// does what the decision about the votes of all ranks says. All ranks vote at
// the same places of a run, one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_CONSENSUS_H
#define WEFT_RUNTIME_COLLECTIVES_CONSENSUS_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Collectives/Heartbeats.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// A place of a run where ranks vote. Ranks that meet at two different ones
/// have parted, which is an internal error of all.
struct Place {
  enum Kind {
    Step,      // the programs of a step have run
    Look,      // the evaluation and the sample after it
    SaveBegun, // a save has a directory
    SaveWritten,
    SaveCommitted,
    Replicas,  // what ranks hold alike is compared
    NanCauses, // the first value that is not finite is searched
    Part       // of what comes before the first step and after the last
  };
  Kind kind = Step;
  int64_t step = 0;

  bool operator==(const Place &other) const {
    return kind == other.kind && step == other.step;
  }
};

/// "after step 3", "while step 3 is written": where that is.
std::string placeText(const Place &place);

/// What one rank says.
struct Vote {
  Place place;
  /// The step that the state of this rank is that of.
  int64_t doneStep = 0;
  bool stop = false; // a signal asked for it
  bool save = false; // an interval is over, or nothing was better so far
  bool last = false; // no step comes after this one
  /// Why this rank cannot go on.
  ExitCode failure = ExitCode::Ok;
  /// Of a failure: the state of the last whole step is worth a save.
  bool mayStillSave = false;
  /// Of a failure of several ranks: this one knows the reason, or is it.
  bool isReason = false;
  /// What the other ranks are to know, such as what was written where.
  std::string text;
};

/// What all ranks do, and the text of each.
struct Decision {
  bool stop = false, save = false, last = false;
  /// The worst failure, and the first rank that has it.
  ExitCode failure = ExitCode::Ok;
  int rank = 0;
  /// Of a failure: all ranks hold the state of one step, and save it before
  /// they leave.
  bool mayStillSave = false;
  std::string reason;             // of a failure that no rank has an error for
  std::vector<std::string> texts; // by rank

  bool failed() const { return failure != ExitCode::Ok; }
};

/// How bad a failure is. The ones that say the most of what has to be mended
/// come last: 0; then 7, since who waits for a rank in vain is not who failed;
/// what the user can change, 2 and 6; files, 3 and 5; the machine, 4, 8 and 9;
/// weft itself, 70 and every other.
int severityOf(ExitCode code);

/// The decision about the votes of all ranks, in their order: a function of
/// nothing else. Stop, save and last hold for all if one rank says so; the
/// worst failure wins, of equal ones that of the rank that was the reason, else
/// of the first rank.
Decision decide(const std::vector<Vote> &votes);

/// The connection of one rank to all ranks of its run, itself included.
class Consensus {
public:
  virtual ~Consensus();
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Waits for the votes of all ranks and decides. A rank that has left without
  /// one fails with exit 7, and nobody waits for it: to leave is to destroy
  /// this object, however a rank comes to its end.
  virtual Decision reach(const Vote &vote) = 0;
  /// For what may take longer than the others wait: while the result lives,
  /// they know that this rank is alive. Null where nobody waits.
  virtual std::unique_ptr<HeartbeatSender> sendHeartbeats() { return nullptr; }
};

/// The only rank of its run.
class OneRank final : public Consensus {
public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  Decision reach(const Vote &vote) override { return decide({vote}); }
};

/// What a rank reports that ends with `decision`, a failure: `own`, if it is
/// the rank that failed.
Error errorOf(const Decision &decision, const Consensus &consensus, Status own);

/// The vote of a rank at a place where it has nothing to say but whether it
/// failed.
Vote voteAt(Place place, const Status &status, std::string text = "");

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_CONSENSUS_H
