//===- RulesTest.cpp - Every rule against finite differences --------------===//

#include "GradientTest.h"
#include "RuleCases.h"
#include "TestPaths.h"

#include "llvm/Support/FileSystem.h"

#include <map>

using namespace weft;
using namespace weft::test;

namespace {

class Rules : public GradientTest {
protected:
  /// Names of the ops that have an adjoint.
  std::vector<std::string> differentiableOps() {
    std::vector<std::string> names;
    for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
      if (name.hasInterface<DifferentiableOpInterface>())
        names.push_back(name.getStringRef().str());
    return names;
  }
};

TEST_F(Rules, EveryCaseAgreesWithFiniteDifferences) {
  GradientCheckOptions options;
  options.elements = 0;
  int cases = 0;
  double largest = 0;
  for (const RuleCase &rule : ruleCases()) {
    SCOPED_TRACE(rule.op + ", " + rule.form);
    ++cases;
    auto result = check(rule.text(), options);
    ASSERT_TRUE(succeeded(result)) << rule.text();
    EXPECT_TRUE(result->isEqual()) << gradientTable(*result) << rule.text();
    for (const GradientError &parameter : result->parameters)
      largest = std::max(largest, parameter.error);
    size_t trainable = 0;
    for (const RuleParam &param : rule.params)
      trainable += param.trainable;
    EXPECT_EQ(result->parameters.size(), trainable);
  }
  RecordProperty("cases", cases);
  RecordProperty("largest_error", std::to_string(largest * 1e12) + "e-12");
}

/// In f16, which the interpreter does not round in its f64 mode: types fit and
/// gradients are right, however gradients of low-precision copies are added.
TEST_F(Rules, EveryCaseAgreesInLowPrecision) {
  GradientCheckOptions options;
  options.elements = 0;
  options.convertsToF64 = false;
  for (GradDtype gradDtype : {GradDtype::F32, GradDtype::Torch})
    for (const RuleCase &rule : ruleCases()) {
      SCOPED_TRACE(rule.op + ", " + rule.form + ", " +
                   (gradDtype == GradDtype::F32 ? "f32" : "torch"));
      options.gradDtype = gradDtype;
      auto result = check(rule.lowText("f16"), options);
      ASSERT_TRUE(succeeded(result)) << rule.lowText("f16");
      EXPECT_TRUE(result->isEqual())
          << gradientTable(*result) << rule.lowText("f16");
    }
}

TEST_F(Rules, EveryDifferentiableOpHasCases) {
  std::map<std::string, int> count;
  for (const RuleCase &rule : ruleCases())
    ++count[rule.op];
  ASSERT_GE(differentiableOps().size(), 40u);
  for (const std::string &name : differentiableOps())
    EXPECT_GE(count[name], 3) << name;
}

TEST_F(Rules, EveryDifferentiableOpHasALitTest) {
  for (const std::string &name : differentiableOps()) {
    std::string file =
        WEFT_SOURCE "/test/Autodiff/rules/" + name.substr(5) + ".mlir";
    EXPECT_TRUE(llvm::sys::fs::exists(file)) << file;
  }
}

/// A flipped sign in any rule is caught, and the op is named.
TEST_F(Rules, ABrokenRuleIsCaught) {
  std::map<std::string, bool> done;
  for (const RuleCase &rule : ruleCases()) {
    // The gradient of sign is zero: there is nothing to flip.
    if (rule.op == "weft.sign" || done[rule.op])
      continue;
    done[rule.op] = true;
    SCOPED_TRACE(rule.op + ", " + rule.form);
    auto result = checkBroken(rule.text(), rule.op);
    ASSERT_TRUE(succeeded(result)) << rule.text();
    EXPECT_FALSE(result->isEqual()) << gradientTable(*result);
    ASSERT_TRUE(result->firstWrongOp.has_value());
    EXPECT_EQ(result->firstWrongOp->op, rule.op);
  }
}

} // namespace
