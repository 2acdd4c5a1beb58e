//===- GradientTest.h - Modules from text in unit tests ---------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_AUTODIFF_GRADIENTTEST_H
#define WEFT_TEST_UNIT_AUTODIFF_GRADIENTTEST_H

#include "weft/Autodiff/FiniteDifference.h"
#include "weft/Autodiff/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

namespace weft::test {

class GradientTest : public testing::Test {
protected:
  GradientTest() {
    mlir::DialectRegistry registry;
    registry.insert<WeftDialect>();
    registerAutodiffModels(registry);
    registerInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<WeftDialect>();
  }

  /// Parses `text` and checks its gradients.
  llvm::FailureOr<GradientCheck> check(const std::string &text,
                                       const GradientCheckOptions &options) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(&context), "model.mlir");
    if (!module)
      return llvm::failure();
    return checkGradients(*module, options);
  }

  mlir::MLIRContext context;
};

} // namespace weft::test

#endif // WEFT_TEST_UNIT_AUTODIFF_GRADIENTTEST_H
