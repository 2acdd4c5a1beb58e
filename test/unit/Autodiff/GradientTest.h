//===- GradientTest.h - Modules from text in unit tests ---------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_AUTODIFF_GRADIENTTEST_H
#define WEFT_TEST_UNIT_AUTODIFF_GRADIENTTEST_H

#include "weft/Autodiff/FiniteDifference.h"
#include "weft/Autodiff/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <memory>

namespace weft::test {

/// Loads weft with its adjoints and the interpreter. The op of the name
/// `broken` has an adjoint whose first gradient has a flipped sign.
void loadWeft(mlir::MLIRContext &context, const std::string &broken = "");

/// Parses `text` and checks its gradients.
llvm::FailureOr<GradientCheck> checkText(mlir::MLIRContext &context,
                                         const std::string &text,
                                         const GradientCheckOptions &options);

class GradientTest : public testing::Test {
protected:
  GradientTest() { loadWeft(context); }

  llvm::FailureOr<GradientCheck> check(const std::string &text,
                                       const GradientCheckOptions &options) {
    return checkText(context, text, options);
  }

  /// Checks the gradients with a wrong adjoint of the ops of that name. The
  /// locations of the result hold until the next call.
  llvm::FailureOr<GradientCheck> checkBroken(const std::string &text,
                                             const std::string &op) {
    wrong = std::make_unique<mlir::MLIRContext>();
    loadWeft(*wrong, op);
    return checkText(*wrong, text, {});
  }

  mlir::MLIRContext context;

private:
  std::unique_ptr<mlir::MLIRContext> wrong;
};

} // namespace weft::test

#endif // WEFT_TEST_UNIT_AUTODIFF_GRADIENTTEST_H
