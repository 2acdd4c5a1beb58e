//===- Liveness.h - When the bytes of a buffer matter -----------*- C++ -*-===//
//
// Pure analysis of one straight-line plan program. Positions count commands
// from 0; the runtime writes inputs at -1 and reads outputs after the last.
// Staged inputs and results are no part of it: nothing else has their bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_LIVENESS_H
#define WEFT_ANALYSIS_LIVENESS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

namespace plan {
class ProgramOp;
} // namespace plan

/// A transient root buffer and the positions from its first write to its last
/// use, both included, or further, to the last command that another stream may
/// run before that use has ended. A buffer that is never used has `end <
/// begin`.
struct BufferLifetime {
  mlir::Value root;
  int64_t bytes = 0;
  int64_t begin = 0;
  int64_t end = -1;

  bool isLiveAt(int64_t position) const {
    return begin <= position && position <= end;
  }
  bool interferes(const BufferLifetime &other) const {
    return begin <= other.end && other.begin <= end && begin <= end &&
           other.begin <= other.end;
  }
};

struct Liveness {
  /// Commands by position.
  llvm::SmallVector<mlir::Operation *> commands;
  /// Inputs and allocations in the order of the program.
  llvm::SmallVector<BufferLifetime> buffers;
  /// Live bytes at each command, every buffer rounded up to `alignment`.
  llvm::SmallVector<int64_t> liveBytes;
  /// Position with the most live bytes (the first one), and that sum.
  int64_t peakPosition = -1;
  int64_t peakBytes = 0;
};

/// Computes lifetimes and the peak of one program.
Liveness computeLiveness(plan::ProgramOp program, int64_t alignment = 1);

} // namespace weft

#endif // WEFT_ANALYSIS_LIVENESS_H
