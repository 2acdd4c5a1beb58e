//===- PlainProducts.h - Products whose memory may still change -*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CUDA_PLAINPRODUCTS_H
#define WEFT_LIB_LOWERING_CUDA_PLAINPRODUCTS_H

#include "weft/Plan/Plan.h"

namespace weft {

inline mlir::MemRefType getMemRefType(mlir::Value buffer) {
  return mlir::cast<mlir::MemRefType>(buffer.getType());
}

/// Whether a product has no epilogue, bias or sums, and neither a stream nor a
/// workspace yet.
inline bool isPlainProduct(plan::GemmOp gemm) {
  return !gemm.getWorkspace() && !gemm.getStream() &&
         gemm.getEpilogue() == Epilogue::None && !gemm.getBias() &&
         !gemm.getAux() && !gemm.getColumnSum() && !gemm.getLhsSum() &&
         !gemm.getRhsSum();
}

} // namespace weft

#endif // WEFT_LIB_LOWERING_CUDA_PLAINPRODUCTS_H
