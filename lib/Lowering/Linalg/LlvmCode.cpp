//===- LlvmCode.cpp - Code of a module of LLVM ----------------------------===//

#include "weft/Lowering/Linalg/LlvmCode.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace weft;

static void initializeHost() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine>
weft::createHostMachine(ModuleOp module, StringRef processor,
                        StringRef features) {
  initializeHost();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError("has no code generator: ") << error;
    return nullptr;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, processor, features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

LlvmAnalyses::LlvmAnalyses(llvm::TargetMachine &machine,
                           llvm::PipelineTuningOptions options)
    : builder(&machine, options) {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
}

FailureOr<std::vector<char>> weft::writeCode(ModuleOp module,
                                             llvm::Module &code,
                                             llvm::TargetMachine &machine,
                                             llvm::CodeGenFileType type) {
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return module.emitError("has no such code for its target");
  passes.run(code);
  return std::vector<char>(bytes.begin(), bytes.end());
}

std::string weft::printCode(const llvm::Module &code) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  code.print(stream, nullptr);
  return text;
}
