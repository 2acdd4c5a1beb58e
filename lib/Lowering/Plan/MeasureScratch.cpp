//===- MeasureScratch.cpp - Memory of library routines beside the arena ---===//

#include "weft/Lowering/Plan/Passes.h"

#include "weft/Plan/Plan.h"
#include "weft/Runtime/Library.h"

#include "llvm/Support/MathExtras.h"

#include <set>
#include <vector>

#define DEBUG_TYPE "weft-measure-scratch"

using namespace mlir;

namespace weft {

#define GEN_PASS_DEF_MEASURESCRATCHPASS
#include "weft/Lowering/Plan/Passes.h.inc"

/// Raises what every worker needs to what one call reserves; false if the
/// routine refuses the arguments.
static bool measure(StringRef routine, ArrayRef<int64_t> ints,
                    MutableArrayRef<int64_t> workers) {
  int32_t threads = workers.size();
  // Numbers of integers in Library.h: 16 of a product, 21 and 33 of attention,
  // 7 of cross-entropy and of an embedding's gradient, one and two per gradient
  // of a norm.
  bool isGradient = routine == "weft_cpu_attention_grad";
  if (routine == "weft_cpu_gemm")
    return ints.size() == 16 &&
           weft_cpu_gemm_scratch_bytes(ints.data(), workers.data(), threads);
  if (routine == "weft_cpu_attention" || isGradient) {
    if (ints.size() != (isGradient ? 33 : 21))
      return false;
    weft_cpu_attention_scratch_bytes(ints.data(), isGradient, workers.data(),
                                     threads);
  } else if (routine == "weft_cpu_cross_entropy") {
    if (ints.size() != 7)
      return false;
    weft_cpu_cross_entropy_scratch_bytes(ints.data(), workers.data(), threads);
  } else if (routine == "weft_cpu_embedding_grad") {
    if (ints.size() != 7)
      return false;
    weft_cpu_embedding_grad_scratch_bytes(ints.data(), workers.data(), threads);
  } else if (routine == "weft_cpu_norm_and_check") {
    if (ints.empty() || ints[0] < 0 ||
        ints.size() != 2 * static_cast<size_t>(ints[0]) + 1)
      return false;
    weft_cpu_norm_and_check_scratch_bytes(ints.data(), workers.data(), threads);
  }
  return true;
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
    std::set<std::pair<std::string, std::vector<int64_t>>> measured;
    SmallVector<int64_t> workers(std::max(int32_t(threads), 1), 0);
    WalkResult result = getOperation()->walk([&](plan::CallOp call) {
      std::vector<int64_t> ints = call.getInts().vec();
      if (!measured.insert({call.getCallee().str(), ints}).second)
        return WalkResult::advance();
      if (!measure(call.getCallee(), ints, workers)) {
        call.emitOpError("expects arguments that ")
            << call.getCallee() << " accepts, but it refuses them";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
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
