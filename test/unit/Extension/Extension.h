//===- Extension.h - Models with ops of another dialect ---------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_EXTENSION_EXTENSION_H
#define WEFT_TEST_UNIT_EXTENSION_EXTENSION_H

#include "TestDialect.h"

#include "weft/Interp/Compare.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Pipeline/Driver/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <gtest/gtest.h>

namespace weft::test {

/// Lines 5 and 6 are the view and the op.
inline constexpr const char *kModel = R"(
weft.param @w : tensor<7x3xf32> {init = #weft.init<normal, 0.0, 1.0>}
weft.program @model(%x: tensor<4x3xf32> {weft.input = "x"}) -> (tensor<f32> {weft.output = "loss"}) attributes {kind = #weft.kind<model>} {
  %w = weft.read @w : tensor<7x3xf32>
  %e = test.stride %w {step = 2, weft.scope = "rows"} : tensor<7x3xf32> to tensor<4x3xf32>
  %y = test.scale_add %e, %x {scale = 0.5 : f64, weft.scope = "sum"} : tensor<4x3xf32>
  %t = weft.tanh %y : tensor<4x3xf32>
  %loss = weft.reduce mean %t dims [0, 1] : tensor<4x3xf32>
  weft.return %loss : tensor<f32>
})";

inline constexpr const char *kGraph =
    "weft-derive-programs,weft-autodiff,weft-verify-contract{phase=autodiff}";
inline constexpr const char *kKernels =
    "weft-select-kernels,weft-verify-contract{phase=select-kernels},"
    "weft.program(weft-decompose),weft-fuse,weft-verify-contract{phase=fuse}";
inline constexpr const char *kPlan =
    "weft-lower-to-plan,weft-verify-contract{phase=lower-to-plan},"
    "weft-estimate";
inline constexpr const char *kMemory =
    "weft-add-workspaces,weft-plan-memory,weft-verify-plan";
inline constexpr const char *kCode =
    "weft-describe-executable,weft-convert-kernels-to-linalg,weft-lower-to-cpu";

class ExtensionTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() { registerAllPasses(); }

  /// Parses the model where the ops have those pieces.
  void parse(const std::string &text, const Pieces &pieces = {}) {
    read(text, pieces);
    ASSERT_TRUE(module) << errors;
  }

  void expectNoModule(const std::string &text) {
    read(text, {});
    EXPECT_FALSE(module);
  }

  void read(const std::string &text, const Pieces &pieces) {
    module = {};
    handler.reset();
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    registerTestDialect(registry, pieces);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    handler = std::make_unique<mlir::ScopedDiagnosticHandler>(
        context.get(), [this](mlir::Diagnostic &diagnostic) {
          return keep(diagnostic), mlir::success();
        });
    module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get(),
                                                     "model.mlir");
  }

  /// The first error as "line: message".
  void keep(mlir::Diagnostic &diagnostic) {
    if (!errors.empty() ||
        diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return;
    auto at = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
    errors =
        (at ? std::to_string(at.getLine()) : "?") + ": " + diagnostic.str();
  }

  bool run(mlir::StringRef passes) {
    mlir::PassManager manager(context.get());
    EXPECT_TRUE(mlir::succeeded(mlir::parsePassPipeline(passes, manager)));
    return mlir::succeeded(manager.run(*module));
  }

  bool runAll(mlir::ArrayRef<mlir::StringRef> pipelines) {
    return llvm::all_of(pipelines,
                        [&](mlir::StringRef passes) { return run(passes); });
  }

  /// Expects the last of the pipelines to fail, those before it not.
  void expectError(mlir::ArrayRef<mlir::StringRef> pipelines,
                   mlir::StringRef error) {
    ASSERT_TRUE(runAll(pipelines.drop_back())) << errors;
    EXPECT_FALSE(run(pipelines.back()));
    EXPECT_EQ(errors, error.str());
  }

  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string errors;
};

} // namespace weft::test

#endif // WEFT_TEST_UNIT_EXTENSION_EXTENSION_H
