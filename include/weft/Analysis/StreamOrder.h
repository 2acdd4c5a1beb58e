//===- StreamOrder.h - Happens-before order of a plan -----------*- C++ -*-===//
//
// Commands are submitted to streams in program order. A stream runs its own
// commands in that order. Only events order commands of different streams.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_STREAMORDER_H
#define WEFT_ANALYSIS_STREAMORDER_H

#include "weft/Plan/Transfers.h"

#include "llvm/ADT/DenseMap.h"

namespace weft {

/// When a command runs: how many commands of each stream are done before its
/// end, itself included.
struct StreamMoment {
  int64_t stream = 0;
  llvm::SmallVector<int64_t, 4> done;

  /// Whether this one has ended before `other` begins.
  bool isBefore(const StreamMoment &other) const {
    return other.done[stream] >= done[stream];
  }
};

class StreamOrder {
public:
  /// For programs of one module.
  explicit StreamOrder(mlir::ModuleOp module);
  /// Streams are numbered below this; 1 where no command has another.
  int64_t getNumStreams() const { return static_cast<int64_t>(streams.size()); }

  /// Submits the next command to its stream.
  StreamMoment add(plan::CommandOpInterface command);
  /// The end of the commands submitted to a stream so far.
  StreamMoment getNow(int64_t stream) const {
    return {stream, streams[static_cast<size_t>(stream)]};
  }

private:
  using Done = llvm::SmallVector<int64_t, 4>;
  std::vector<Done> streams;
  llvm::DenseMap<mlir::StringAttr, Done> events;
};

} // namespace weft

#endif // WEFT_ANALYSIS_STREAMORDER_H
