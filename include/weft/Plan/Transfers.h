//===- Transfers.h - Copies to and from the host in plans -------*- C++ -*-===//
//
// Ops of the plan dialect that targets with several streams have beside the
// others: events, uploads of inputs, readbacks of outputs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PLAN_TRANSFERS_H
#define WEFT_PLAN_TRANSFERS_H

#include "weft/Plan/Plan.h"

#define GET_OP_CLASSES
#include "weft/Plan/PlanTransferOps.h.inc"

namespace weft::plan {

/// Queues of commands: what computes, copies from and to the host, gathers of
/// parameters, and what is reduced of gradients.
enum Stream : int64_t {
  kComputeStream = 0,
  kUploadStream = 1,
  kReadbackStream = 2,
  kGatherStream = 3,
  kReduceStream = 4
};

/// Module attribute set by plan-memory: bytes of the staging part of the arena,
/// which lies between the persistent and the transient one.
inline constexpr llvm::StringLiteral kStagingBytesAttr = "plan.staging_bytes";

/// Module attribute of a target whose memory is not the host's: bytes of the
/// constants that it keeps beside the arena.
inline constexpr llvm::StringLiteral kConstantBytesAttr = "plan.constant_bytes";

/// Bytes of the values that commands write as constants and that are not one
/// value for all elements, each value once at a multiple of `alignment`.
int64_t countConstantBytes(mlir::ModuleOp module, int64_t alignment);

/// Whether a root lies in the staging part of the arena: an input that a
/// command uploads, or a result on its way to the host.
bool isStaged(mlir::Value root);

/// The input that a root is, or that it is a copy of: nothing else writes it.
/// Null if there is none.
InputOp getCopiedInput(mlir::Value root);

/// Whether a command moves bytes between host and device or orders streams: it
/// computes nothing.
bool isTransfer(mlir::Operation *command);

/// Where a program reads some outputs back, it does so with all.
llvm::LogicalResult verifyReadback(ProgramOp program);

/// A root buffer has static sizes and is dense from its first byte.
llvm::LogicalResult verifyRoot(mlir::Operation *op, mlir::MemRefType type);

} // namespace weft::plan

#endif // WEFT_PLAN_TRANSFERS_H
