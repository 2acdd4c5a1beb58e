//===- InterpreterTest.cpp - Programs and single ops ----------------------===//

#include "weft/Dist/Dist.h"
#include "weft/Interp/Interp.h"
#include "weft/Plan/Plan.h"
#include "weft/Plan/Transfers.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace weft;

namespace {

const char *const text = R"(
weft.param @w : tensor<2xf32> {init = #weft.init<ones>}
weft.param @same : tensor<2xf32> {tie = @w}
weft.state @sum : tensor<2xf32> {kind = #weft.state_kind<gradient>}
weft.program @micro(%x: tensor<2xf32> {weft.input = "x"})
    -> (tensor<2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<2xf32>
  %y = weft.mul %x, %w : tensor<2xf32>, tensor<2xf32>
  %old = weft.read @sum : tensor<2xf32>
  %new = weft.add %old, %y : tensor<2xf32>, tensor<2xf32>
  weft.return %y : tensor<2xf32> writes @sum = %new : tensor<2xf32>
}
weft.program @fails() attributes {kind = #weft.kind<eval>} {
  %two = weft.constant dense<2.0> : tensor<2xf32>
  %zero = weft.constant dense<0> : tensor<i32>
  %bad = weft.div %zero, %zero : tensor<i32>, tensor<i32>
  weft.return writes @sum = %two : tensor<2xf32>
}
)";

class InterpreterTest : public testing::Test {
protected:
  InterpreterTest() {
    mlir::DialectRegistry registry;
    registry.insert<WeftDialect, dist::DistDialect, plan::PlanDialect>();
    registerInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    // Keeps the last message instead of printing it.
    context.getDiagEngine().registerHandler(
        [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string message;
};

TEST_F(InterpreterTest, RunsAndKeepsWrites) {
  Interpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initialize(0)));
  TensorMap inputs = {{"x", Tensor::floats({2}, {3, 0.25}, ElementKind::F64)}};
  for (int i = 0; i < 2; ++i) {
    auto outputs = interpreter.run("micro", inputs);
    ASSERT_TRUE(succeeded(outputs));
    EXPECT_EQ(outputs->at("y").floatValues(), (std::vector<double>{3, 0.25}));
  }
  EXPECT_EQ(interpreter.findState("sum")->floatValues(),
            (std::vector<double>{6, 0.5}));
}

TEST_F(InterpreterTest, SetsTheTensorThatATieShares) {
  Interpreter interpreter(*module);
  EXPECT_EQ(interpreter.findState("w"), nullptr);
  ASSERT_TRUE(
      succeeded(interpreter.setState("same", Tensor::floats({2}, {4, 5}))));
  EXPECT_EQ(interpreter.findState("w")->at(1), 5);
  EXPECT_EQ(interpreter.findState("same"), interpreter.findState("w"));
  EXPECT_TRUE(failed(interpreter.setState("nothing", Tensor())));
  EXPECT_EQ(message,
            "expects a parameter or state, but there is no '@nothing'");
}

TEST_F(InterpreterTest, WritesNothingWhenAProgramFails) {
  Interpreter interpreter(*module);
  EXPECT_TRUE(failed(interpreter.run("fails", {})));
  EXPECT_EQ(interpreter.findState("sum")->at(0), 0);
}

TEST_F(InterpreterTest, WantsExactlyTheNamedInputs) {
  Interpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initialize(0)));
  EXPECT_TRUE(failed(interpreter.run("micro", {})));
  EXPECT_EQ(message, "program '@micro' expects the input 'x'");
  TensorMap inputs = {{"x", Tensor::floats({2}, {1, 1})}, {"z", Tensor()}};
  EXPECT_TRUE(failed(interpreter.run("micro", inputs)));
  EXPECT_EQ(message, "program '@micro' has no input 'z'");
  EXPECT_TRUE(failed(interpreter.run("none", {})));
  EXPECT_EQ(message, "there is no program '@none'");
}

TEST_F(InterpreterTest, EvaluatesSingleOps) {
  Interpreter interpreter(*module);
  mlir::Operation *mul = nullptr;
  module->walk([&](MulOp op) { mul = op; });
  Tensor a = Tensor::floats({2}, {0.1, 2}), b = Tensor::floats({2}, {3, 4});
  auto results = interpreter.evaluateOp(mul, {a, b});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(results->front().at(0), 0.1 * 3); // f64 mode: nothing is rounded
  Interpreter rounding(*module, ComputeMode::F32);
  results = rounding.evaluateOp(mul, {a, b});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(results->front().at(0), double(float(double(0.1f) * 3)));
  EXPECT_TRUE(failed(interpreter.evaluateOp(mul, {a})));
  EXPECT_EQ(message, "'weft.mul' op expects 2 operands, but got 1");
  EXPECT_TRUE(failed(interpreter.evaluateOp(mul, {a, Tensor::scalar(1)})));
  EXPECT_EQ(message, "operand expects the type 'tensor<2xf32>', but got f32");
}

TEST_F(InterpreterTest, ShowsEachOpToTheObserver) {
  Interpreter interpreter(*module);
  ASSERT_TRUE(succeeded(interpreter.initialize(0)));
  std::vector<std::string> seen;
  interpreter.setObserver([&](mlir::Operation *op, llvm::ArrayRef<Tensor>) {
    seen.push_back(op->getName().getStringRef().str());
  });
  ASSERT_TRUE(succeeded(
      interpreter.run("micro", {{"x", Tensor::floats({2}, {1, 1})}})));
  EXPECT_EQ(seen, (std::vector<std::string>{"weft.read", "weft.mul",
                                            "weft.read", "weft.add"}));
}

/// Whether the plan interpreter itself runs the command: it computes nothing
/// (test/Interp/plan-streams.test).
static bool isOfStreams(llvm::StringRef op) {
  return op == plan::UploadOp::getOperationName() ||
         op == plan::ReadbackOp::getOperationName() ||
         op == plan::RecordOp::getOperationName() ||
         op == plan::WaitOp::getOperationName();
}

static bool isInterpretable(mlir::RegisteredOperationName name) {
  return name.hasInterface<InterpretedOpInterface>() ||
         name.hasInterface<InterpretedCollectiveOpInterface>() ||
         name.hasTrait<InlinedRegion>();
}

// An op without a function would be found only when a model uses it.
TEST_F(InterpreterTest, KnowsEveryOpThatComputes) {
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    llvm::StringRef op = name.getStringRef();
    if (name.hasInterface<plan::CommandOpInterface>() && !isOfStreams(op))
      EXPECT_TRUE(isInterpretable(name)) << op.str();
    if (name.getDialectNamespace() == "dist" && op != "dist.mesh")
      EXPECT_TRUE(isInterpretable(name)) << op.str();
    if (name.getDialectNamespace() != "weft" || op == "weft.param" ||
        op == "weft.state" || op == "weft.program" || op == "weft.kernel" ||
        op == "weft.kernel_group" || op == "weft.return" ||
        op == "weft.yield" || op == "weft.draw")
      continue; // a draw stands in the linalg form alone
    EXPECT_TRUE(isInterpretable(name)) << op.str();
  }
}

} // namespace
