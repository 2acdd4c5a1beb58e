//===- FuzzPlan.cpp - Any bytes as the text of a plan ---------------------===//
//
// Refused text has an error. An accepted plan prints in a form that parses
// again to the same text, gets offsets that weft-verify-plan accepts, and
// becomes an object file or an error.
//
//===----------------------------------------------------------------------===//

#include "ModuleRun.h"

#include "weft/Fusion/Passes.h"
#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Lowering/Cpu/Passes.h"
#include "weft/Memory/Passes.h"
#include "weft/Plan/Plan.h"
#include "weft/Verify/Passes.h"
#include "weft/Weft/Weft.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

static void registerDialects(DialectRegistry &registry) {
  registry.insert<weft::WeftDialect, weft::plan::PlanDialect>();
  weft::registerFusionModels(registry);
  weft::registerLoweringCpuModels(registry);
}

/// Whether the passes succeed; a failure has an error.
static bool runPasses(ModuleOp module, const ModuleRun &run,
                      std::initializer_list<std::unique_ptr<Pass> (*)()> all) {
  PassManager manager(module.getContext());
  for (auto *create : all)
    manager.addPass(create());
  bool good = succeeded(manager.run(module));
  FUZZ_CHECK(good != run.hasFailed());
  return good;
}

static void emit(ModuleOp module, const ModuleRun &run) {
  std::string message;
  auto target = weft::CpuTarget::parse("cpu:x86-64-v3", message);
  FUZZ_CHECK(succeeded(target));
  auto object = weft::emitObject(module, *target);
  FUZZ_CHECK(succeeded(object) != run.hasFailed());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ModuleRun run(freshContext(registerDialects, /*most=*/200));
  OwningOpRef<ModuleOp> module = run.parse(data, size);
  if (!module)
    return 0;
  // No offsets are right for a plan that reads bytes before it writes them.
  if (runPasses(*module, run, {weft::createPlanMemoryPass}) &&
      runPasses(*module, run, {weft::createVerifyPlanPass}) &&
      runPasses(
          *module, run,
          {weft::createConvertKernelsToLinalgPass, weft::createLowerToCpuPass}))
    emit(*module, run);
  return 0;
}
