//===- VerifyPlanTest.cpp - verify-plan catches every broken offset -------===//

#include "weft/Analysis/Liveness.h"
#include "weft/Memory/Passes.h"
#include "weft/Plan/Plan.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace weft;

namespace {

class VerifyPlanTest : public ::testing::Test {
protected:
  VerifyPlanTest() { context.loadDialect<plan::PlanDialect>(); }

  bool run(ModuleOp module, std::unique_ptr<Pass> pass) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    PassManager manager(&context);
    manager.addPass(std::move(pass));
    return succeeded(manager.run(module));
  }

  MLIRContext context;
};

/// A program of copies between random buffers; each reads what was written.
std::string makeProgram(std::mt19937 &random) {
  std::string text = "plan.state param @w : memref<64xf32>\n"
                     "plan.program \"micro\" @p {\n"
                     "%w = plan.use @w : memref<64xf32>\n"
                     "%x = plan.input \"x\" : memref<64xf32>\n";
  std::string commands;
  std::vector<std::string> written = {"%w", "%x"};
  for (int i = 0; i < 12; ++i) {
    std::string name = "%b" + std::to_string(i);
    text += name + " = plan.alloc temporary : memref<64xf32>\n";
    const std::string &from =
        written[written.size() - 1 -
                random() % std::min<size_t>(5, written.size())];
    commands += "plan.copy " + from + " to " + name +
                " : memref<64xf32> to memref<64xf32>\n";
    written.push_back(name);
  }
  return text + commands + "plan.output \"y\" " + written.back() +
         " : memref<64xf32>\n}\n";
}

TEST_F(VerifyPlanTest, CatchesEveryOverlapOfLiveBuffers) {
  std::mt19937 random(3);
  int mutations = 0, shared = 0;
  for (int i = 0; i < 20; ++i) {
    auto module = parseSourceString<ModuleOp>(makeProgram(random), &context);
    ASSERT_TRUE(run(*module, createPlanMemoryPass()));
    ASSERT_TRUE(run(*module, createVerifyPlanPass()));
    plan::ProgramOp program = *module->getOps<plan::ProgramOp>().begin();
    Liveness liveness = computeLiveness(program);
    for (const BufferLifetime &a : liveness.buffers)
      for (const BufferLifetime &b : liveness.buffers) {
        if (a.root == b.root)
          continue;
        int64_t offset = *plan::getRootOffset(a.root);
        shared += offset == *plan::getRootOffset(b.root);
        // A buffer without a reader may die where another one is written.
        if (!a.interferes(b) || a.begin == a.end || b.begin == b.end)
          continue;
        plan::setRootOffset(a.root, *plan::getRootOffset(b.root));
        EXPECT_FALSE(run(*module, createVerifyPlanPass()));
        plan::setRootOffset(a.root, offset);
        ++mutations;
      }
    EXPECT_TRUE(run(*module, createVerifyPlanPass()));
  }
  EXPECT_GT(mutations, 200);
  EXPECT_GT(shared, 200);
}

} // namespace
