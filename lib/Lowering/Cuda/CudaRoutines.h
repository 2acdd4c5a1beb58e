//===- CudaRoutines.h - Routines of CUDA devices ----------------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CUDA_CUDAROUTINES_H
#define WEFT_LIB_LOWERING_CUDA_CUDAROUTINES_H

#include "weft/Abi/CudnnAttention.h"
#include "weft/Lowering/Cuda/Cuda.h"
#include "weft/Lowering/Cuda/Passes.h"
#include "weft/Lowering/Table/Routines.h"

#include "llvm/ADT/StringMap.h"

namespace weft {

/// The chips of a pass option, such as "sm_80,sm_90". Fails with an error on
/// the module if one of them is unknown.
llvm::FailureOr<llvm::SmallVector<CudaTarget>>
parseChips(mlir::ModuleOp module, const std::string &chips);

/// CUDA devices as a target of the program tables. The kernels are functions of
/// `module` after `weft-lower-to-cuda`; before that pass there are none.
class CudaRoutines final : public TableTarget {
public:
  CudaRoutines(mlir::ModuleOp module, llvm::ArrayRef<CudaTarget> devices);

  llvm::StringRef getTitle() const override { return "CUDA devices"; }
  llvm::StringRef getPrefix() const override { return "weft_cuda_"; }
  std::string getRoutine(plan::CommandOpInterface command,
                         llvm::StringRef name) const override;
  /// The largest of all chips: they share a plan.
  int64_t getWorkspaceBytes(const RoutineCall &call,
                            int64_t threads) const override;
  llvm::StringRef getCollectivePrefix() const override { return getPrefix(); }
  int64_t getCollectiveWorkspaceBytes(mlir::Operation *collective,
                                      const void *record) const override;
  llvm::LogicalResult check(plan::CommandOpInterface command,
                            const RoutineCall &call) const override;
  llvm::StringRef getLowering() const override { return "weft-lower-to-cuda"; }
  std::optional<KernelLaunch> findKernel(llvm::StringRef name) const override;
  /// The rule of cuDNN that attention breaks on one of the chips, or "".
  std::string findWrongCudnn(const RoutineCall &call) const;
  /// Bytes that cuDNN needs for attention on any of the chips.
  int64_t getCudnnBytes(const RoutineCall &call, CudnnOrder order) const;

private:
  llvm::LogicalResult checkAttention(plan::CommandOpInterface command,
                                     const RoutineCall &call) const;

  llvm::SmallVector<CudaTarget> devices;
  llvm::StringMap<DeviceLaunch> kernels;
};

inline bool isAttention(WeftCommandKind kind) {
  return kind == WEFT_ATTENTION || kind == WEFT_ATTENTION_GRAD;
}

/// The code that a command of attention has been given
/// (`weft-choose-attention`).
AttentionLibrary getAttentionLibrary(mlir::Operation *command);

/// The order of the sums of a command that cuDNN computes.
CudnnOrder getCudnnOrder(mlir::Operation *command);

/// The variant of a command of attention.
const WeftAttentionVariant &getVariant(const RoutineCall &call);

} // namespace weft

#endif // WEFT_LIB_LOWERING_CUDA_CUDAROUTINES_H
