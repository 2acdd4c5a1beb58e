//===- LivenessTest.cpp - Lifetimes, peaks and costs ----------------------===//

#include "weft/Analysis/Liveness.h"
#include "weft/Analysis/Cost.h"
#include "weft/Analysis/CostKinds.h"
#include "weft/Plan/Plan.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace weft;

namespace {

class LivenessTest : public ::testing::Test {
protected:
  LivenessTest() { context.loadDialect<plan::PlanDialect>(); }

  plan::ProgramOp parse(const std::string &body) {
    module = parseSourceString<ModuleOp>("plan.state param @w : memref<4xf32>\n"
                                         "plan.program \"eval\" @p {\n" +
                                             body + "}\n",
                                         &context);
    return *module->getOps<plan::ProgramOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(LivenessTest, CountsFromFirstToLastUse) {
  Liveness liveness = computeLiveness(parse(R"(
    %x = plan.input "x" : memref<4xf32>
    %w = plan.use @w : memref<4xf32>
    %a = plan.alloc temporary : memref<4xf32>
    %b = plan.alloc temporary : memref<4xf32>
    %unused = plan.alloc temporary : memref<4xf32>
    plan.copy %w to %a : memref<4xf32> to memref<4xf32>
    plan.copy %x to %a : memref<4xf32> to memref<4xf32>
    plan.copy %a to %b : memref<4xf32> to memref<4xf32>
    plan.output "b" %b : memref<4xf32>
  )"));
  ASSERT_EQ(liveness.buffers.size(), 4u);
  ASSERT_EQ(liveness.commands.size(), 3u);
  auto range = [&](int i) {
    return std::make_pair(liveness.buffers[i].begin, liveness.buffers[i].end);
  };
  EXPECT_EQ(range(0), std::make_pair(int64_t(-1), int64_t(1)));
  EXPECT_EQ(range(1), std::make_pair(int64_t(0), int64_t(2)));
  EXPECT_EQ(range(2), std::make_pair(int64_t(2), int64_t(3)));
  EXPECT_LT(liveness.buffers[3].end, liveness.buffers[3].begin);
  EXPECT_FALSE(liveness.buffers[0].interferes(liveness.buffers[2]));
  EXPECT_TRUE(liveness.buffers[1].interferes(liveness.buffers[2]));
  EXPECT_FALSE(liveness.buffers[3].interferes(liveness.buffers[1]));
}

TEST_F(LivenessTest, SeesUsesThroughViews) {
  Liveness liveness = computeLiveness(parse(R"(
    %a = plan.alloc temporary : memref<4xf32>
    %v = plan.view %a : memref<4xf32> to memref<2x2xf32>
    %b = plan.alloc temporary : memref<2x2xf32>
    plan.constant %a = dense<0.0> : tensor<4xf32> : memref<4xf32>
    plan.constant %b = dense<0.0> : tensor<2x2xf32> : memref<2x2xf32>
    plan.copy %v to %b : memref<2x2xf32> to memref<2x2xf32>
  )"));
  EXPECT_EQ(liveness.buffers[0].begin, 0);
  EXPECT_EQ(liveness.buffers[0].end, 2);
}

TEST_F(LivenessTest, FindsTheFirstPeak) {
  plan::ProgramOp program = parse(R"(
    %a = plan.alloc temporary : memref<4xf32>
    %b = plan.alloc temporary : memref<100xf32>
    %c = plan.alloc temporary : memref<4xf32>
    plan.constant %a = dense<0.0> : tensor<4xf32> : memref<4xf32>
    plan.constant %b = dense<0.0> : tensor<100xf32> : memref<100xf32>
    plan.copy %a to %c : memref<4xf32> to memref<4xf32>
    plan.output "b" %b : memref<100xf32>
  )");
  Liveness exact = computeLiveness(program);
  EXPECT_EQ(exact.peakPosition, 2);
  EXPECT_EQ(exact.peakBytes, 16 + 400 + 16);
  EXPECT_EQ(computeLiveness(program, 64).peakBytes, 64 + 448 + 64);
}

TEST_F(LivenessTest, TakesTheLongerOfArithmeticAndTraffic) {
  plan::ProgramOp program = parse(R"(
    %a = plan.alloc temporary : memref<1000xf32>
    %x = plan.alloc temporary : memref<25x10xf32>
    %y = plan.alloc temporary : memref<10x25xf32>
    %z = plan.alloc temporary : memref<25x25xf32>
    plan.constant %a = dense<0.0> : tensor<1000xf32> {flops = 100} : memref<1000xf32>
    plan.constant %a = dense<0.0> : tensor<1000xf32> {flops = 9000} : memref<1000xf32>
    plan.gemm %x * %y -> %z accumulate : memref<25x10xf32> * memref<10x25xf32> -> memref<25x25xf32>
  )");
  CostKinds kinds(*module);
  CostTable costs;
  costs.parts[""] = {/*gflops=*/1, /*gigabytesPerSecond=*/1, /*overheadUs=*/2};
  std::vector<double> times;
  for (Operation &op : program.getBody().front())
    if (auto command = dyn_cast<plan::CommandOpInterface>(op))
      times.push_back(estimate(command, costs, kinds).all);
  EXPECT_EQ(times, (std::vector<double>{2 + 4, 2 + 9, 2 + 7}));
}

} // namespace
