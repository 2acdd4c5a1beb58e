//===- WideGradientTest.cpp - An op that does not say how it is added -----===//

#include "GradientTest.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace weft;
using namespace weft::test;

namespace {

/// A kernel is its own adjoint here. weft.call is no op of models: it has no
/// rule and does not say how a gradient becomes f32.
struct CallModel : DifferentiableOpInterface::ExternalModel<CallModel, CallOp> {
  llvm::LogicalResult
  buildAdjoint(mlir::Operation *op, mlir::OpBuilder &builder,
               llvm::ArrayRef<mlir::Value> resultGrads, llvm::ArrayRef<bool>,
               llvm::MutableArrayRef<mlir::Value> operandGrads) const {
    auto call = llvm::cast<CallOp>(op);
    operandGrads[0] =
        CallOp::create(builder, op->getLoc(), resultGrads[0].getType(),
                       call.getKernel(), resultGrads[0])
            .getResult(0);
    return llvm::success();
  }
};

const char kModule[] = R"(
weft.param @w : tensor<4xf32>
weft.kernel @k(%x: tensor<4xf16>) -> tensor<4xf16> elementwise [4] inplace [[]] {
  weft.yield %x : tensor<4xf16>
}
weft.program @micro(%s: tensor<4xf16> {weft.input = "loss_seed"}, %a: tensor<f32> {weft.input = "accumulate"})
    -> (tensor<4xf16> {weft.output = "loss"}) attributes {kind = #weft.kind<micro>} {
  %w = weft.read @w : tensor<4xf32>
  %l = weft.cast %w : tensor<4xf32> to tensor<4xf16>
  %y = weft.call @k(%l) : (tensor<4xf16>) -> tensor<4xf16>
  weft.return %y : tensor<4xf16>
}
)";

class WideGradient : public GradientTest {
protected:
  WideGradient() { CallOp::attachInterface<CallModel>(context); }

  /// The error of weft-autodiff with its line, or "".
  std::string differentiate(GradDtype gradDtype) {
    std::string text;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          llvm::raw_string_ostream(text)
              << diagnostic.getLocation() << ": " << diagnostic;
        });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        kModule, mlir::ParserConfig(&context), "model.mlir");
    mlir::PassManager passes(&context);
    AutodiffPassOptions options;
    options.gradDtype = gradDtype;
    passes.addPass(createAutodiffPass(options));
    bool passed = module && succeeded(passes.run(*module));
    EXPECT_EQ(passed, text.empty());
    return text;
  }
};

TEST_F(WideGradient, AnOpThatDoesNotAnswerIsAnError) {
  std::string text = differentiate(GradDtype::F32);
  EXPECT_NE(text.find("model.mlir\":10:"), std::string::npos) << text;
  EXPECT_NE(text.find("'weft.call' op expects an op that says how its gradient "
                      "is added in f32 (WideGradientOpInterface), but got a "
                      "gradient of 'f16' from an op that does not"),
            std::string::npos)
      << text;
}

TEST_F(WideGradient, GradientsAsTorchAddsThemNeedNoAnswer) {
  EXPECT_EQ(differentiate(GradDtype::Torch), "");
}

} // namespace
