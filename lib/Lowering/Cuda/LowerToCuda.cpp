//===- LowerToCuda.cpp - Lower kernels to the NVVM dialect ----------------===//

#include "weft/Abi/CudaProducts.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Lowering/Linalg/LoopHints.h"
#include "weft/Lowering/Linalg/StandardRoutines.h"
#include "weft/Lowering/Table/Routines.h"
#include "weft/Weft/Weft.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace weft {
#define GEN_PASS_DEF_LOWERTOCUDAPASS
#include "weft/Lowering/Cuda/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
class CudaLibrary final : public KernelLibrary {
  StringRef getName() const override { return "cuda"; }
  StringRef getTitle() const override { return "CUDA"; }
  LibraryAnswer find(Operation *op) const override {
    return findRoutine(getStandardRoutines(), op);
  }
  /// cuBLASLt's gelu is that with tanh; its relu keeps bits, not sums.
  bool hasPart(ProductPart part) const override {
    return part != ProductPart::ReluGrad;
  }
  std::string findObstacle(ProductPart part,
                           const PartialProduct &product) const override;
  bool roundsOnce() const override { return true; }
};
} // namespace

/// Whether the rows of all batches lie behind each other, on the left and in
/// the result: one matrix to cuBLASLt.
static bool isOneMatrix(MatmulOp product) {
  if (getShape(product.getResult()).size() == 2)
    return true;
  const bool isShared =
      getShape(product.getRhs()).size() == 2 && !product.getTransposeLhs();
  Operation *source = skipViews(product.getLhs()).getDefiningOp();
  return isShared && !isa_and_nonnull<SliceOp>(source) &&
         llvm::none_of(product.getResult().getUsers(), llvm::IsaPred<ConcatOp>);
}

/// The epilogue of the product after the part is merged into it.
static int64_t getEpilogue(ProductPart part, Epilogue before) {
  if (part == ProductPart::Relu)
    return WEFT_EPILOGUE_RELU;
  if (part == ProductPart::Gelu)
    return WEFT_EPILOGUE_GELU;
  if (part == ProductPart::GeluGrad)
    return WEFT_EPILOGUE_GELU_GRAD;
  return static_cast<int64_t>(before);
}

/// The record of the product with that part, as far as epilogues depend on it.
static WeftGemmRecord describe(ProductPart part,
                               const PartialProduct &partial) {
  MatmulOp product = partial.product;
  ArrayRef<int64_t> shape = getShape(product.getResult());
  WeftGemmRecord record = {};
  record.m = shape[shape.size() - 2];
  record.n = shape.back();
  record.batch = isOneMatrix(product) ? 1 : 2; // one or some
  record.dtype = getDType(getElementTypeOrSelf(product.getLhs().getType()));
  record.dtypeC = getDType(getElementTypeOrSelf(product.getType()));
  record.hasBias = partial.hasBias || part == ProductPart::Bias;
  record.hasColumnSum = partial.hasColumnSum || part == ProductPart::ColumnSum;
  record.hasSumA = partial.hasLhsSum || part == ProductPart::LhsSum;
  record.hasSumB = partial.hasRhsSum || part == ProductPart::RhsSum;
  record.epilogue = getEpilogue(part, partial.epilogue);
  const bool isActivation =
      part == ProductPart::Relu || part == ProductPart::Gelu;
  record.hasAux = record.epilogue == WEFT_EPILOGUE_GELU_GRAD ||
                  (isActivation && partial.keepsSum);
  return record;
}

std::string CudaLibrary::findObstacle(ProductPart part,
                                      const PartialProduct &product) const {
  return findWrongEpilogue(describe(part, product));
}

/// The library "cuda".
static void registerCudaLibrary(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, WeftDialect *dialect) {
    KernelLibraries::of(*dialect).add(std::make_unique<CudaLibrary>());
  });
}

void weft::registerLoweringCudaModels(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerCudaLibrary(registry);
}

namespace {

/// An op of math that is one instruction of the device, rounded as IEEE 754
/// says. All others are functions of libdevice.
template <typename From, typename To>
struct InstructionPattern : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;

  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op.getType(), op.getOperand());
    return success();
  }
};

struct LowerToCudaPass : weft::impl::LowerToCudaPassBase<LowerToCudaPass> {
  using LowerToCudaPassBase::LowerToCudaPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
                LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      kernel.emitOpError("expects weft-convert-kernels-to-linalg before "
                         "weft-lower-to-cuda");
      return signalPassFailure();
    }
    OpPassManager pipeline(ModuleOp::getOperationName());
    LowerKernelsToGpuPassOptions options;
    options.alignment = alignment;
    pipeline.addPass(createLowerKernelsToGpuPass(options));
    pipeline.addPass(createMarkKernelArgumentsPass());
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (failed(prepare(kernels)) || failed(convert(kernels)))
        return signalPassFailure();
      moveLoopHints(kernels);
    }
  }

  /// Exchanges of f64 become two, loops and branches blocks.
  LogicalResult prepare(gpu::GPUModuleOp kernels) {
    MLIRContext *context = &getContext();
    RewritePatternSet small(context);
    populateGpuShufflePatterns(small);
    small.add<InstructionPattern<math::SqrtOp, LLVM::SqrtOp>,
              InstructionPattern<math::AbsFOp, LLVM::FAbsOp>>(context);
    if (failed(applyPatternsGreedily(kernels, std::move(small))))
      return failure();
    RewritePatternSet loops(context);
    populateSCFToControlFlowConversionPatterns(loops);
    ConversionTarget flat(*context);
    flat.addIllegalDialect<scf::SCFDialect>();
    flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(kernels, flat, std::move(loops));
  }

  LogicalResult convert(gpu::GPUModuleOp kernels) {
    MLIRContext *context = &getContext();
    LLVMTypeConverter types(context);
    configureGpuToNVVMTypeConverter(types);
    RewritePatternSet patterns(context);
    populateGpuToNVVMConversionPatterns(types, patterns, /*benefit=*/10);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
    populateVectorToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(*context);
    configureGpuToNVVMConversionLegality(target);
    target.addLegalOp<LLVM::SqrtOp, LLVM::FAbsOp>();
    return applyPartialConversion(kernels, target, std::move(patterns));
  }
};

} // namespace
