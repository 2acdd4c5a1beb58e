//===- ExamplesTest.cpp - Gradients of the example models -----------------===//

#include "GradientTest.h"
#include "TestPaths.h"

#include "weft/Frontend/Frontend.h"
#include "weft/Frontend/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace weft;
using namespace weft::test;

namespace {

class Examples : public GradientTest {
protected:
  /// Two directions in each parameter of the model, short rows.
  void checkModel(const std::string &name) {
    FrontendOptions frontend;
    frontend.weights = false;
    if (name != "mlp.mlir") {
      frontend.batch = 1;
      frontend.seq = 4;
    }
    auto module = loadModel(std::string(WEFT_SOURCE "/examples/") + name,
                            frontend, context);
    ASSERT_TRUE(succeeded(module));
    mlir::PassManager passes(&context);
    passes.addPass(createTieParamsPass());
    ASSERT_TRUE(succeeded(passes.run(**module)));
    GradientCheckOptions options;
    options.elements = 1;
    auto result = checkGradients(**module, options);
    ASSERT_TRUE(succeeded(result));
    EXPECT_TRUE(result->isEqual()) << gradientTable(*result, true);
    RecordProperty("table", gradientTable(*result));
  }
};

TEST_F(Examples, Mlp) { checkModel("mlp.mlir"); }
TEST_F(Examples, Gpt2Mini) { checkModel("gpt2-mini"); }
TEST_F(Examples, LlamaMini) { checkModel("llama-mini"); }

} // namespace
