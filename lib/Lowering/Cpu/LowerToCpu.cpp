//===- LowerToCpu.cpp - Lower kernels to the LLVM dialect -----------------===//

#include "CpuLibrary.h"
#include "ExpandProducts.h"

#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Lowering/Linalg/LoopHints.h"
#include "weft/Lowering/Table/Routines.h"
#include "weft/Weft/Weft.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

namespace weft {
#define GEN_PASS_DEF_LOWERTOCPUPASS
#include "weft/Lowering/Cpu/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

void weft::registerLoweringCpuModels(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerRoutineModels(registry);
  registerCpuLibrary(registry);
}

namespace {

struct LowerToCpuPass : weft::impl::LowerToCpuPassBase<LowerToCpuPass> {
  using LowerToCpuPassBase::LowerToCpuPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    cf::ControlFlowDialect, vector::VectorDialect,
                    LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      kernel.emitOpError("expects weft-convert-kernels-to-linalg before "
                         "weft-lower-to-cpu");
      return signalPassFailure();
    }
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(createLowerKernelsPass());
    ExpandMathPassOptions options;
    options.fma = fma;
    pipeline.addPass(createExpandMathPass(options));
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();
    expandProducts(getOperation());
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (failed(convert(function)))
        return signalPassFailure();
  }

  /// Converts the body of one kernel, control flow first.
  LogicalResult convert(LLVM::LLVMFuncOp function) {
    MLIRContext *context = &getContext();
    RewritePatternSet loops(context);
    populateSCFToControlFlowConversionPatterns(loops);
    ConversionTarget flat(*context);
    flat.addIllegalDialect<scf::SCFDialect>();
    flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(function, flat, std::move(loops))))
      return failure();
    LLVMTypeConverter types(context);
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    populateMathToLLVMConversionPatterns(types, patterns);
    populateVectorToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalOp<LLVM::LLVMFuncOp>();
    if (failed(applyFullConversion(function, target, std::move(patterns))))
      return failure();
    moveLoopHints(function);
    return success();
  }
};

} // namespace
