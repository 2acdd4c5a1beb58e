//===- FuzzPlan.cpp - Any bytes as the text of a plan ---------------------===//
//
// What is refused has an error. What the verifiers accept prints in a form that
// parses again to the same text, gets offsets that weft-verify-plan accepts,
// and becomes an object file or an error.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include "weft/Frontend/Frontend.h"
#include "weft/Kernels/Passes.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Memory/Passes.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

using namespace mlir;

/// As in FuzzMlir.cpp.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

/// A context keeps every type and attribute it has seen, so it is replaced now
/// and then.
static MLIRContext &freshContext() {
  constexpr int kRunsPerContext = 200;
  static std::unique_ptr<MLIRContext> context;
  static int runs = 0;
  if (!context || ++runs % kRunsPerContext == 0) {
    DialectRegistry registry;
    registry.insert<weft::WeftDialect, weft::plan::PlanDialect>();
    weft::registerKernelsModels(registry);
    weft::registerLoweringCpuModels(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
  }
  return *context;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

/// Whether the passes succeed; a failure has an error.
static bool run(ModuleOp module, const bool &failed,
                std::initializer_list<std::unique_ptr<Pass> (*)()> passes) {
  PassManager manager(module.getContext());
  for (auto *create : passes)
    manager.addPass(create());
  bool good = succeeded(manager.run(module));
  FUZZ_CHECK(good != failed);
  return good;
}

static void emit(ModuleOp module, const bool &failed) {
  std::string message;
  auto target = weft::CpuTarget::parse("cpu:x86-64-v3", message);
  FUZZ_CHECK(succeeded(target));
  auto object = weft::emitObject(module, *target);
  FUZZ_CHECK(succeeded(object) != failed);
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
  std::string printed = print(**module);
  auto again = weft::parseText(printed, "again.mlir", context);
  FUZZ_CHECK(succeeded(again));
  FUZZ_CHECK(print(**again) == printed);
  // A plan that reads what it has not written has no offsets that are right.
  if (run(**module, failed, {weft::createPlanMemoryPass}) &&
      run(**module, failed, {weft::createVerifyPlanPass}) &&
      run(**module, failed,
          {weft::createConvertKernelsToLinalgPass, weft::createLowerToCpuPass}))
    emit(**module, failed);
  return 0;
}
