//===- LoopsTest.cpp - Loops of generated kernels after LLVM's passes -----===//

#include "weft/Fusion/Passes.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace weft {
namespace {

/// LLVM IR of one kernel after the pipeline, for x86-64-v4.
std::string emitKernel(const std::string &text) {
  DialectRegistry registry;
  registry.insert<WeftDialect>();
  registerFusionModels(registry);
  registerLoweringCpuModels(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "";
  PassManager passes(&context);
  passes.addPass(createConvertKernelsToLinalgPass());
  passes.addPass(createLowerToCpuPass());
  std::string problem;
  FailureOr<CpuTarget> target = CpuTarget::parse("cpu:x86-64-v4", problem);
  if (failed(passes.run(*module)) || failed(target))
    return "";
  // Without a plan there are no tables; kernels alone are looked at.
  (*module)->setAttr("plan.arena_bytes",
                     OpBuilder(&context).getI64IntegerAttr(0));
  (*module)->setAttr("weft.metadata", StringAttr::get(&context, "{}"));
  FailureOr<std::string> ir = emitLlvmIr(*module, *target);
  return succeeded(ir) ? *ir : "";
}

int count(StringRef text, StringRef part) {
  return static_cast<int>(text.count(part));
}

TEST(Loops, OfElementsAreNotUnrolled) {
  std::string ir = emitKernel(R"(
weft.kernel @k(%x: tensor<64x384xf32>, %y: tensor<64x384xf32>) -> tensor<64x384xf32> elementwise [24576] inplace [[]] {
  %z = weft.mul %x, %y : tensor<64x384xf32>, tensor<64x384xf32>
  weft.yield %z : tensor<64x384xf32>
})");
  EXPECT_EQ(count(ir, "fmul <16 x float>"), 1) << ir;
}

TEST(Loops, OfRowSumsAreUnrolledByTheirPartialSums) {
  std::string ir = emitKernel(R"(
weft.kernel @k(%x: tensor<64x384xf32>) -> tensor<64xf32> rows [64, 384] over [1] inplace [[]] {
  %s = weft.reduce sum %x dims [1] : tensor<64x384xf32>
  weft.yield %s : tensor<64xf32>
})");
  EXPECT_EQ(count(ir, "load <16 x float>"), 4) << ir;
  EXPECT_EQ(count(ir, "phi <16 x float> [ zeroinitializer"), 4) << ir;
}

TEST(Loops, OfColumnSumsKeepThemInRegisters) {
  std::string ir = emitKernel(R"(
weft.kernel @k(%x: tensor<64x384xf32>) -> tensor<384xf32> columns [64, 384] over [0] inplace [[]] {
  %s = weft.reduce sum %x dims [0] : tensor<64x384xf32>
  weft.yield %s : tensor<384xf32>
})");
  EXPECT_EQ(count(ir, "phi <16 x float> [ %.promoted"), 4) << ir;
}

} // namespace
} // namespace weft
