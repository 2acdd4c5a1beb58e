//===- ExtensionMistakesTest.cpp - Ops that answer wrongly ----------------===//
//
// A gradient or a formula with a mistake is an error of its op, not of the ops
// that use the values.
//
//===----------------------------------------------------------------------===//

#include "Extension.h"

#include "weft/Autodiff/FiniteDifference.h"

using namespace mlir;
using namespace weft;
using namespace weft::test;

namespace {

class GradientMistakes : public ExtensionTest {
protected:
  void parseWith(Pieces::Gradient gradient) {
    Pieces pieces;
    pieces.gradient = gradient;
    parse(kModel, pieces);
  }
};

TEST_F(GradientMistakes, anotherElementType) {
  parseWith(Pieces::OfAnotherType);
  expectError({kGraph}, "6: 'test.scale_add' op expects its adjoint to give "
                        "'tensor<4x3xf32>' for operand 0, but got "
                        "'tensor<4x3xbf16>'");
}

TEST_F(GradientMistakes, anotherShape) {
  parseWith(Pieces::OfAnotherShape);
  expectError({kGraph}, "6: 'test.scale_add' op expects its adjoint to give "
                        "'tensor<4x3xf32>' for operand 0, but got "
                        "'tensor<12xf32>'");
}

TEST_F(GradientMistakes, failureWithoutAMessage) {
  parseWith(Pieces::Failing);
  expectError({kGraph}, "6: 'test.scale_add' op expects buildAdjoint() to "
                        "build its gradient, but it failed without a message");
}

/// A null gradient is zero; the loss depends on the parameter nevertheless.
TEST_F(GradientMistakes, missingGradient) {
  Pieces pieces;
  pieces.gradient = Pieces::Missing;
  std::string text = kModel;
  // Another parameter has a gradient.
  text.replace(text.find("weft.tanh %y"), 12, "weft.add %y, %b");
  text.replace(text.find("%t = weft.add"), 0,
               "%b = weft.read @b : tensor<3xf32>\n  ");
  text.replace(text.find(": tensor<4x3xf32>\n  %loss"), 17,
               ": tensor<4x3xf32>, tensor<3xf32>");
  parse("weft.param @b : tensor<3xf32> {init = #weft.init<ones>}\n" + text,
        pieces);
  FailureOr<GradientCheck> check = checkGradients(*module);
  ASSERT_TRUE(succeeded(check)) << errors;
  EXPECT_FALSE(check->isEqual());
  ASSERT_EQ(check->parameters.size(), 2u);
  EXPECT_TRUE(check->parameters[0].isEqual);
  EXPECT_FALSE(check->parameters[1].hasGradient);
  const std::string table = gradientTable(*check);
  EXPECT_NE(table.find("ok    b: relative error"), table.npos) << table;
  EXPECT_NE(table.find("wrong w: no gradient, differences have norm "),
            table.npos)
      << table;
  EXPECT_NE(table.find("first wrong adjoint: test.scale_add, operand 0, no "
                       "gradient, scope sum"),
            table.npos)
      << table;
}

class FormulaMistakes : public ExtensionTest {
protected:
  /// Line 6 is an op with such a formula.
  void expectFormulaError(Pieces::Formula formula, StringRef error) {
    Pieces pieces;
    pieces.formula = formula;
    // Else the op has a command.
    pieces.sources = false;
    std::string text = kModel;
    text.replace(text.find("test.scale_add"), 14, "test.bare_scale_add");
    parse(text, pieces);
    expectError({"weft-derive-programs", kKernels},
                ("6: 'test.bare_scale_add' op expects " + error).str());
  }
};

TEST_F(FormulaMistakes, anotherType) {
  expectFormulaError(Pieces::OtherType,
                     "its formula to give 'tensor<4x3xf32>' for result 0, but "
                     "got 'tensor<4x3xbf16>'");
}

TEST_F(FormulaMistakes, tooFewValues) {
  expectFormulaError(Pieces::Empty, "its formula to give 1 value, but got 0");
}

TEST_F(FormulaMistakes, noValue) {
  expectFormulaError(Pieces::NoValue,
                     "its formula to give 'tensor<4x3xf32>' for result 0, but "
                     "got no value");
}

TEST_F(FormulaMistakes, failureWithoutAMessage) {
  expectFormulaError(Pieces::Fails,
                     "decompose() to build its formula, but it failed without "
                     "a message");
}

} // namespace
