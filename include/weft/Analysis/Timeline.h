//===- Timeline.h - When the commands of a plan run -------------*- C++ -*-===//
//
// A run of a program by the estimates of its commands: each stream runs its own
// in their order, records and waits order the streams. Collectives that send
// over one link at a time share it, and what computes is slowed by them as the
// cost table says.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_TIMELINE_H
#define WEFT_ANALYSIS_TIMELINE_H

#include "weft/Plan/Plan.h"

namespace weft {

/// One command, in microseconds from the start of the program. That of a wait
/// lasts for as long as its stream has nothing to do.
struct TimelineEntry {
  plan::CommandOpInterface command;
  double begin = 0, end = 0;

  double getTime() const { return end - begin; }
};

/// Stream 0 waits for a collective: `begun` is its entry, `awaited` that of the
/// wait.
struct OverlapEntry {
  size_t begun, awaited;
};

class Timeline {
public:
  /// Commands without an estimate take no time. A wait for an event that
  /// the program does not record is an error.
  static llvm::FailureOr<Timeline> get(plan::ProgramOp program);

  /// In the order of the program.
  llvm::ArrayRef<TimelineEntry> getEntries() const { return entries; }
  /// When the last stream ends.
  double getEnd() const;
  /// For how long stream 0 computes nothing: it waits, hands collectives over,
  /// or runs some itself.
  double getExposed() const;
  /// The collectives of other streams, in the order in which they begin, with
  /// the first wait of stream 0 after which they are done.
  std::vector<OverlapEntry> getOverlaps() const;
  /// The time in which stream 0 waits while that collective is under way:
  /// others that the same wait is for have their own. 0 if it does not wait.
  double getExposed(const OverlapEntry &overlap) const;

private:
  Timeline() = default;

  std::vector<TimelineEntry> entries;
};

} // namespace weft

#endif // WEFT_ANALYSIS_TIMELINE_H
