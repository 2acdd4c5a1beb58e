//===- MeasureScratch.cpp - Memory of library routines beside the arena ---===//

#include "weft/Lowering/Plan/Passes.h"

#include "weft/Plan/Plan.h"
#include "weft/Runtime/Library.h"

#include <map>
#include <vector>

#define DEBUG_TYPE "weft-measure-scratch"

using namespace mlir;

namespace weft {

#define GEN_PASS_DEF_MEASURESCRATCHPASS
#include "weft/Lowering/Plan/Passes.h.inc"

/// Bytes beside the arena; negative if the routine refuses the arguments.
static int64_t measure(StringRef routine, ArrayRef<int64_t> ints,
                       int32_t threads) {
  // Numbers of integers in Library.h: 16 of a product, 21 and 33 of attention.
  bool isGradient = routine == "weft_cpu_attention_grad";
  if (routine == "weft_cpu_gemm")
    return ints.size() == 16 ? weft_cpu_gemm_scratch_bytes(ints.data(), threads)
                             : -1;
  if (routine == "weft_cpu_attention" || isGradient) {
    if (ints.size() != (isGradient ? 33 : 21))
      return -1;
    return weft_cpu_attention_scratch_bytes(ints.data(), isGradient, threads);
  }
  return 0;
}

namespace {
struct MeasureScratchPass : impl::MeasureScratchPassBase<MeasureScratchPass> {
  using MeasureScratchPassBase::MeasureScratchPassBase;

  void runOnOperation() override {
    // Layers repeat the same calls: each is measured once.
    std::map<std::pair<std::string, std::vector<int64_t>>, int64_t> measured;
    int64_t most = 0;
    WalkResult result = getOperation()->walk([&](plan::CallOp call) {
      std::vector<int64_t> ints = call.getInts().vec();
      auto [entry, isNew] =
          measured.try_emplace({call.getCallee().str(), ints}, 0);
      if (isNew)
        entry->second = measure(call.getCallee(), ints, threads);
      if (entry->second < 0) {
        call.emitOpError("expects arguments that ")
            << call.getCallee() << " accepts, but it refuses them";
        return WalkResult::interrupt();
      }
      most = std::max(most, entry->second);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation()->setAttr(plan::PlanDialect::kScratchBytesAttr,
                            Builder(&getContext()).getI64IntegerAttr(most));
  }
};
} // namespace

} // namespace weft
