//===- SiblingTest.cpp - Kernels that read the same values ----------------===//
//
// Two ops that read one value are one kernel if little happens between them.
//
//===----------------------------------------------------------------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace weft;

namespace {

const std::string kBig = "tensor<64x128xf32>", kSmall = "tensor<4x4xf32>";

/// exp and log of one value, with `count` ops of type `type` in between.
std::string getProgram(const std::string &op, const std::string &type,
                       int count) {
  std::string body, names, types, results;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    body += "%v" + number + " = " + op + "\n";
    names += "%v" + number + ", ";
    types += type + ", ";
    results += type + " {weft.output = \"v" + number + "\"}, ";
  }
  return "weft.program @eval(%x: " + kBig +
         " {weft.input = \"x\"}, %w: " + kSmall +
         " {weft.input = \"w\"}) -> (" + results + kBig +
         " {weft.output = \"y\"}, " + kBig +
         " {weft.output = \"z\"}) attributes {kind = #weft.kind<eval>} {\n" +
         "%y = weft.exp %x : " + kBig + "\n" + body +
         "%z = weft.log %x : " + kBig + "\nweft.return " + names +
         "%y, %z : " + types + kBig + ", " + kBig + "\n}\n";
}

int countKernels(const std::string &text) {
  MLIRContext context;
  DialectRegistry registry;
  registry.insert<WeftDialect>();
  registerFusionModels(registry);
  context.appendDialectRegistry(registry);
  auto module = parseSourceString<ModuleOp>(text, &context);
  PassManager manager(&context);
  manager.addNestedPass<ProgramOp>(createDecomposePass());
  manager.addPass(createFusePass());
  if (!module || failed(manager.run(*module)))
    return -1;
  auto kernels = module->getOps<KernelOp>();
  return std::distance(kernels.begin(), kernels.end());
}

TEST(Siblings, NamesAndConstantsAreNoDistance) {
  EXPECT_EQ(countKernels(getProgram("weft.constant dense<1.0> : " + kSmall,
                                    kSmall, 200)),
            1);
  EXPECT_EQ(countKernels(
                getProgram("weft.reshape %w : " + kSmall + " to tensor<16xf32>",
                           "tensor<16xf32>", 200)),
            1);
}

TEST(Siblings, OpsThatDoWorkAre) {
  const std::string product = "weft.matmul %w, %w : " + kSmall + ", " + kSmall;
  EXPECT_EQ(countKernels(getProgram(product, kSmall, 62)), 1);
  EXPECT_EQ(countKernels(getProgram(product, kSmall, 63)), 2);
}

} // namespace
