//===- KernelRange.h - Ranges of a kernel for CPU threads -------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CPU_KERNELRANGE_H
#define WEFT_LIB_LOWERING_CPU_KERNELRANGE_H

#include "weft/Analysis/RowOrder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft {

/// Lanes of every vector in generated code. Reduction trees depend on this
/// number, so a change of it changes the results of kernels.
inline constexpr int64_t kLanes = kSumChunk;

/// Whether the range of a kernel is its elements.
bool isFlat(const KernelShape &shape);

/// The range that threads divide. Its parts begin at multiples of the grain.
struct KernelRange {
  int64_t extent = 0; // elements, rows, or tiles of columns
  int64_t grain = 1;
  int64_t tile = 0; // columns of one step, in kernels over columns

  static KernelRange choose(const KernelShape &shape);

  /// The range recorded on a function; std::nullopt if there is none.
  static std::optional<KernelRange> get(mlir::LLVM::LLVMFuncOp function);
  void set(mlir::LLVM::LLVMFuncOp function) const;
};

} // namespace weft

#endif // WEFT_LIB_LOWERING_CPU_KERNELRANGE_H
