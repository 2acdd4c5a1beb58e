//===- CommandNamesTest.cpp - Names of commands for people ----------------===//

#include "weft/Analysis/CommandNames.h"

#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace weft;

namespace {

/// The names of the commands of a program, one behind the other.
std::string nameCommands(StringRef body) {
  MLIRContext context;
  context.loadDialect<WeftDialect, plan::PlanDialect>();
  std::string text = "plan.program \"micro\" @micro {\n" + body.str() + "\n}\n";
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "";
  CommandNames names(*module);
  std::string all;
  module->walk([&](plan::CommandOpInterface command) {
    all += names.getName(command) + "\n";
  });
  return all;
}

/// By its factors and its target, whatever stands around it.
TEST(CommandNamesTest, NamesAProduct) {
  EXPECT_EQ(nameCommands(R"(
    %x = plan.alloc temporary : memref<8x4xbf16>
    %w = plan.alloc temporary : memref<3x4xbf16>
    %y = plan.alloc temporary : memref<8x3xbf16>
    %z = plan.alloc temporary : memref<8x3xf32>
    %s = plan.alloc temporary : memref<8x3xf32>
    %c = plan.alloc temporary : memref<3xf32>
    plan.gemm %x * %w transposed -> %y epilogue gelu aux(%s : memref<8x3xf32>) : memref<8x4xbf16> * memref<3x4xbf16> -> memref<8x3xbf16>
    plan.gemm %x * %w transposed -> %y epilogue gelu_grad aux(%s : memref<8x3xf32>) column_sum(%c : memref<3xf32>) : memref<8x4xbf16> * memref<3x4xbf16> -> memref<8x3xbf16>
    plan.gemm %x * %w transposed -> %z : memref<8x4xbf16> * memref<3x4xbf16> -> memref<8x3xf32>)"),
            "gemm 8x3 by 4 bf16\ngemm 8x3 by 4 bf16\n"
            "gemm 8x3 by 4 bf16->f32\n");
}

} // namespace
