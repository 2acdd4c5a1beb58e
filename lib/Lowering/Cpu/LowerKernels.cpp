//===- LowerKernels.cpp - Write kernels as loops over vectors -------------===//

#include "KernelEmitter.h"
#include "weft/Lowering/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace weft {
#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "weft/Lowering/Cpu/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

struct LowerKernelsPass : weft::impl::LowerKernelsPassBase<LowerKernelsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      FailureOr<LinalgKernel> kernel = LinalgKernel::get(function);
      if (failed(kernel))
        return signalPassFailure();
      KernelEmitter(function, *kernel).emit();
      function.erase();
    }
  }
};

} // namespace
