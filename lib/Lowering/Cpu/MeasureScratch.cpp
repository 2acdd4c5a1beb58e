//===- MeasureScratch.cpp - Memory of library routines beside the arena ---===//

#include "weft/Lowering/Cpu/Passes.h"

#include "weft/Lowering/Cpu/CpuCommands.h"
#include "weft/Runtime/Execute/Library.h"

#include "llvm/Support/MathExtras.h"

#include <set>
#include <vector>

#define DEBUG_TYPE "weft-measure-scratch"

using namespace mlir;

namespace weft {

#define GEN_PASS_DEF_MEASURESCRATCHPASS
#include "weft/Lowering/Cpu/Passes.h.inc"

/// Raises what every worker needs to what one call reserves; false if the
/// routine refuses the record.
static bool measure(const CpuCommand &call, MutableArrayRef<int64_t> workers) {
  int32_t threads = workers.size();
  switch (call.kind) {
  case WEFT_GEMM:
    return weft_cpu_gemm_scratch_bytes(call.as<WeftGemmRecord>(),
                                       workers.data(), threads);
  case WEFT_ATTENTION:
  case WEFT_ATTENTION_GRAD: // its record begins with that of the forward call
    weft_cpu_attention_scratch_bytes(call.as<WeftAttentionRecord>(),
                                     call.kind == WEFT_ATTENTION_GRAD,
                                     workers.data(), threads);
    return true;
  case WEFT_CROSS_ENTROPY:
    weft_cpu_cross_entropy_scratch_bytes(call.as<WeftCrossEntropyRecord>(),
                                         workers.data(), threads);
    return true;
  case WEFT_EMBEDDING_GRAD:
    weft_cpu_embedding_grad_scratch_bytes(call.as<WeftEmbeddingGradRecord>(),
                                          workers.data(), threads);
    return true;
  case WEFT_NORM_AND_CHECK:
    weft_cpu_norm_and_check_scratch_bytes(call.as<WeftNormAndCheckRecord>(),
                                          workers.data(), threads);
    return true;
  default:
    return true;
  }
}

/// A worker keeps the largest of its pieces, in whole pages.
static int64_t addUp(ArrayRef<int64_t> workers) {
  int64_t total = 0;
  for (int64_t bytes : workers)
    total += llvm::alignTo(bytes, 4096);
  return total;
}

namespace {
struct MeasureScratchPass : impl::MeasureScratchPassBase<MeasureScratchPass> {
  using MeasureScratchPassBase::MeasureScratchPassBase;

  void runOnOperation() override {
    // Layers repeat the same calls: each is measured once.
    std::set<std::pair<int, std::vector<int64_t>>> measured;
    SmallVector<int64_t> workers(std::max(int32_t(threads), 1), 0);
    WalkResult result =
        getOperation()->walk([&](plan::CommandOpInterface command) {
          if (isa<plan::LaunchOp>(command))
            return WalkResult::advance();
          FailureOr<CpuCommand> made = CpuCommand::get(command);
          if (failed(made))
            return WalkResult::interrupt();
          std::vector<int64_t> words(made->record.begin(), made->record.end());
          if (!measured.insert({made->kind, words}).second ||
              measure(*made, workers))
            return WalkResult::advance();
          command->emitOpError("expects sizes that ")
              << made->routine << " accepts, but it refuses them";
          return WalkResult::interrupt();
        });
    if (result.wasInterrupted())
      return signalPassFailure();
    Builder builder(&getContext());
    getOperation()->setAttr(plan::PlanDialect::kScratchBytesAttr,
                            builder.getI64IntegerAttr(addUp(workers)));
    getOperation()->setAttr(plan::PlanDialect::kScratchThreadsAttr,
                            builder.getI64IntegerAttr(workers.size()));
  }
};
} // namespace

} // namespace weft
