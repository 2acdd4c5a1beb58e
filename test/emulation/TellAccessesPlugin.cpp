//===- TellAccessesPlugin.cpp - Hand-written kernels that are checked -----===//
//
// clang -fpass-plugin: behind all other passes, kernels say each access to
// memory, as twins of generated kernels do. Code of the emulation itself,
// marked WEFT_UNTOLD in DeviceHost.h, reports its accesses by itself.
//
//===----------------------------------------------------------------------===//

#include "TellAccesses.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

using namespace llvm;

/// Functions with __attribute__((annotate("weft_untold"))).
static SmallPtrSet<const Function *, 8> findUntold(const Module &code) {
  SmallPtrSet<const Function *, 8> untold;
  const GlobalVariable *list = code.getNamedGlobal("llvm.global.annotations");
  if (!list)
    return untold;
  for (const Use &use : list->getInitializer()->operands()) {
    auto *entry = cast<ConstantStruct>(use.get());
    auto *text =
        cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
    auto *bytes = cast<ConstantDataSequential>(text->getInitializer());
    auto *function =
        dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
    if (function && bytes->getAsCString() == "weft_untold")
      untold.insert(function);
  }
  return untold;
}

namespace {
struct TellAccesses : PassInfoMixin<TellAccesses> {
  PreservedAnalyses run(Module &code, ModuleAnalysisManager &) {
    SmallPtrSet<const Function *, 8> untold = findUntold(code);
    for (Function &function : code) {
      if (function.isDeclaration() || untold.contains(&function))
        continue;
      if (std::string what = weft::tellAccesses(function); !what.empty())
        code.getContext().emitError(function.getName() + ": cannot tell " +
                                    what);
    }
    return PreservedAnalyses::none();
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "weft-tell-accesses", "1",
          [](PassBuilder &builder) {
            builder.registerOptimizerLastEPCallback(
                [](ModulePassManager &passes, OptimizationLevel,
                   ThinOrFullLTOPhase) { passes.addPass(TellAccesses()); });
          }};
}
