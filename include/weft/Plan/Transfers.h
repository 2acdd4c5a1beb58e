//===- Transfers.h - Copies to and from the host in plans -------*- C++ -*-===//
//
// Ops of the plan dialect for targets with several streams: events, uploads of
// inputs, readbacks of outputs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PLAN_TRANSFERS_H
#define WEFT_PLAN_TRANSFERS_H

#include "weft/Plan/Plan.h"

#define GET_OP_CLASSES
#include "weft/Plan/PlanTransferOps.h.inc"

namespace weft::plan {

/// Queues of commands: computation, copies from and to the host, gathers of
/// parameters, and reductions of gradients.
enum Stream : int64_t {
  kComputeStream = 0,
  kUploadStream = 1,
  kReadbackStream = 2,
  kGatherStream = 3,
  kReduceStream = 4
};

/// Module attribute set by plan-memory: bytes of the staging part of the arena,
/// between the persistent and the transient part.
inline constexpr llvm::StringLiteral kStagingBytesAttr = "plan.staging_bytes";

/// Module attribute of a target whose memory is not the host's: bytes of its
/// constants outside the arena.
inline constexpr llvm::StringLiteral kConstantBytesAttr = "plan.constant_bytes";

/// Bytes of the values that commands write as constants and that are not one
/// value for all elements, each value once at a multiple of `alignment`.
int64_t countConstantBytes(mlir::ModuleOp module, int64_t alignment);

/// Whether a root is in the staging part of the arena: an input that a command
/// uploads, or a result on its way to the host.
bool isStaged(mlir::Value root);

/// The input that a root is, or that it is a copy of: nothing else writes it.
/// Null if there is none.
InputOp getCopiedInput(mlir::Value root);

/// Whether a command moves bytes between host and device or orders streams: it
/// computes nothing.
bool isTransfer(mlir::Operation *command);

/// Verifies that a program that reads some outputs back reads all of them back.
llvm::LogicalResult verifyReadback(ProgramOp program);

/// A root buffer has static sizes and is dense from its first byte.
llvm::LogicalResult verifyRoot(mlir::Operation *op, mlir::MemRefType type);

} // namespace weft::plan

#endif // WEFT_PLAN_TRANSFERS_H
