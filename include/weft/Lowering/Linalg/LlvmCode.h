//===- LlvmCode.h - Code of a module of LLVM --------------------*- C++ -*-===//
//
// LLVM helpers that code generation for every target uses.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOWERING_LINALG_LLVMCODE_H
#define WEFT_LOWERING_LINALG_LLVMCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"

#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace weft {

/// A code generator for x86-64 under Linux, of a processor and features by
/// LLVM's names. Null, with an error at `module`, if there is none.
std::unique_ptr<llvm::TargetMachine>
createHostMachine(mlir::ModuleOp module, llvm::StringRef processor,
                  llvm::StringRef features);

/// The analyses that passes over a module ask for.
class LlvmAnalyses {
public:
  /// `options`: of the standard pipelines that `builder` makes.
  explicit LlvmAnalyses(llvm::TargetMachine &machine,
                        llvm::PipelineTuningOptions options = {});

  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
};

/// The assembly or object file of `code`. Fails with an error at `module` if
/// the target has none.
llvm::FailureOr<std::vector<char>> writeCode(mlir::ModuleOp module,
                                             llvm::Module &code,
                                             llvm::TargetMachine &machine,
                                             llvm::CodeGenFileType type);

/// `code` as text.
std::string printCode(const llvm::Module &code);

} // namespace weft

#endif // WEFT_LOWERING_LINALG_LLVMCODE_H
