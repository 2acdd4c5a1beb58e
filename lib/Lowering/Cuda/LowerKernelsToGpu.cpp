//===- LowerKernelsToGpu.cpp - Write kernels for the threads of a device --===//

#include "GpuEmitter.h"
#include "weft/Interfaces/InPlace.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace weft {
#define GEN_PASS_DEF_LOWERKERNELSTOGPUPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The known alignment of a buffer, in bytes: from its offset in the arena,
/// else from its element type.
static int64_t getAlignment(Value buffer) {
  std::optional<int64_t> offset = plan::getByteOffset(buffer);
  if (!offset)
    return plan::getElementBytes(cast<MemRefType>(buffer.getType()));
  uint64_t places = *offset | kDeviceAlignment;
  return places & (~places + 1);
}

namespace {

struct LowerKernelsToGpuPass
    : weft::impl::LowerKernelsToGpuPassBase<LowerKernelsToGpuPass> {
  using LowerKernelsToGpuPassBase::LowerKernelsToGpuPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                scf::SCFDialect, vector::VectorDialect, plan::PlanDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    findAlignments(module);
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    auto kernels =
        gpu::GPUModuleOp::create(builder, module.getLoc(), kKernelModule);
    builder.setInsertionPointToStart(kernels.getBody());
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      FailureOr<LinalgKernel> kernel = LinalgKernel::get(function);
      if (failed(kernel))
        return signalPassFailure();
      llvm::SmallVector<int64_t> aligned =
          alignments.lookup(function.getName());
      aligned.resize(function.getNumArguments(), alignment);
      GpuEmitter emitter(function, *kernel, aligned);
      FailureOr<gpu::GPUFuncOp> made = emitter.emit(builder);
      if (failed(made))
        return signalPassFailure();
      numKept += emitter.getNumKept();
      numReloaded += emitter.getNumReloaded();
      approximateMath(*made);
      numOutputs[function.getName()] = static_cast<int64_t>(
          function->getAttrOfType<ArrayAttr>(kInPlaceAttr).size());
      function.erase();
    }
    if (failed(emitGroups(module, kernels)))
      return signalPassFailure();
  }

  LogicalResult emitGroups(ModuleOp module, gpu::GPUModuleOp kernels);

  void findAlignments(ModuleOp module);
  void addAlignments(StringRef kernel, OperandRange inputs,
                     OperandRange outputs);

  llvm::StringMap<llvm::SmallVector<int64_t>> alignments;
  llvm::StringMap<int64_t> numOutputs;
};

} // namespace

/// Launches of one kernel may have buffers at different places.
void LowerKernelsToGpuPass::addAlignments(StringRef kernel, OperandRange inputs,
                                          OperandRange outputs) {
  SmallVector<Value> buffers(inputs);
  llvm::append_range(buffers, outputs);
  auto &known = alignments[kernel];
  known.resize(buffers.size(), kDeviceAlignment);
  for (auto [least, buffer] : llvm::zip(known, buffers))
    least = std::min(least, getAlignment(buffer));
}

void LowerKernelsToGpuPass::findAlignments(ModuleOp module) {
  SymbolTable symbols(module);
  module.walk([&](plan::LaunchOp launch) {
    OperandRange inputs = launch.getInputs(), outputs = launch.getOutputs();
    auto group = symbols.lookup<KernelGroupOp>(launch.getKernel());
    if (!group)
      return addAlignments(launch.getKernel(), inputs, outputs);
    for (auto name : group.getKernels().getAsRange<FlatSymbolRefAttr>()) {
      auto kernel = symbols.lookup<func::FuncOp>(name.getValue());
      auto lists =
          kernel ? kernel->getAttrOfType<ArrayAttr>(kInPlaceAttr) : ArrayAttr();
      if (!lists)
        return; // an error when the kernel is read
      const size_t numOutputs = lists.size();
      const size_t numInputs = kernel.getNumArguments() - numOutputs;
      if (numInputs > inputs.size() || numOutputs > outputs.size())
        return; // an error when the group is written
      addAlignments(name.getValue(), inputs.take_front(numInputs),
                    outputs.take_front(numOutputs));
      inputs = inputs.drop_front(numInputs);
      outputs = outputs.drop_front(numOutputs);
    }
  });
}

/// Functions that only groups run are part of the groups' functions.
LogicalResult LowerKernelsToGpuPass::emitGroups(ModuleOp module,
                                                gpu::GPUModuleOp kernels) {
  llvm::StringSet<> launched;
  module.walk(
      [&](plan::LaunchOp launch) { launched.insert(launch.getKernel()); });
  llvm::SetVector<StringAttr> members;
  auto groups = llvm::to_vector(module.getOps<KernelGroupOp>());
  for (KernelGroupOp group : groups) {
    if (failed(emitGroup(group, kernels, numOutputs)))
      return failure();
    for (auto name : group.getKernels().getAsRange<FlatSymbolRefAttr>())
      members.insert(name.getAttr());
  }
  for (KernelGroupOp group : groups)
    group.erase();
  SymbolTable symbols(kernels);
  for (StringAttr name : members)
    if (!launched.contains(name))
      symbols.lookup(name)->erase();
  return success();
}
