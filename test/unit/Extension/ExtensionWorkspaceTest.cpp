//===- ExtensionWorkspaceTest.cpp - Workspaces of other dialects --------===//
//
// The model of a command for the CPU says how many bytes, or nothing.
//
//===----------------------------------------------------------------------===//

#include "Extension.h"

using namespace mlir;
using namespace weft;
using namespace weft::test;

namespace {

constexpr const char *kThreeThreads =
    "weft-add-workspaces{threads=3},weft-plan-memory,weft-verify-plan";

RunScaleAddOp findCommand(ModuleOp module) {
  auto program = module.lookupSymbol<plan::ProgramOp>("eval");
  auto commands = program.getBody().front().getOps<RunScaleAddOp>();
  return commands.empty() ? RunScaleAddOp() : *commands.begin();
}

Pieces withWorkspace() {
  Pieces pieces;
  pieces.workspace = Pieces::HundredPerRow;
  return pieces;
}

TEST_F(ExtensionTest, WorkspacesAreThoseOfTheModel) {
  parse(kModel, withWorkspace());
  ASSERT_TRUE(run(kGraph)) << errors;
  OwningOpRef<ModuleOp> graph = module->clone();
  ASSERT_TRUE(runAll({kKernels, kPlan, kThreeThreads})) << errors;
  RunScaleAddOp command = findCommand(*module);
  ASSERT_TRUE(command && command.getWorkspace());
  EXPECT_EQ(cast<MemRefType>(command.getWorkspace().getType()).getShape(),
            ArrayRef<int64_t>{100 * 4 * 3});
  EXPECT_TRUE(plan::getByteOffset(command.getWorkspace()));
  FailureOr<Comparison> comparison = compareModules(*graph, *module, {});
  ASSERT_TRUE(succeeded(comparison)) << errors;
  EXPECT_TRUE(comparison->isEqual()) << comparisonTable(*comparison);
}

TEST_F(ExtensionTest, AModelThatSaysNothingNeedsNoWorkspace) {
  parse(kModel);
  ASSERT_TRUE(runAll({kGraph, kKernels, kPlan, kThreeThreads})) << errors;
  RunScaleAddOp command = findCommand(*module);
  ASSERT_TRUE(command);
  EXPECT_FALSE(command.getWorkspace());
}

/// Emission asks the model again, for the threads of the program.
TEST_F(ExtensionTest, WithAWorkspaceForFewerThreads) {
  parse(kModel, withWorkspace());
  ASSERT_TRUE(runAll({kGraph, kKernels, kPlan, kThreeThreads, kCode}))
      << errors;
  std::string problem;
  FailureOr<CpuTarget> target = CpuTarget::parse("cpu:x86-64-v3", problem);
  ASSERT_TRUE(succeeded(target)) << problem;
  ASSERT_TRUE(succeeded(emitObject(*module, *target))) << errors;
  (*module)->setAttr(plan::PlanDialect::kMaxThreadsAttr,
                     Builder(context.get()).getI64IntegerAttr(4));
  EXPECT_TRUE(failed(emitObject(*module, *target)));
  EXPECT_EQ(errors, "6: 'test.run_scale_add' op expects a workspace of at "
                    "least 1600 bytes for 4 threads (weft-add-workspaces), but "
                    "got 1200");
}

TEST_F(ExtensionTest, WithAWorkspaceOfLessThanNothing) {
  Pieces pieces;
  pieces.workspace = Pieces::LessThanNothing;
  parse(kModel, pieces);
  expectError({kGraph, kKernels, kPlan, kThreeThreads},
              "6: 'test.run_scale_add' op expects its model for the CPU to ask "
              "for a workspace of at least 0 bytes, but got -12");
}

/// A plan whose third line is `command`, on a buffer of each kind.
std::string planOf(const std::string &command) {
  return "plan.program \"eval\" @eval {\n  %w = plan.alloc workspace : "
         "memref<64xi8> %x = plan.alloc temporary : memref<4xf32>\n  " +
         command + "\n}";
}

TEST_F(ExtensionTest, WithoutAnOperandForTheWorkspace) {
  parse(planOf(R"("test.run_bare"(%x) : (memref<4xf32>) -> ())"));
  expectError({kThreeThreads},
              "3: 'test.run_bare' op expects an operand for a workspace of 24 "
              "bytes, which test_cpu_bare needs, but has none");
}

TEST_F(ExtensionTest, WithAWorkspaceThatIsNone) {
  const std::pair<const char *, const char *> cases[] = {
      {R"("test.run_odd"(%x) : (memref<4xf32>) -> ())",
       "expects a workspace of i8, but got 'memref<4xf32>'"},
      {R"("test.run_odd"(%w, %x) : (memref<64xi8>, memref<4xf32>) -> ())",
       "expects its workspace after all other operands, but got "
       "'memref<4xf32>' there"},
      {R"("test.run_odd"(%w) : (memref<64xi8>) -> ())",
       "expects to write its workspace, but got read"}};
  for (auto [command, error] : cases) {
    errors.clear();
    expectNoModule(planOf(command));
    EXPECT_EQ(errors, "3: 'test.run_odd' op " + std::string(error));
  }
}

TEST_F(ExtensionTest, WithoutAnEffect) {
  expectNoModule(planOf(R"("test.run_silent"(%x) : (memref<4xf32>) -> ())"));
  EXPECT_EQ(errors, "3: 'test.run_silent' op expects a memory effect on each "
                    "operand, but operand 0 has none");
}

} // namespace
