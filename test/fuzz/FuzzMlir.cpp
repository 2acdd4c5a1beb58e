//===- FuzzMlir.cpp - Any bytes as model text -----------------------------===//
//
// What is refused has an error; what is accepted verifies, prints in a form
// that parses again to the same text, and folds without a crash.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "weft/Frontend/Frontend.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <memory>

using namespace mlir;

/// LLVM's allocators poison free memory where ASan is on, but the code in
/// libMLIR.so, built without it, never unpoisons.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

/// A context keeps every type and attribute it has seen, so it is replaced now
/// and then.
static MLIRContext &freshContext() {
  constexpr int kRunsPerContext = 500;
  static std::unique_ptr<MLIRContext> context;
  static int runs = 0;
  if (!context || ++runs % kRunsPerContext == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<weft::WeftDialect>();
  }
  return *context;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = freshContext();
  bool failed = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    failed |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    FUZZ_CHECK(!diagnostic.str().empty());
  });
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto module = weft::parseText(text, "fuzz.mlir", context);
  FUZZ_CHECK(succeeded(module) != failed);
  if (mlir::failed(module))
    return 0;
  FUZZ_CHECK(succeeded(verify(**module)));
  std::string printed = print(**module);
  auto again = weft::parseText(printed, "again.mlir", context);
  FUZZ_CHECK(succeeded(again));
  FUZZ_CHECK(print(**again) == printed);
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  FUZZ_CHECK(succeeded(passes.run(**module)));
  return 0;
}
