//===- StreamNumbers.h - The range of stream numbers ------------*- C++ -*-===//
//
// Private to lib/Plan.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_PLAN_STREAMNUMBERS_H
#define WEFT_LIB_PLAN_STREAMNUMBERS_H

#include "mlir/IR/Operation.h"

namespace weft::plan {

/// Streams are numbered below this: who orders them keeps a number for each
/// pair.
inline constexpr int64_t kMaxStreams = 64;

inline llvm::LogicalResult verifyStream(mlir::Operation *op, int64_t stream) {
  if (stream >= 0 && stream < kMaxStreams)
    return llvm::success();
  return op->emitOpError("expects a stream from 0 to ")
         << kMaxStreams - 1 << ", but got " << stream;
}

} // namespace weft::plan

#endif // WEFT_LIB_PLAN_STREAMNUMBERS_H
