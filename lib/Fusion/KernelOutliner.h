//===- KernelOutliner.h - From ops to a kernel and its call -----*- C++ -*-===//

#ifndef WEFT_LIB_FUSION_KERNELOUTLINER_H
#define WEFT_LIB_FUSION_KERNELOUTLINER_H

#include "Fusion.h"

namespace weft {

/// Moves ops that one kernel computes into a kernel of the module.
class KernelOutliner {
public:
  KernelOutliner(llvm::ArrayRef<mlir::Operation *> ops,
                 const KernelSpace &space, KernelPool &pool)
      : ops(ops.begin(), ops.end()), pool(pool), space(space) {
    set.insert(ops.begin(), ops.end());
  }

  /// Members that the kernel has to write.
  llvm::SmallVector<mlir::Value> findOutputs();
  /// Creates a call of the kernel before `place` and returns it. Outside users
  /// read the results of the call. The ops themselves stay.
  llvm::FailureOr<CallOp> outline(mlir::Operation *place);

private:
  llvm::SmallVector<mlir::Value> findInputs();
  std::vector<uintptr_t> content(llvm::ArrayRef<mlir::Value> inputs);
  KernelOp build(llvm::ArrayRef<mlir::Value> inputs);
  llvm::FailureOr<KernelOp> unify(KernelOp kernel);
  void recordFormulas(KernelOp kernel);
  void replace(CallOp call);

  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallPtrSet<mlir::Operation *, 8> set;
  KernelPool &pool;
  const KernelSpace &space;
  llvm::SmallVector<mlir::Value> outputs;
};

} // namespace weft

#endif // WEFT_LIB_FUSION_KERNELOUTLINER_H
