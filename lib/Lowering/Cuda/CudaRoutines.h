//===- CudaRoutines.h - Routines of CUDA devices ----------------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CUDA_CUDAROUTINES_H
#define WEFT_LIB_LOWERING_CUDA_CUDAROUTINES_H

#include "weft/Lowering/Cuda/Cuda.h"
#include "weft/Lowering/Table/Routines.h"

#include "llvm/ADT/StringMap.h"

namespace weft {

/// CUDA devices as a target of the program tables. The kernels are functions of
/// `module` after `weft-lower-to-cuda`; before that pass there are none.
class CudaRoutines final : public TableTarget {
public:
  CudaRoutines(mlir::ModuleOp module, llvm::ArrayRef<CudaTarget> devices);

  llvm::StringRef getTitle() const override { return "CUDA devices"; }
  llvm::StringRef getPrefix() const override { return "weft_cuda_"; }
  std::string getRoutine(WeftCommandKind kind,
                         llvm::StringRef name) const override;
  int64_t getWorkspaceBytes(WeftCommandKind kind, const void *record,
                            int64_t threads) const override;
  llvm::StringRef getCollectivePrefix() const override { return getPrefix(); }
  int64_t getCollectiveWorkspaceBytes(mlir::Operation *collective,
                                      const void *record) const override;
  llvm::LogicalResult check(plan::CommandOpInterface command,
                            const RoutineCall &call) const override;
  llvm::StringRef getLowering() const override { return "weft-lower-to-cuda"; }
  std::optional<KernelLaunch> findKernel(llvm::StringRef name) const override;
  /// Whether attention is cuDNN's.
  bool hasCudnn() const { return usesCudnn; }

private:
  llvm::LogicalResult checkAttention(plan::CommandOpInterface command,
                                     const RoutineCall &call) const;

  int64_t getWorkspaceBytes(WeftCommandKind kind, const void *record,
                            const CudaTarget &device) const;

  llvm::SmallVector<CudaTarget> devices;
  bool usesCudnn; // for attention
  llvm::StringMap<DeviceLaunch> kernels;
};

/// The variant of a command of attention.
const WeftAttentionVariant &getVariant(const RoutineCall &call);

} // namespace weft

#endif // WEFT_LIB_LOWERING_CUDA_CUDAROUTINES_H
