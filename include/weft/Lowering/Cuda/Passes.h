//===- Passes.h - From kernels to code for CUDA devices ---------*- C++ -*-===//

#ifndef WEFT_LOWERING_CUDA_PASSES_H
#define WEFT_LOWERING_CUDA_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

/// Alignment of buffer offsets in a device arena, in bytes.
inline constexpr int64_t kDeviceAlignment = 256;
/// Name of the module that holds all kernels.
inline constexpr llvm::StringLiteral kKernelModule = "kernels";

/// On a module whose attention cuDNN computes, with the value kCudnn.
inline constexpr llvm::StringLiteral kAttentionAttr = "cuda.attention",
                                     kCudnn = "cudnn";

/// The launch that a lowered kernel is written for: arrays of three sizes on
/// its `llvm.func`, threads of a block and blocks of the grid.
inline constexpr llvm::StringLiteral kBlockSize = "gpu.known_block_size",
                                     kGridSize = "gpu.known_grid_size";

/// The code that computes attention.
enum class AttentionLibrary { Own, Cudnn };

#define GEN_PASS_DECL
#include "weft/Lowering/Cuda/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Lowering/Cuda/Passes.h.inc"

/// Registers the dialects, conversions and translations of the lowering.
void registerLoweringCudaModels(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_LOWERING_CUDA_PASSES_H
