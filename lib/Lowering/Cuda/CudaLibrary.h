//===- CudaLibrary.h - Routines of CUDA devices -----------------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CUDA_CUDALIBRARY_H
#define WEFT_LIB_LOWERING_CUDA_CUDALIBRARY_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

/// The library "cuda".
void registerCudaLibrary(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_LIB_LOWERING_CUDA_CUDALIBRARY_H
