//===- MarkKernelArguments.cpp - Arguments that share no written byte -----===//
//
// LLVM loads from arguments with `noalias` and `readonly` as ld.global.nc, and
// keeps loaded values across stores to other arguments. Only the plan knows
// which buffers a kernel runs on, so the pass checks every launch of it. Other
// threads write through other pointers than this thread's: a kernel that loads
// from an output may load what they have stored.
//
//===----------------------------------------------------------------------===//

#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/BufferBytes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace weft {
#define GEN_PASS_DEF_MARKKERNELARGUMENTSPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// The launches of one kernel.
struct KernelUse {
  size_t numInputs = 0;
  int64_t numLaunches = 0;
  /// For each argument, the launches that write bytes of it through another
  /// one. For an output, the launches that read or write its bytes as well.
  SmallVector<int64_t> numShared;
  /// The first of these launches, or null.
  SmallVector<plan::LaunchOp> firstShared;
};

/// Whether a function loads or stores elements of an argument.
struct ArgumentAccess {
  bool isLoaded = false, isStored = false;

  static ArgumentAccess of(BlockArgument argument);
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
  void markArgument(gpu::GPUFuncOp kernel, unsigned i, bool isInput);
  void reportMixed(const KernelUse &use, unsigned i);

  llvm::StringMap<KernelUse> uses;
};

} // namespace

ArgumentAccess ArgumentAccess::of(BlockArgument argument) {
  ArgumentAccess access;
  llvm::SetVector<Value> pointers;
  pointers.insert(argument);
  for (size_t i = 0; i < pointers.size(); ++i)
    for (Operation *user : pointers[i].getUsers()) {
      auto effects = dyn_cast<MemoryEffectOpInterface>(user);
      if (isMemoryEffectFree(user) && user->getNumResults() != 0) {
        pointers.insert_range(user->getResults());
        continue;
      }
      // A pointer that leaves the function may be used in any way.
      SmallVector<MemoryEffects::EffectInstance> found;
      if (effects)
        effects.getEffectsOnValue(pointers[i], found);
      access.isLoaded |= found.empty();
      access.isStored |= found.empty();
      for (const MemoryEffects::EffectInstance &effect : found) {
        access.isLoaded |= isa<MemoryEffects::Read>(effect.getEffect());
        access.isStored |= isa<MemoryEffects::Write>(effect.getEffect());
      }
    }
  return access;
}

void MarkKernelArgumentsPass::add(plan::LaunchOp launch) {
  KernelUse &use = uses[launch.getKernel()];
  use.numInputs = launch.getInputs().size();
  ++use.numLaunches;
  SmallVector<plan::BufferBytes> operands;
  for (Value buffer : launch->getOperands())
    operands.emplace_back(buffer);
  SmallVector<bool> isShared(operands.size());
  for (size_t output = use.numInputs; output < operands.size(); ++output)
    for (size_t other = 0; other < operands.size(); ++other)
      if (other != output && operands[output].overlaps(operands[other]))
        isShared[output] = isShared[other] = true;
  use.numShared.resize(operands.size());
  use.firstShared.resize(operands.size());
  for (auto [i, shared] : llvm::enumerate(isShared)) {
    use.numShared[i] += shared ? 1 : 0;
    if (shared && !use.firstShared[i])
      use.firstShared[i] = launch;
  }
}

/// An input that a store may change is not read-only. Threads that meet may
/// load elements of an output that others have stored, which `noalias` denies.
void MarkKernelArgumentsPass::markArgument(gpu::GPUFuncOp kernel, unsigned i,
                                           bool isInput) {
  const auto access = ArgumentAccess::of(kernel.getArgument(i));
  if (isInput ? access.isStored : access.isLoaded)
    return;
  UnitAttr unit = UnitAttr::get(&getContext());
  kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), unit);
  if (!isInput)
    return;
  kernel.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), unit);
  ++numReadOnly;
}

/// Names the launch because of which the others lose the mark.
void MarkKernelArgumentsPass::reportMixed(const KernelUse &use, unsigned i) {
  plan::LaunchOp launch = use.firstShared[i];
  remark::missed(launch.getLoc(),
                 remark::RemarkOpts::name("mark-arguments").category("fusion"))
      << remark::add("input {0} of @{1} is not read-only: {2} of {3} launches "
                     "overwrite it, the first one in @{4}",
                     i, launch.getKernel(), use.numShared[i], use.numLaunches,
                     launch->getParentOfType<plan::ProgramOp>().getSymName());
}

LogicalResult MarkKernelArgumentsPass::mark(gpu::GPUFuncOp kernel,
                                            const KernelUse &use) {
  if (kernel.getNumArguments() != use.numShared.size())
    return kernel.emitOpError("expects an argument for each of the ")
           << use.numShared.size() << " buffers of a launch, but got "
           << kernel.getNumArguments();
  for (auto [i, shared] : llvm::enumerate(use.numShared)) {
    const bool isInput = i < use.numInputs;
    if (shared == 0) {
      markArgument(kernel, i, isInput);
      continue;
    }
    if (!isInput)
      continue;
    ++numShared;
    if (shared == use.numLaunches)
      continue;
    ++numMixed;
    reportMixed(use, i);
  }
  return success();
}
