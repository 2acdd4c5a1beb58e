//===- MemoryReportTest.cpp - The memory of a program, by use -------------===//

#include "weft/Memory/MemoryReport.h"

#include "weft/Memory/Passes.h"
#include "weft/Plan/Plan.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace weft;

namespace {

constexpr const char *kModule = R"(
module attributes {plan.max_threads = 3 : i64} {
  plan.state param @w : memref<256xf32>
  plan.state gradient @w.grad : memref<256xf32> {param = @w}
  plan.state optimizer @w.m : memref<512xf32> {param = @w}
  plan.program "micro" @micro {
    %w = plan.use @w : memref<256xf32>
    %x = plan.input "x" : memref<16xf32>
    %a = plan.alloc activation : memref<256xf32> loc("/models/net.mlir":7:3)
    %b = plan.alloc temporary : memref<128xf32>
    %t = plan.view %a : memref<256xf32> to memref<16x16xf32>
    %r = plan.view %x : memref<16xf32> to memref<1x16xf32>
    %s = plan.view %b : memref<128xf32> to memref<1x16xf32>
    %ws = plan.alloc workspace : memref<640xi8>
    plan.copy %w to %a {scope = "h.0"} : memref<256xf32> to memref<256xf32>
    plan.gemm %r * %t -> %s workspace(%ws : memref<640xi8>) {scope = "h.1"} : memref<1x16xf32> * memref<16x16xf32> -> memref<1x16xf32> loc("/models/net.mlir":9:5)
    plan.output "b" %b : memref<128xf32>
  }
  plan.program "eval" @eval {
    %x = plan.input "x" : memref<32xf32>
    plan.output "y" %x : memref<32xf32>
  }
})";

class MemoryReportTest : public ::testing::Test {
protected:
  MemoryReportTest() {
    context.loadDialect<plan::PlanDialect>();
    module = parseSourceString<ModuleOp>(kModule, &context);
    PassManager manager(&context);
    manager.addPass(createPlanMemoryPass());
    EXPECT_TRUE(succeeded(manager.run(*module)));
    report = computeMemoryReport(*module);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  MemoryReport report;
};

TEST_F(MemoryReportTest, AddsUpToTheArena) {
  EXPECT_EQ(report.parameters, 1024);
  EXPECT_EQ(report.gradients, 1024);
  EXPECT_EQ(report.optimizerState, 2048);
  EXPECT_EQ(report.activations, 1024);
  EXPECT_EQ(report.temporaries, 512);
  EXPECT_EQ(report.inputs, 64);
  EXPECT_EQ(report.workspaces, 640);
  EXPECT_EQ(report.maxThreads, 3);
  EXPECT_EQ(report.persistentBytes, 4096);
  EXPECT_EQ(report.lowerBound, 1600 + 640);
  EXPECT_EQ(report.arenaBytes, 4096 + 1600 + 640);
}

TEST_F(MemoryReportTest, NamesThePeakAndTheLargest) {
  EXPECT_EQ(report.peak.program, "micro");
  EXPECT_EQ(report.peak.routine, "gemm");
  EXPECT_EQ(report.peak.scope, "h.1");
  // Never a folder: executables do not depend on where a model lies.
  EXPECT_EQ(report.peak.location, "net.mlir:9");
  ASSERT_EQ(report.largest.size(), 4u);
  EXPECT_EQ(report.largest[0].bytes, 1024);
  EXPECT_EQ(report.largest[0].role, "activation");
  EXPECT_EQ(report.largest[0].scope, "h.0");
  EXPECT_EQ(report.largest[0].location, "net.mlir:7");
  EXPECT_EQ(report.largest[0].writer, "copy");
  EXPECT_EQ(report.largest[0].writerName, "copy 256 f32");
  EXPECT_EQ(report.largest[1].role, "workspace");
  EXPECT_EQ(report.largest[1].bytes, 640);
  ASSERT_EQ(report.programs.size(), 2u);
  EXPECT_EQ(report.programs[1].name, "eval");
  EXPECT_EQ(report.programs[1].transientBytes, 128);
}

TEST_F(MemoryReportTest, RendersTextAndJson) {
  std::string text = report.toText();
  EXPECT_NE(text.find("workspaces of 3 threads"), std::string::npos);
  EXPECT_NE(text.find("6.19 KiB"), std::string::npos) << text; // the arena
  EXPECT_NE(text.find("peak at gemm 1x16 by 16 f32 in micro, h.1 (net.mlir:9)"),
            std::string::npos)
      << text;
  llvm::json::Object json = report.toJson();
  EXPECT_EQ(json.getInteger("workspaces"), 640);
  EXPECT_EQ(json.getInteger("max_threads"), 3);
  EXPECT_EQ(json.getInteger("activations"), 1024);
  EXPECT_EQ(json.getArray("largest")->size(), 4u);
  EXPECT_EQ(json.getObject("peak")->getString("program"), "micro");
}

} // namespace
