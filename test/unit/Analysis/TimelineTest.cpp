//===- TimelineTest.cpp - When the commands of a plan run -----------------===//

#include "weft/Analysis/Timeline.h"

#include "weft/Dist/Dist.h"
#include "weft/Weft/Weft.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace weft;

namespace {

/// When the first program of a module ends, in us; -1 after a failure.
double endOf(const std::string &text) {
  MLIRContext context;
  context.loadDialect<WeftDialect, plan::PlanDialect, dist::DistDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  if (!module)
    return -1;
  auto timeline = Timeline::get(*module->getOps<plan::ProgramOp>().begin());
  EXPECT_TRUE(succeeded(timeline)) << text;
  return succeeded(timeline) ? timeline->getEnd() : -1;
}

/// When a program ends that gathers and reduces at a time, 100 us each.
double findEnd(const std::string &speeds, const std::string &gather,
               const std::string &reduction) {
  const std::string text =
      "module attributes {plan.speeds = {gflops = 1.0 : f64" + speeds + R"(}} {
    dist.mesh @mesh("replica" = 2, "shard" = 2)
    plan.event @ready on 0
    plan.event @a on 3
    plan.event @b on 4
    plan.program "eval" @eval {
      %s = plan.alloc temporary : memref<4xf32>
      %f = plan.alloc temporary : memref<8xf32>
      %t = plan.alloc temporary : memref<4xf32>
      %g = plan.alloc temporary : memref<8xf32>
      plan.record @ready
      plan.wait @ready {stream = 3 : i64}
      plan.all_gather %s to %f among 2 along "shard" {est_us = 100.0 : f64, stream = 3 : i64)" +
      gather + R"(} : memref<4xf32> to memref<8xf32>
      plan.record @a {stream = 3 : i64}
      plan.wait @ready {stream = 4 : i64}
      plan.reduce_scatter %g to %t by 2.0, 1.0 among 2 along "replica" {est_us = 100.0 : f64, stream = 4 : i64)" +
      reduction + R"(} : memref<8xf32> to memref<4xf32>
      plan.record @b {stream = 4 : i64}
      plan.wait @a
      plan.wait @b
    }
  })";
  return endOf(text);
}

TEST(Timeline, OneLinkIsShared) {
  const std::string half = ", link_us = 50.0 : f64";
  // Along two axes, and of a cluster over two links.
  EXPECT_DOUBLE_EQ(findEnd("", half, half), 100);
  EXPECT_DOUBLE_EQ(
      findEnd("", half + ", link = \"node\"", half + ", link = \"network\""),
      100);
  // Half of the time over one: latency is not shared.
  EXPECT_DOUBLE_EQ(
      findEnd("", half + ", link = \"node\"", half + ", link = \"node\""), 150);
}

TEST(Timeline, HandingOverAndStandingBesideTakeTime) {
  EXPECT_DOUBLE_EQ(findEnd(", begin_us = 7.0 : f64", "", ""), 107);
  EXPECT_DOUBLE_EQ(findEnd(", beside_us = 30.0 : f64", "", ""), 130);
}

/// When a program ends that computes for 200 us beside a gather that sends for
/// 100 us over a link.
double findEndBeside(const std::string &speeds, const std::string &link) {
  const std::string text =
      "module attributes {plan.speeds = {gflops = 1.0 : f64" + speeds + R"(}} {
    plan.event @a on 3
    plan.program "eval" @eval {
      %s = plan.alloc temporary : memref<4xf32>
      %f = plan.alloc temporary : memref<8xf32>
      %t = plan.alloc temporary : memref<4xf32>
      plan.all_gather %s to %f among 2 {est_us = 100.0 : f64, link_us = 100.0 : f64, stream = 3 : i64)" +
      link + R"(} : memref<4xf32> to memref<8xf32>
      plan.record @a {stream = 3 : i64}
      plan.copy %s to %t {est_us = 200.0 : f64} : memref<4xf32> to memref<4xf32>
      plan.wait @a
    }
  })";
  return endOf(text);
}

// At half speed for 100 us, 50 us of computation are left over.
TEST(Timeline, LinksSlowComputationByTheirOwnNumbers) {
  const std::string inside = ", slows_compute = 0.5 : f64";
  const std::string across = ", slows_compute_across = 0.2 : f64";
  const std::string node = ", link = \"node\"";
  const std::string network = ", link = \"network\"";
  EXPECT_DOUBLE_EQ(findEndBeside("", network), 200);
  EXPECT_DOUBLE_EQ(findEndBeside(inside, node), 250);
  EXPECT_DOUBLE_EQ(findEndBeside(inside, ""), 250);
  EXPECT_DOUBLE_EQ(findEndBeside(inside, network), 250);
  EXPECT_DOUBLE_EQ(findEndBeside(inside + across, node), 250);
  EXPECT_DOUBLE_EQ(findEndBeside(inside + across, network), 220);
  EXPECT_DOUBLE_EQ(findEndBeside(across, node), 200);
  EXPECT_DOUBLE_EQ(
      findEndBeside(inside + ", slows_compute_across = 0.0 : f64", network),
      200);
}

// A wait for nothing would take no time.
TEST(Timeline, WaitsForARecordOfItsProgram) {
  MLIRContext context;
  context.loadDialect<WeftDialect, plan::PlanDialect, dist::DistDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"(plan.event @ready on 0
         plan.program "eval" @eval {
           plan.wait @ready {stream = 3 : i64}
         })",
      &context);
  ASSERT_TRUE(module);
  std::string errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str();
    return success();
  });
  EXPECT_TRUE(
      failed(Timeline::get(*module->getOps<plan::ProgramOp>().begin())));
  EXPECT_EQ(errors, "'plan.wait' op expects a record of @ready in its "
                    "program, but got none");
}

} // namespace
