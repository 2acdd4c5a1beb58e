//===- CheckGradientsTest.cpp - Gradients of whole models -----------------===//

#include "GradientTest.h"

using namespace weft;
using namespace weft::test;

namespace {

/// One transformer block: tied embedding, fused projection, dropout.
const char *const kBlock = R"mlir(
weft.param @wte : tensor<7x8xf32> {init = #weft.init<normal, 0.0, 0.5>, scope = "wte"}
weft.param @ln.weight : tensor<8xf32> {init = #weft.init<ones>}
weft.param @ln.bias : tensor<8xf32> {init = #weft.init<zeros>}
weft.param @attn.weight : tensor<8x24xf32> {init = #weft.init<normal, 0.0, 0.4>}
weft.param @attn.bias : tensor<24xf32> {init = #weft.init<zeros>}
weft.param @fc.weight : tensor<8x8xf32> {init = #weft.init<normal, 0.0, 0.4>}
weft.param @frozen : tensor<8xf32> {init = #weft.init<ones>, trainable = false}
weft.program @model(%tokens: tensor<2x5xi32> {weft.input = "tokens"},
                    %targets: tensor<2x5xi32> {weft.input = "targets"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %wte = weft.read @wte : tensor<7x8xf32>
  %lw = weft.read @ln.weight : tensor<8xf32>
  %lb = weft.read @ln.bias : tensor<8xf32>
  %aw = weft.read @attn.weight : tensor<8x24xf32>
  %ab = weft.read @attn.bias : tensor<24xf32>
  %fw = weft.read @fc.weight : tensor<8x8xf32>
  %frozen = weft.read @frozen : tensor<8xf32>
  %e = weft.embedding %wte, %tokens : tensor<7x8xf32>, tensor<2x5xi32>
  %x = weft.dropout %e {p = 0.2 : f64, op_id = 1} : tensor<2x5x8xf32>
  %n, %mean, %rstd = weft.layer_norm %x, %lw, %lb {eps = 1.0e-5 : f64, weft.scope = "h.0.ln"} : tensor<2x5x8xf32>, tensor<8xf32>
  %p = weft.matmul %n, %aw {weft.scope = "h.0.attn"} : tensor<2x5x8xf32>, tensor<8x24xf32>
  %pb = weft.add %p, %ab {weft.scope = "h.0.attn"} : tensor<2x5x24xf32>, tensor<24xf32>
  %q0 = weft.slice %pb offsets [0, 0, 0] sizes [2, 5, 8] strides [1, 1, 1] : tensor<2x5x24xf32>
  %k0 = weft.slice %pb offsets [0, 0, 8] sizes [2, 5, 8] strides [1, 1, 1] : tensor<2x5x24xf32>
  %v0 = weft.slice %pb offsets [0, 0, 16] sizes [2, 5, 8] strides [1, 1, 1] : tensor<2x5x24xf32>
  %q = weft.reshape %q0 : tensor<2x5x8xf32> to tensor<2x5x2x4xf32>
  %k = weft.reshape %k0 : tensor<2x5x8xf32> to tensor<2x5x2x4xf32>
  %v = weft.reshape %v0 : tensor<2x5x8xf32> to tensor<2x5x2x4xf32>
  %o, %lse = weft.attention %q, %k, %v {causal, scale = 0.5 : f64, dropout = 0.1 : f64, op_id = 2, weft.scope = "h.0.attn"}
      : tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>
  %of = weft.reshape %o : tensor<2x5x2x4xf32> to tensor<2x5x8xf32>
  %r = weft.add %x, %of : tensor<2x5x8xf32>, tensor<2x5x8xf32>
  %f = weft.matmul %r, %fw {transpose_rhs, weft.scope = "h.0.mlp"} : tensor<2x5x8xf32>, tensor<8x8xf32>
  %g = weft.gelu %f {approximate = #weft.gelu_kind<tanh>, weft.scope = "h.0.mlp"} : tensor<2x5x8xf32> loc("block.py":12:3)
  %gf = weft.mul %g, %frozen : tensor<2x5x8xf32>, tensor<8xf32>
  %r2 = weft.add %r, %gf : tensor<2x5x8xf32>, tensor<2x5x8xf32>
  %logits = weft.matmul %r2, %wte {transpose_rhs} : tensor<2x5x8xf32>, tensor<7x8xf32>
  %loss, %lse2, %denom = weft.cross_entropy %logits, %targets : tensor<2x5x7xf32>, tensor<2x5xi32>
  weft.return %loss : tensor<f32>
}
)mlir";

class CheckGradients : public GradientTest {};

TEST_F(CheckGradients, AcceptsATransformerBlock) {
  auto result = check(kBlock, {});
  ASSERT_TRUE(succeeded(result));
  EXPECT_TRUE(result->isEqual()) << gradientTable(*result);
  ASSERT_EQ(result->parameters.size(), 6u);
  EXPECT_EQ(result->parameters[0].name, "wte");
  // 32 elements and one direction of the larger tensors.
  EXPECT_EQ(result->parameters[0].compared, 33);
  EXPECT_EQ(result->parameters[1].compared, 8);
  EXPECT_GT(result->parameters[0].norm, 0);
  EXPECT_GT(result->loss, 0);
}

TEST_F(CheckGradients, NamesTheOpWhoseRuleIsBroken) {
  auto result = checkBroken(kBlock, "weft.gelu");
  ASSERT_TRUE(succeeded(result));
  EXPECT_FALSE(result->isEqual());
  ASSERT_TRUE(result->firstWrongOp.has_value());
  EXPECT_EQ(result->firstWrongOp->op, "weft.gelu");
  EXPECT_EQ(result->firstWrongOp->operand, 0u);
  EXPECT_EQ(result->firstWrongOp->scope, "h.0.mlp");
  std::string table = gradientTable(*result, /*onlyWrong=*/true);
  EXPECT_NE(table.find("wrong fc.weight: relative error"), std::string::npos)
      << table;
  EXPECT_NE(
      table.find("first wrong adjoint: weft.gelu, operand 0, relative "
                 "error 2.0e+00, scope h.0.mlp, at loc(\"block.py\":12:3)"),
      std::string::npos)
      << table;
}

/// Of several wrong ops the first of the program is named.
TEST_F(CheckGradients, NamesTheFirstOfSeveral) {
  auto result = checkBroken(kBlock, "weft.matmul");
  ASSERT_TRUE(succeeded(result));
  ASSERT_TRUE(result->firstWrongOp.has_value());
  EXPECT_EQ(result->firstWrongOp->scope, "h.0.attn");
}

/// The sum of w x, whose gradient is x.
const char *const kProduct = R"mlir(
weft.param @w : tensor<2xf32> {init = #weft.init<zeros>}
weft.program @model(%x: tensor<2xf32> {weft.input = "x"})
    -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<2xf32>
  %y = weft.mul %w, %x : tensor<2xf32>, tensor<2xf32>
  %loss = weft.reduce sum %y dims [0] : tensor<2xf32>
  weft.return %loss : tensor<f32>
}
)mlir";

TEST_F(CheckGradients, ScalesInputs) {
  auto whole = check(kProduct, {});
  GradientCheckOptions options;
  options.inputScale = 8;
  auto scaled = check(kProduct, options);
  ASSERT_TRUE(succeeded(whole) && succeeded(scaled));
  EXPECT_TRUE(scaled->isEqual()) << gradientTable(*scaled);
  EXPECT_DOUBLE_EQ(scaled->parameters[0].norm, 8 * whole->parameters[0].norm);
}

/// The loss does not depend on it.
TEST_F(CheckGradients, AcceptsAnUnusedParameter) {
  auto result = check(std::string("weft.param @unused : tensor<2xf32> "
                                  "{init = #weft.init<zeros>}\n") +
                          kProduct,
                      {});
  ASSERT_TRUE(succeeded(result));
  EXPECT_TRUE(result->isEqual()) << gradientTable(*result);
  ASSERT_EQ(result->parameters.size(), 2u);
  EXPECT_FALSE(result->parameters[0].hasGradient);
  EXPECT_EQ(result->parameters[0].difference, 0);
}

TEST_F(CheckGradients, TakesGivenValues) {
  GradientCheckOptions options;
  options.inputs["x"] = Tensor::floats({2}, {3, 4});
  options.states["w"] = Tensor::floats({2}, {10, 100});
  auto result = check(kProduct, options);
  ASSERT_TRUE(succeeded(result));
  EXPECT_TRUE(result->isEqual());
  EXPECT_DOUBLE_EQ(result->loss, 430);
  EXPECT_DOUBLE_EQ(result->parameters.at(0).norm, 5);
}

/// The gradient of the weighted sum: 2 * 3 - 4.
TEST_F(CheckGradients, AddsWeightedLosses) {
  const char *text = R"mlir(
weft.param @w : tensor<f32> {init = #weft.init<ones>}
weft.program @model()
    -> (tensor<f32> {weft.output = "a", weft.loss = 2.0 : f64},
        tensor<f32> {weft.output = "b", weft.loss = -1.0 : f64})
    attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<f32>
  %three = weft.constant dense<3.0> : tensor<f32>
  %four = weft.constant dense<4.0> : tensor<f32>
  %a = weft.mul %w, %three : tensor<f32>, tensor<f32>
  %b = weft.mul %w, %four : tensor<f32>, tensor<f32>
  weft.return %a, %b : tensor<f32>, tensor<f32>
}
)mlir";
  GradientCheckOptions options;
  options.states["w"] = Tensor::scalar(5);
  auto result = check(text, options);
  ASSERT_TRUE(succeeded(result));
  EXPECT_TRUE(result->isEqual());
  EXPECT_DOUBLE_EQ(result->loss, 10);
  EXPECT_DOUBLE_EQ(result->parameters.at(0).norm, 2);
}

TEST_F(CheckGradients, FailsWhereAPassFails) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message += diagnostic.str();
                                          return llvm::success();
                                        });
  EXPECT_TRUE(failed(check("module {}", {})));
  EXPECT_EQ(message, "expects a program of kind model, but got none");
}

TEST_F(CheckGradients, ConvertsConstantsAndTypes) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"mlir(
weft.param @w : tensor<2xf32> {init = #weft.init<ones>}
weft.program @model() -> (tensor<2xf32> {weft.output = "y"}) attributes {kind = #weft.kind<model>} {
  %c = weft.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %s = weft.constant dense<2.0> : tensor<f32>
  %w = weft.read @w : tensor<2xf32>
  %y = weft.mul %w, %c : tensor<2xf32>, tensor<2xf32>
  %z = weft.mul %y, %s : tensor<2xf32>, tensor<f32>
  weft.return %z : tensor<2xf32>
}
)mlir",
                                                        &context);
  ASSERT_TRUE(module);
  convertToF64(*module);
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  EXPECT_EQ(text.find("f32"), std::string::npos) << text;
  EXPECT_NE(text.find("dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf64>"),
            std::string::npos)
      << text;
}

} // namespace
