//===- Timeline.h - When the commands of a plan run -------------*- C++ -*-===//
//
// Simulates a program from the estimates of its commands. Each stream runs its
// commands in order; records and waits order the streams. Concurrent
// collectives share a link and slow down computation by the factor in the cost
// table.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_TIMELINE_H
#define WEFT_ANALYSIS_TIMELINE_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace weft {

/// One command, in microseconds from the start of the program. A wait lasts
/// while its stream is idle.
struct TimelineEntry {
  plan::CommandOpInterface command;
  double begin = 0, end = 0;

  double getTime() const { return end - begin; }
};

/// A collective for which stream 0 waits: indices of its entry (`begun`) and of
/// the wait (`awaited`).
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
  /// The time in which stream 0 waits while that collective runs; 0 if it does
  /// not wait. Collectives with the same wait are measured separately, each
  /// over its own run.
  double getExposed(const OverlapEntry &overlap) const;

private:
  Timeline() = default;

  std::vector<TimelineEntry> entries;
};

/// A step of one micro-step and the update, by the estimates of a plan.
struct StepEstimate {
  double us = 0;
  double collectivesUs = 0; // of all collectives, hidden or not
  double exposedUs = 0;     // while nothing is computed
  int64_t sentBytes = 0;    // by one rank
};

llvm::FailureOr<StepEstimate> estimateStep(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_ANALYSIS_TIMELINE_H
