//===- Passes.h - From kernels to code for CUDA devices ---------*- C++ -*-===//

#ifndef WEFT_LOWERING_CUDA_PASSES_H
#define WEFT_LOWERING_CUDA_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

/// Alignment of buffer offsets in a device arena, in bytes.
inline constexpr int64_t kDeviceAlignment = 256;
/// Name of the module that holds all kernels.
inline constexpr llvm::StringLiteral kKernelModule = "kernels";

/// On a command of attention that cuDNN computes: kCudnn, or kCudnnOrOwn if the
/// program may fall back to its own kernels when it starts.
inline constexpr llvm::StringLiteral kAttentionAttr = "cuda.attention",
                                     kCudnn = "cudnn",
                                     kCudnnOrOwn = "cudnn_or_own";
/// On a gradient of attention that cuDNN may add up in an order that differs
/// from run to run (--deterministic=off).
inline constexpr llvm::StringLiteral kNondeterministicAttr =
    "cuda.nondeterministic";

/// The launch that a lowered kernel is written for: arrays of three sizes on
/// its `llvm.func`, threads of a block and blocks of the grid.
inline constexpr llvm::StringLiteral kBlockSize = "gpu.known_block_size",
                                     kGridSize = "gpu.known_grid_size";

/// The code that computes attention.
enum class AttentionLibrary { Own, Cudnn, CudnnOrOwn };

/// Whether cuDNN may compute attention of a plan.
bool usesCudnn(mlir::ModuleOp plan);
/// The number of commands with kNondeterministicAttr.
int64_t countNondeterministic(mlir::ModuleOp plan);
/// The first kAttentionAttr of a plan ("" for none) that
/// `weft-choose-attention` does not write for the library; nothing if all fit.
std::optional<std::string> findOtherMark(mlir::ModuleOp plan,
                                         AttentionLibrary library);

#define GEN_PASS_DECL
#include "weft/Lowering/Cuda/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Lowering/Cuda/Passes.h.inc"

/// Registers the dialects, conversions and translations of the lowering.
void registerLoweringCudaModels(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_LOWERING_CUDA_PASSES_H
