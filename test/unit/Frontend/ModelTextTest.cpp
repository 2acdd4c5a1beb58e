//===- ModelTextTest.cpp - Required parts of model text -------------------===//

#include "Fixture.h"

using namespace weft;

namespace {
class ModelTextTest : public FrontendTest {
protected:
  std::string errorOf(const std::string &text) {
    EXPECT_FALSE(load(write("m.mlir", text)));
    return messages;
  }
  /// A program with this name, kind, inputs, and an output of this name.
  static std::string program(const std::string &name, const std::string &kind,
                             const std::string &inputs = "",
                             const std::string &output = "loss",
                             const std::string &type = "tensor<f32>") {
    return "weft.program @" + name + "(" + inputs + ") -> (" + type +
           " {weft.output = \"" + output +
           "\"}) attributes {kind = #weft.kind<" + kind +
           ">} {\n  %c = weft.constant dense<0.0> : " + type +
           "\n  weft.return %c : " + type + "\n}\n";
  }
};
} // namespace

static const char *const kInput = "%x: tensor<8x4xf32> {weft.input = \"x\"}";

TEST_F(ModelTextTest, LoadsAndNames) {
  ASSERT_TRUE(load(write("m.mlir", program("model", "model", kInput))))
      << messages;
  EXPECT_EQ(*module->getSymName(), "model");
  EXPECT_EQ((*module)->getAttrOfType<mlir::IntegerAttr>("weft.batch").getInt(),
            8);
  options.batch = 8;
  EXPECT_TRUE(load(write("m.mlir", program("model", "model", kInput))));
}

TEST_F(ModelTextTest, Programs) {
  EXPECT_EQ(errorOf(""), "m.mlir:0: expects one program of kind model, but got "
                         "none\n");
  EXPECT_EQ(
      errorOf(program("a", "model", kInput) + program("b", "model", kInput)),
      "m.mlir:5: 'weft.program' op expects one program of kind model, "
      "but got a second one\n");
  EXPECT_EQ(
      errorOf(program("a", "model", kInput) + program("b", "micro", kInput)),
      "m.mlir:5: 'weft.program' op expects kind model, logits or predict in a "
      "model, but got micro\n");
}

TEST_F(ModelTextTest, OutputsAndInputs) {
  EXPECT_EQ(errorOf(program("a", "model", kInput, "score")),
            "m.mlir:1: 'weft.program' op expects an output named 'loss' or "
            "outputs with weft.loss, but got none\n");
  EXPECT_EQ(errorOf(program("a", "model", kInput, "loss", "tensor<2xf32>")),
            "m.mlir:1: 'weft.program' op expects output 'loss' of type "
            "tensor<f32>, but got 'tensor<2xf32>'\n");
  EXPECT_EQ(errorOf(program("a", "model", kInput,
                            "loss\", weft.loss = 1.0 : f64, test.x = \"")),
            "m.mlir:1: 'weft.program' op expects an output named 'loss' or "
            "outputs with weft.loss, but got both\n");
  EXPECT_EQ(errorOf(program("a", "model", kInput,
                            "aux\", weft.loss = 1, test.x = \"")),
            "m.mlir:1: 'weft.program' op expects \"weft.loss\" on result 0 to "
            "be a finite f64, but got 1 : i64\n");
  EXPECT_EQ(errorOf(program("a", "model", kInput,
                            "aux\", weft.loss = 1.0 : f64, test.x = \"",
                            "tensor<2xf32>")),
            "m.mlir:1: 'weft.program' op expects output 'aux' of type "
            "tensor<f32>, but got 'tensor<2xf32>'\n");
  EXPECT_EQ(errorOf(program("a", "model")),
            "m.mlir:1: 'weft.program' op expects at least one input, but got "
            "none\n");
  EXPECT_EQ(
      errorOf(program("a", "model", "%x: tensor<f32> {weft.input = \"x\"}")),
      "m.mlir:1: 'weft.program' op expects input 'x' to have rows as its "
      "first dimension, but got 'tensor<f32>'\n");
  EXPECT_EQ(errorOf(program("a", "model",
                            std::string(kInput) +
                                ", %y: tensor<6xi32> {weft.input = \"y\"}")),
            "m.mlir:1: 'weft.program' op expects input 'y' to have 8 rows like "
            "the inputs before it, but got 'tensor<6xi32>'\n");
}

TEST_F(ModelTextTest, Flags) {
  options.batch = 4;
  EXPECT_EQ(errorOf(program("a", "model", kInput)),
            "m.mlir:1: 'weft.program' op expects --batch=8, the rows of its "
            "inputs, but got 4\n");
  options.batch.reset();
  options.seq = 4;
  EXPECT_EQ(errorOf(program("a", "model", kInput)),
            "m.mlir:1: 'weft.program' op expects no --seq for a model whose "
            "text states its shapes, but got 4\n");
}

TEST_F(ModelTextTest, SyntaxErrorsNameTheLine) {
  EXPECT_EQ(errorOf("\n\nweft.frobnicate @x"),
            "m.mlir:3: custom op 'weft.frobnicate' is unknown\n");
  EXPECT_NE(errorOf("module {\n").find("m.mlir:"), std::string::npos);
}
