//===- MarkKernelArguments.cpp - Arguments that share no written byte -----===//
//
// LLVM loads from arguments with `noalias` and `readonly` as ld.global.nc, and
// keeps loaded values across stores to other arguments. Only the plan knows
// which buffers a kernel runs on, so the pass checks every launch of it.
//
//===----------------------------------------------------------------------===//

#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/Plan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft {
#define GEN_PASS_DEF_MARKKERNELARGUMENTSPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// The bytes of a launch's operand.
class OperandBytes {
public:
  explicit OperandBytes(Value buffer)
      : root(plan::getRoot(buffer)),
        layout(plan::Layout::get(cast<MemRefType>(buffer.getType()))),
        begin(plan::getRootOffset(root)),
        size(plan::getBufferBytes(cast<MemRefType>(root.getType()))) {}

  /// Views of one root share the bytes of common elements, and roots with
  /// offsets the bytes of the arena. Roots without offsets share none.
  bool overlap(const OperandBytes &other) const {
    if (root == other.root)
      return layout.overlaps(other.layout);
    if (!begin || !other.begin)
      return begin.has_value() != other.begin.has_value();
    return *begin < *other.begin + other.size && *other.begin < *begin + size;
  }

private:
  Value root;
  plan::Layout layout;
  std::optional<int64_t> begin;
  int64_t size;
};

/// The launches of one kernel.
struct KernelUse {
  size_t numInputs = 0;
  int64_t numLaunches = 0;
  /// For each argument, the launches that write bytes of it through another
  /// one. For an output, the launches that read or write its bytes as well.
  SmallVector<int64_t> numShared;
};

struct MarkKernelArgumentsPass
    : weft::impl::MarkKernelArgumentsPassBase<MarkKernelArgumentsPass> {
  using MarkKernelArgumentsPassBase::MarkKernelArgumentsPassBase;

  void runOnOperation() override {
    getOperation().walk([&](plan::LaunchOp launch) { add(launch); });
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      for (auto kernel : module.getOps<gpu::GPUFuncOp>())
        if (auto use = uses.find(kernel.getName()); use != uses.end())
          if (failed(mark(kernel, use->second)))
            return signalPassFailure();
  }

private:
  void add(plan::LaunchOp launch);
  LogicalResult mark(gpu::GPUFuncOp kernel, const KernelUse &use);

  llvm::StringMap<KernelUse> uses;
};

} // namespace

void MarkKernelArgumentsPass::add(plan::LaunchOp launch) {
  KernelUse &use = uses[launch.getKernel()];
  use.numInputs = launch.getInputs().size();
  ++use.numLaunches;
  SmallVector<OperandBytes> operands;
  for (Value buffer : launch->getOperands())
    operands.emplace_back(buffer);
  SmallVector<bool> isShared(operands.size());
  for (size_t output = use.numInputs; output < operands.size(); ++output)
    for (size_t other = 0; other < operands.size(); ++other)
      if (other != output && operands[output].overlap(operands[other]))
        isShared[output] = isShared[other] = true;
  use.numShared.resize(operands.size());
  for (auto [count, shared] : llvm::zip(use.numShared, isShared))
    count += shared ? 1 : 0;
}

LogicalResult MarkKernelArgumentsPass::mark(gpu::GPUFuncOp kernel,
                                            const KernelUse &use) {
  if (kernel.getNumArguments() != use.numShared.size())
    return kernel.emitOpError("expects an argument for each of the ")
           << use.numShared.size() << " buffers of a launch, but got "
           << kernel.getNumArguments();
  UnitAttr unit = UnitAttr::get(&getContext());
  for (auto [i, shared] : llvm::enumerate(use.numShared)) {
    const bool isInput = i < use.numInputs;
    if (shared != 0) {
      numShared += isInput ? 1 : 0;
      numMixed += isInput && shared < use.numLaunches ? 1 : 0;
      continue;
    }
    kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), unit);
    if (!isInput)
      continue;
    kernel.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), unit);
    ++numReadOnly;
  }
  return success();
}
