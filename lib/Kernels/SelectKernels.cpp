//===- SelectKernels.cpp - Choose the routine that runs each op -----------===//

#include "Fusion.h"
#include "weft/Kernels/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SELECTKERNELSPASS
#include "weft/Kernels/Passes.h.inc"

/// Op name to routine. Views need no routine; a program's reads and its
/// terminator none either.
static const llvm::StringMap<llvm::StringRef> &getRoutines() {
  static const llvm::StringMap<llvm::StringRef> routines = {
      {"weft.matmul", "weft_cpu_gemm"},
      {"weft.attention", "weft_cpu_attention"},
      {"weft.attention_grad", "weft_cpu_attention_grad"},
      {"weft.cross_entropy", "weft_cpu_cross_entropy"},
      {"weft.cross_entropy_grad", "weft_cpu_cross_entropy_grad"},
      {"weft.embedding", "weft_cpu_embedding"},
      {"weft.embedding_grad", "weft_cpu_embedding_grad"},
      {"weft.dropout", "weft_cpu_dropout"},
      {"weft.transpose", "weft_cpu_copy"},
      {"weft.slice", "weft_cpu_copy"},
      {"weft.concat", "weft_cpu_copy"},
      {"weft.pad", "weft_cpu_copy"},
      {"weft.broadcast", "weft_cpu_copy"},
      {"weft.constant", "weft_cpu_constant"},
      {"weft.random_normal", "weft_cpu_random_normal"},
      {"weft.random_uniform", "weft_cpu_random_uniform"},
      {"weft.norm_and_check", "weft_cpu_norm_and_check"},
      {"weft.total_norm", "weft_cpu_total_norm"},
      {"weft.clip_coefficient", "weft_cpu_clip_coefficient"},
      {"weft.step_increment", "weft_cpu_step_increment"},
      {"weft.scaler_update", "weft_cpu_scaler_update"},
      {"weft.accumulate", "weft_cpu_accumulate"},
      {"weft.adamw", "weft_cpu_adamw"},
      {"weft.adam", "weft_cpu_adam"},
      {"weft.sgd", "weft_cpu_sgd"},
      {"weft.call", "generated"},
      {"weft.reshape", "view"},
      {"weft.fence", "view"},
  };
  return routines;
}

/// Routines that only move elements work for every element type.
static bool movesOnly(StringRef routine) {
  return routine == "weft_cpu_copy" || routine == "view" ||
         routine == "generated" || routine == "weft_cpu_constant";
}

static LogicalResult checkElements(Operation *op, StringRef routine) {
  if (movesOnly(routine))
    return success();
  auto check = [&](Type type) -> LogicalResult {
    Type element = getElementTypeOrSelf(type);
    if (!element.isF16() && !element.isBF16() &&
        !(element.isF64() && cast<RankedTensorType>(type).getRank() > 0))
      return success();
    return op->emitOpError("does not support ")
           << element << " on the CPU yet; cast to f32 before it";
  };
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()),
                                      llvm::to_vector(op->getResultTypes())))
    if (failed(check(type)))
      return failure();
  return success();
}

namespace {

struct SelectKernels : impl::SelectKernelsPassBase<SelectKernels> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front().without_terminator())
        if (failed(select(&op)))
          return signalPassFailure();
  }

  LogicalResult select(Operation *op) {
    if (isa<ReadOp>(op))
      return success();
    auto it = getRoutines().find(op->getName().getStringRef());
    if (it == getRoutines().end())
      return op->emitOpError("has no implementation for the CPU; run weft-fuse "
                             "before weft-select-kernels");
    StringRef routine = it->second;
    if (failed(checkElements(op, routine)))
      return failure();
    auto accumulate = dyn_cast<AccumulateOp>(op);
    Operation *producer =
        accumulate ? findFoldableProducer(accumulate) : nullptr;
    if (producer) {
      producer->setAttr("weft.folded", UnitAttr::get(&getContext()));
      routine = "folded";
      ++numFolded;
    }
    op->setAttr(WeftDialect::kImplAttr,
                StringAttr::get(&getContext(), routine));
    return success();
  }
};

} // namespace
} // namespace weft
