//===- ExtensionTest.cpp - An op of another dialect, piece by piece -------===//
//
// A view and an op with a command of its own run through the whole compiler,
// which has never heard of them. Each piece that is left out is an error at the
// op's line.
//
//===----------------------------------------------------------------------===//

#include "Extension.h"

#include "weft/Autodiff/FiniteDifference.h"

using namespace mlir;
using namespace weft;
using namespace weft::test;

namespace {

std::string replace(std::string text, StringRef from, StringRef to) {
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  return text.replace(at, from.size(), to.str());
}

//===----------------------------------------------------------------------===//
// With all pieces
//===----------------------------------------------------------------------===//

TEST_F(ExtensionTest, GradientsAreThoseOfDifferences) {
  parse(kModel);
  FailureOr<GradientCheck> check = checkGradients(*module);
  ASSERT_TRUE(succeeded(check)) << errors;
  EXPECT_TRUE(check->isEqual()) << gradientTable(*check);
  ASSERT_EQ(check->parameters.size(), 1u);
  EXPECT_GT(check->parameters[0].norm, 0);
}

TEST_F(ExtensionTest, ThePlanComputesWhatTheGraphComputes) {
  parse(kModel);
  ASSERT_TRUE(run(kGraph)) << errors;
  OwningOpRef<ModuleOp> graph = module->clone();
  for (StringRef passes : {kKernels, kPlan, kMemory}) {
    ASSERT_TRUE(run(passes)) << errors;
    CompareOptions options;
    options.mode = ComputeMode::F32;
    options.tolerance = 0;
    FailureOr<Comparison> comparison = compareModules(*graph, *module, options);
    ASSERT_TRUE(succeeded(comparison)) << errors;
    EXPECT_TRUE(comparison->isEqual()) << comparisonTable(*comparison);
  }
}

/// The command reads the rows where they lie, in the bytes of the parameter.
TEST_F(ExtensionTest, TheViewIsNoCopy) {
  parse(kModel);
  ASSERT_TRUE(runAll({kGraph, kKernels, kPlan})) << errors;
  auto program = module->lookupSymbol<plan::ProgramOp>("eval");
  ASSERT_TRUE(program);
  EXPECT_TRUE(program.getBody().front().getOps<plan::CopyOp>().empty());
  auto commands = program.getBody().front().getOps<RunScaleAddOp>();
  ASSERT_FALSE(commands.empty());
  RunScaleAddOp command = *commands.begin();
  EXPECT_TRUE(plan::getRoot(command.getA()).getDefiningOp<plan::UseOp>());
  Layout layout = Layout::get(cast<MemRefType>(command.getA().getType()));
  EXPECT_EQ(layout.strides[0], 6);
  EXPECT_EQ(command.getScope(), "sum");
  EXPECT_TRUE(command.getEstUs());
}

/// Results are written over an operand that dies, and in their part of a
/// concatenation.
TEST_F(ExtensionTest, ResultsLieWhereTheyAreWanted) {
  parse(R"(
weft.program @eval(%x: tensor<4x3xf32> {weft.input = "x"}) -> (tensor<4x3xf32> {weft.output = "y"}, tensor<8x3xf32> {weft.output = "p"}) attributes {kind = #weft.kind<eval>} {
  %a = test.scale_add %x, %x {scale = 0.5 : f64} : tensor<4x3xf32>
  %y = test.scale_add %x, %a {scale = 2.0 : f64} : tensor<4x3xf32>
  %b = test.scale_add %x, %x {scale = 3.0 : f64} : tensor<4x3xf32>
  %c = test.scale_add %x, %x {scale = 4.0 : f64} : tensor<4x3xf32>
  %p = weft.concat %b, %c {dim = 0} : tensor<4x3xf32>, tensor<4x3xf32>
  weft.return %y, %p : tensor<4x3xf32>, tensor<8x3xf32>
})");
  OwningOpRef<ModuleOp> graph = module->clone();
  ASSERT_TRUE(runAll({StringRef("weft-select-kernels"), StringRef(kPlan)}))
      << errors;
  auto program = module->lookupSymbol<plan::ProgramOp>("eval");
  Block &body = program.getBody().front();
  EXPECT_TRUE(body.getOps<plan::CopyOp>().empty());
  SmallVector<RunScaleAddOp> commands(body.getOps<RunScaleAddOp>());
  ASSERT_EQ(commands.size(), 4u);
  EXPECT_EQ(commands[1].getTarget(), commands[1].getB());
  EXPECT_EQ(plan::getRoot(commands[2].getTarget()),
            plan::getRoot(commands[3].getTarget()));
  FailureOr<Comparison> comparison = compareModules(*graph, *module, {});
  ASSERT_TRUE(succeeded(comparison)) << errors;
  EXPECT_TRUE(comparison->isEqual()) << comparisonTable(*comparison);
}

TEST_F(ExtensionTest, TheObjectNamesTheRoutine) {
  parse(kModel);
  ASSERT_TRUE(runAll({kGraph, kKernels, kPlan, kMemory, kCode})) << errors;
  std::string problem;
  FailureOr<CpuTarget> target = CpuTarget::parse("cpu:x86-64-v3", problem);
  ASSERT_TRUE(succeeded(target)) << problem;
  FailureOr<std::vector<char>> object = emitObject(*module, *target);
  ASSERT_TRUE(succeeded(object)) << errors;
  std::string bytes(object->begin(), object->end());
  EXPECT_NE(bytes.find("test_cpu_scale_add"), std::string::npos);
  EXPECT_NE(bytes.find("weft_tables"), std::string::npos);
}

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

TEST_F(ExtensionTest, ThePlanIsText) {
  parse(kModel);
  ASSERT_TRUE(runAll({kGraph, kKernels, kPlan, kMemory})) << errors;
  std::string text = print(*module);
  EXPECT_NE(text.find("test.run_scale_add"), std::string::npos);
  auto again = parseSourceString<ModuleOp>(text, context.get());
  ASSERT_TRUE(again) << errors;
  EXPECT_EQ(print(*again), text);
}

/// test.scale_add has the policy f32, test.stride the policy to follow.
TEST_F(ExtensionTest, MixedPrecisionAsksForThePolicy) {
  parse(kModel);
  ASSERT_TRUE(runAll({"weft-autocast{dtype=bf16}", kGraph, kKernels, kPlan}))
      << errors;
}

TEST_F(ExtensionTest, ElementTypesAreAskedFor) {
  parse(replace(kModel, "%t = weft.tanh %y", R"(
  %h = weft.cast %x : tensor<4x3xf32> to tensor<4x3xbf16>
  %z = test.scale_add %h, %h {scale = 0.5 : f64} : tensor<4x3xbf16>
  %c = weft.cast %z : tensor<4x3xbf16> to tensor<4x3xf32>
  %d = weft.add %c, %y : tensor<4x3xf32>, tensor<4x3xf32>
  %t = weft.tanh %d)"));
  expectError({kGraph, kKernels},
              "9: 'test.scale_add' op does not support 'bf16' on the CPU yet; "
              "cast to f32 before it");
}

//===----------------------------------------------------------------------===//
// With one left out
//===----------------------------------------------------------------------===//

TEST_F(ExtensionTest, WithoutViewInterface) {
  parse(replace(kModel, "test.stride", "test.bare_stride"));
  expectError({"weft-derive-programs", kKernels},
              "5: 'test.bare_stride' op expects a view, a formula or a command "
              "that runs it, but got none");
}

TEST_F(ExtensionTest, WithoutDestinationInterface) {
  parse(replace(kModel, "test.scale_add", "test.bare_scale_add"));
  expectError({"weft-derive-programs", kKernels, kPlan},
              "6: 'test.bare_scale_add' op expects to say where it can write "
              "(DestinationOpInterface), but does not");
}

TEST_F(ExtensionTest, WithoutCastPolicy) {
  parse(replace(kModel, "test.scale_add", "test.bare_scale_add"));
  expectError({"weft-autocast{dtype=bf16}"},
              "6: 'test.bare_scale_add' op expects an op with a cast policy in "
              "a model, but this one has none");
}

TEST_F(ExtensionTest, WithoutCommand) {
  Pieces pieces;
  pieces.sources = false;
  parse(kModel, pieces);
  expectError({kGraph, kKernels},
              "6: 'test.scale_add' op expects a command that runs it "
              "(Weft_RunsAs, or CommandSourceOpInterface in another dialect), "
              "but there is none");
}

/// A routine of the library runs no op that names no command.
TEST_F(ExtensionTest, WithARoutineWithoutCommand) {
  Pieces pieces;
  pieces.sources = false;
  parse(kModel, pieces);
  expectError({kGraph, "weft-select-kernels{library=test}"},
              "6: 'test.scale_add' op expects a command that runs it "
              "(Weft_RunsAs, or CommandSourceOpInterface in another dialect), "
              "but there is none");
}

TEST_F(ExtensionTest, WithoutARoutineOfTheLibrary) {
  parse(replace(kModel, "test.scale_add", "test.kind_scale_add"));
  expectError(
      {"weft-derive-programs", kKernels},
      "6: 'test.kind_scale_add' op expects a routine of the CPU for its "
      "command scale_add (KernelLibrary), but there is none");
}

TEST_F(ExtensionTest, WithoutLowering) {
  parse(replace(kModel, "test.scale_add", "test.kind_scale_add"));
  expectError({"weft-derive-programs",
               "weft-select-kernels{library=test},weft.program(weft-decompose),"
               "weft-fuse",
               kPlan},
              "6: 'test.kind_scale_add' op expects a lowering to its command "
              "scale_add (weft-lower-to-plan), but there is none");
}

TEST_F(ExtensionTest, WithACommandThatIsNone) {
  Pieces pieces;
  pieces.makesNoCommand = true;
  parse(kModel, pieces);
  expectError({kGraph, kKernels, kPlan},
              "6: 'test.scale_add' op expects its command to be one of a plan "
              "(CommandOpInterface), but got plan.output");
}

TEST_F(ExtensionTest, WithoutCost) {
  Pieces pieces;
  pieces.costs = false;
  parse(kModel, pieces);
  expectError({kGraph, kKernels, kPlan},
              "6: 'test.scale_add' op expects an op with a cost "
              "(CostOpInterface) to become a command, but got one without");
}

TEST_F(ExtensionTest, WithACommandThatCouldAdd) {
  parse(replace(kModel, "test.scale_add", "test.adding_scale_add"));
  expectError({"weft-derive-programs", kKernels, kPlan},
              "6: 'test.adding_scale_add' op does not support canAccumulate "
              "with a command of another dialect yet; leave the answer out");
}

TEST_F(ExtensionTest, WithoutRules) {
  Pieces pieces;
  pieces.rules = false;
  parse(kModel, pieces);
  expectError({kGraph}, "6: 'test.scale_add' op expects an op with an adjoint, "
                        "but got a gradient for an op without one");
}

TEST_F(ExtensionTest, WithoutFunctions) {
  Pieces pieces;
  pieces.functions = false;
  parse(kModel, pieces);
  ASSERT_TRUE(run(kGraph)) << errors;
  OwningOpRef<ModuleOp> graph = module->clone();
  EXPECT_TRUE(failed(compareModules(*graph, *module, {})));
  EXPECT_EQ(errors, "5: 'test.stride' op expects a function of the interpreter "
                    "(InterpretedOpInterface), but there is none");
}

TEST_F(ExtensionTest, WithoutRoutine) {
  Pieces pieces;
  pieces.routines = false;
  parse(kModel, pieces);
  expectError(
      {kGraph, kKernels, kPlan, kMemory},
      "6: 'test.run_scale_add' op expects a routine that runs it on the "
      "CPU (RoutineOpInterface), but there is none");
}

TEST_F(ExtensionTest, WithARoutineWithoutAName) {
  Pieces pieces;
  pieces.hidesRoutine = true;
  parse(kModel, pieces);
  expectError(
      {kGraph, kKernels, kPlan, kMemory},
      "6: 'test.run_scale_add' op expects its model for the CPU to name "
      "a routine (getRoutine), but got none");
}

} // namespace
