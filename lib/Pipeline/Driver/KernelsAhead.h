//===- KernelsAhead.h - Kernel compilation in a thread ----------*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_DRIVER_KERNELSAHEAD_H
#define WEFT_LIB_PIPELINE_DRIVER_KERNELSAHEAD_H

#include "weft/Pipeline/Targets/Target.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <atomic>
#include <future>
#include <memory>
#include <vector>

namespace weft {

/// Compiles the kernels of a module to machine code in a thread of the context,
/// while the caller compiles the rest of the module.
class KernelsAhead {
public:
  /// Copies the kernels and begins. Null where the context has one thread.
  static std::unique_ptr<KernelsAhead> start(mlir::ModuleOp module,
                                             const KernelCompiler &compiler,
                                             const FlagValues &flags);
  /// Waits for the thread, which begins no further step.
  ~KernelsAhead();

  /// Waits for the lowered functions and replaces the kernels of `module` by
  /// copies of them. `module` is the argument of start(). Fails with the errors
  /// of the thread, or with an error if a kernel has changed since.
  llvm::LogicalResult replaceKernels(mlir::ModuleOp module);

  /// Waits for the kernels' object. Fails with the errors of the thread.
  llvm::FailureOr<std::vector<char>> takeObject();

private:
  KernelsAhead(mlir::ModuleOp module, const KernelCompiler &compiler,
               const FlagValues &flags);

  /// One of the tasks that the thread runs in sequence.
  struct Step {
    llvm::LogicalResult result = llvm::failure();
    std::vector<mlir::Diagnostic> diagnostics;
    std::promise<void> promise;
    std::shared_future<void> done = promise.get_future().share();
  };
  void run(Step &step, llvm::function_ref<llvm::LogicalResult()> work);
  llvm::LogicalResult wait(Step &step);
  llvm::LogicalResult lower();
  llvm::LogicalResult emit();

  const KernelCompiler &compiler;
  std::vector<mlir::OperationFingerPrint> originals; // of the caller's kernels
  mlir::PassManager passes;
  mlir::OwningOpRef<mlir::ModuleOp> kernels; // only read once they are lowered
  std::vector<char> object;
  Step lowering, emission;
  std::atomic<bool> isUnwanted = false;
  std::shared_future<void> thread;
};

} // namespace weft

#endif // WEFT_LIB_PIPELINE_DRIVER_KERNELSAHEAD_H
