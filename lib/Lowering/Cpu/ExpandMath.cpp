//===- ExpandMath.cpp - Replace elementary functions by arithmetic --------===//

#include "weft/Lowering/Cpu/Passes.h"

#include "MathExpression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace weft {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "weft/Lowering/Cpu/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// f32 powers go through libm's in f64.
static LogicalResult expandPow(math::PowFOp op, PatternRewriter &b) {
  if (!getElementTypeOrSelf(op.getType()).isF32())
    return failure();
  MathExpression e(b, op.getLoc(), op.getType(), /*useFma=*/false);
  Type f64 = e.with(b.getF64Type());
  auto wide = [&](Value x) -> Value {
    return arith::ExtFOp::create(b, op.getLoc(), f64, x);
  };
  Value y = LLVM::PowOp::create(b, op.getLoc(), f64, wide(op.getLhs()),
                                wide(op.getRhs()));
  b.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), y);
  return success();
}

/// The f64 functions of libm that LLVM has no intrinsic for, lane by lane.
static LogicalResult callLibm(math::ErfOp op, PatternRewriter &b) {
  if (!getElementTypeOrSelf(op.getType()).isF64())
    return failure();
  auto module = op->getParentOfType<ModuleOp>();
  Type element = b.getF64Type();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>("erf");
  if (!function) {
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    function = LLVM::LLVMFuncOp::create(
        atEnd, module.getLoc(), "erf",
        LLVM::LLVMFunctionType::get(element, {element}));
  }
  auto call = [&](Value x) {
    return LLVM::CallOp::create(b, op.getLoc(), function, x).getResult();
  };
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type) {
    b.replaceOp(op, call(op.getOperand()));
    return success();
  }
  Value result = op.getOperand();
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    Value x = vector::ExtractOp::create(b, op.getLoc(), op.getOperand(), lane);
    result = vector::InsertOp::create(b, op.getLoc(), call(x), result, lane);
  }
  b.replaceOp(op, result);
  return success();
}

/// Rounds f64 to f16 through f32.
static LogicalResult roundTwice(arith::TruncFOp op, PatternRewriter &b) {
  if (!getElementTypeOrSelf(op.getType()).isF16() ||
      !getElementTypeOrSelf(op.getIn().getType()).isF64())
    return failure();
  MathExpression e(b, op.getLoc(), op.getType(), /*useFma=*/false);
  Value single = arith::TruncFOp::create(b, op.getLoc(), e.with(b.getF32Type()),
                                         op.getIn());
  b.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), single);
  return success();
}

/// Rounds to bf16 through f32 and in integers, ties to even: older processors
/// have no instruction and newer ones drop subnormals.
static LogicalResult roundToBf16(arith::TruncFOp op, PatternRewriter &b) {
  if (!getElementTypeOrSelf(op.getType()).isBF16())
    return failure();
  Value x = op.getIn();
  MathExpression e(b, op.getLoc(), op.getType(), /*useFma=*/false);
  if (getElementTypeOrSelf(x.getType()).isF64())
    x = arith::TruncFOp::create(b, op.getLoc(), e.with(b.getF32Type()), x);
  Value bits = e.bits(x);
  Value high = e.integerOp<arith::ShRUIOp>(bits, e.integer(16));
  Value odd = e.integerOp<arith::AndIOp>(high, e.integer(1));
  Value bias = e.integerOp<arith::AddIOp>(odd, e.integer(0x7fff));
  Value rounded = e.integerOp<arith::ShRUIOp>(
      e.integerOp<arith::AddIOp>(bits, bias), e.integer(16));
  Value quiet = e.integerOp<arith::OrIOp>(high, e.integer(0x40));
  Value isNan =
      arith::CmpFOp::create(b, op.getLoc(), arith::CmpFPredicate::UNO, x, x);
  Value word = arith::TruncIOp::create(b, op.getLoc(), e.with(b.getI16Type()),
                                       e.select(isNan, quiet, rounded));
  b.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), word);
  return success();
}

/// Widens bf16 in integers. Behind an extension LLVM negates and chooses bf16
/// values, which it then rounds by calls that libgcc lacks (x86-64-v2).
static LogicalResult widenBf16(arith::ExtFOp op, PatternRewriter &b) {
  if (!getElementTypeOrSelf(op.getIn().getType()).isBF16())
    return failure();
  MathExpression e(b, op.getLoc(), op.getType(), /*useFma=*/false);
  Value word = arith::BitcastOp::create(b, op.getLoc(), e.with(b.getI16Type()),
                                        op.getIn());
  Value low =
      arith::ExtUIOp::create(b, op.getLoc(), e.with(b.getI32Type()), word);
  Value wide = e.fromBits(e.integerOp<arith::ShLIOp>(low, e.integer(16)));
  if (wide.getType() == op.getType())
    b.replaceOp(op, wide);
  else
    b.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), wide);
  return success();
}

/// Replaces an f32 function by an expression.
template <typename OpT, Value (MathExpression::*expand)(Value)>
struct ExpandFunction : OpRewritePattern<OpT> {
  ExpandFunction(MLIRContext *context, bool useFma, PatternBenefit benefit = 1)
      : OpRewritePattern<OpT>(context, benefit), useFma(useFma) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    MathExpression e(rewriter, op.getLoc(), op.getType(), useFma);
    rewriter.replaceOp(op, (e.*expand)(op.getOperand()));
    return success();
  }

  bool useFma;
};

/// Replaces an f32 function that may be approximate (`afn`).
template <typename OpT, Value (MathExpression::*expand)(Value)>
struct ExpandApproximate : ExpandFunction<OpT, expand> {
  ExpandApproximate(MLIRContext *context, bool useFma)
      : ExpandFunction<OpT, expand>(context, useFma, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    return ExpandFunction<OpT, expand>::matchAndRewrite(op, rewriter);
  }
};

struct ExpandMathPass : weft::impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandFunction<math::ExpOp, &MathExpression::exp>,
                 ExpandFunction<math::LogOp, &MathExpression::log>,
                 ExpandFunction<math::Log1pOp, &MathExpression::log1p>,
                 ExpandFunction<math::TanhOp, &MathExpression::tanh>,
                 ExpandFunction<math::ErfOp, &MathExpression::erf>,
                 ExpandFunction<math::SinOp, &MathExpression::sin>,
                 ExpandFunction<math::CosOp, &MathExpression::cos>>(
        &getContext(), fma);
    patterns
        .add<ExpandApproximate<math::ExpOp, &MathExpression::approximateExp>,
             ExpandApproximate<math::TanhOp, &MathExpression::approximateTanh>>(
            &getContext(), fma);
    patterns.add(expandPow);
    patterns.add(callLibm);
    patterns.add(roundTwice);
    patterns.add(roundToBf16);
    patterns.add(widenBf16);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
