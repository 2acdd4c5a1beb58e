//===- LowerKernelsToGpu.cpp - Write kernels for the threads of a device --===//

#include "GpuEmitter.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
      if (failed(GpuEmitter(function, *kernel, aligned).emit(builder)))
        return signalPassFailure();
      function.erase();
    }
  }

  /// Launches of one kernel may have buffers at different places.
  void findAlignments(ModuleOp module) {
    module.walk([&](plan::LaunchOp launch) {
      auto &known = alignments[launch.getKernel()];
      known.resize(launch->getNumOperands(), kDeviceAlignment);
      for (auto [least, buffer] : llvm::zip(known, launch->getOperands()))
        least = std::min(least, getAlignment(buffer));
    });
  }

  llvm::StringMap<llvm::SmallVector<int64_t>> alignments;
};

} // namespace
