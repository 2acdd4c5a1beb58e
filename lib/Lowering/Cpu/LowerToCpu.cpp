//===- LowerToCpu.cpp - Lower kernels to the LLVM dialect -----------------===//

#include "Splat.h"

#include "weft/Abi/CpuWorkspaces.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Lowering/Linalg/LoopHints.h"
#include "weft/Lowering/Linalg/StandardRoutines.h"
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
#include "mlir/IR/Matchers.h"
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

/// Length of the sums of a product.
static int64_t getDepth(MatmulOp product) {
  ArrayRef<int64_t> shape = getShape(product.getLhs());
  return shape[shape.size() - (product.getTransposeLhs() ? 2 : 1)];
}

namespace {
class CpuLibrary final : public KernelLibrary {
  StringRef getName() const override { return "cpu"; }
  StringRef getTitle() const override { return "the CPU"; }
  LibraryAnswer find(Operation *op) const override {
    return findRoutine(getStandardRoutines(), op);
  }
  bool hasPart(ProductPart part) const override {
    return part == ProductPart::Bias;
  }
  /// A long product runs in stages and adds its bias in the first one; an op
  /// behind it adds to the whole sum.
  bool mayMerge(ProductPart part, MatmulOp product) const override {
    return hasPart(part) && getDepth(product) <= kLongestTransposedK;
  }
};
} // namespace

/// Registers the routines that select-kernels may choose for the CPU.
static void registerCpuLibrary(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, WeftDialect *dialect) {
    KernelLibraries::of(*dialect).add(std::make_unique<CpuLibrary>());
  });
}

/// Whether it is this number in all lanes.
static bool isSplat(Value value, uint64_t number) {
  DenseElementsAttr splat;
  return matchPattern(value, m_Constant(&splat)) && splat.isSplat() &&
         splat.getSplatValue<APInt>() == number;
}

namespace {
/// The product of 32-bit lanes, of which either half is used.
struct HalvesOfProduct {
  Value factor; // of 32-bit lanes
  SmallVector<Operation *> low, high, shifts;

  bool match(arith::MulIOp product);
  /// Even and odd lanes apart, as the processor multiplies them.
  void expand(arith::MulIOp product);
};
} // namespace

bool HalvesOfProduct::match(arith::MulIOp product) {
  auto type = dyn_cast<VectorType>(product.getType());
  auto wide = product.getLhs().getDefiningOp<arith::ExtUIOp>();
  DenseElementsAttr other;
  if (!type || type.getNumElements() % 2 != 0 || !wide ||
      !getElementTypeOrSelf(wide.getIn().getType()).isInteger(32) ||
      !matchPattern(product.getRhs(), m_Constant(&other)) || !other.isSplat() ||
      other.getSplatValue<APInt>().getActiveBits() > 32)
    return false;
  factor = wide.getIn();
  auto isHalf = [&](Operation *op) {
    return isa<arith::TruncIOp>(op) &&
           op->getResult(0).getType() == factor.getType();
  };
  for (Operation *user : product->getUsers()) {
    auto shift = dyn_cast<arith::ShRUIOp>(user);
    if (isHalf(user))
      low.push_back(user);
    else if (shift && isSplat(shift.getRhs(), 32) &&
             llvm::all_of(shift->getUsers(), isHalf))
      shifts.push_back(shift);
    else
      return false;
  }
  for (Operation *shift : shifts)
    high.append(shift->user_begin(), shift->user_end());
  return true;
}

void HalvesOfProduct::expand(arith::MulIOp product) {
  OpBuilder b(product);
  Location loc = product.getLoc();
  auto narrow = cast<VectorType>(factor.getType());
  auto wide = VectorType::get({narrow.getNumElements() / 2}, b.getI64Type());
  DenseElementsAttr constant;
  matchPattern(product.getRhs(), m_Constant(&constant));
  Value y = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(wide, constant.getSplatValue<APInt>()));
  Value lowBits = createSplat(b, loc, wide, 0xffffffff);
  Value half = createSplat(b, loc, wide, 32);
  Value x = vector::BitCastOp::create(b, loc, wide, factor);
  Value odd = arith::ShRUIOp::create(b, loc, x, half);
  odd = arith::MulIOp::create(b, loc, odd, y);
  Value even = arith::AndIOp::create(b, loc, x, lowBits);
  even = arith::MulIOp::create(b, loc, even, y);
  Value lows = arith::OrIOp::create(
      b, loc, arith::AndIOp::create(b, loc, even, lowBits).getResult(),
      arith::ShLIOp::create(b, loc, odd, half).getResult());
  Value highBits = arith::ShLIOp::create(b, loc, lowBits, half);
  Value highs = arith::OrIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, even, half).getResult(),
      arith::AndIOp::create(b, loc, odd, highBits).getResult());
  for (auto [ops, value] : {std::pair(&low, lows), std::pair(&high, highs)}) {
    Value lanes = vector::BitCastOp::create(b, loc, narrow, value);
    for (Operation *op : *ops) {
      op->replaceAllUsesWith(ValueRange{lanes});
      op->erase();
    }
  }
  for (Operation *shift : shifts)
    shift->erase();
  product.erase();
}

/// Rewrites products of vectors that were widened from 32 bits, times a
/// constant of 32 bits, of which the lower and the upper words are used alone.
static void expandProducts(ModuleOp module) {
  SmallVector<arith::MulIOp> products;
  module.walk([&](arith::MulIOp product) { products.push_back(product); });
  for (arith::MulIOp product : products)
    if (HalvesOfProduct halves; halves.match(product))
      halves.expand(product);
}

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
