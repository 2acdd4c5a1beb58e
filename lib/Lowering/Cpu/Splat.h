//===- Splat.h - Constants of scalar and vector types -----------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CPU_SPLAT_H
#define WEFT_LIB_LOWERING_CPU_SPLAT_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace weft {

/// A constant of a scalar or vector type, every element `value`.
inline mlir::Value createSplat(mlir::OpBuilder &b, mlir::Location loc,
                               mlir::Type type, double value) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  mlir::TypedAttr attr;
  if (llvm::isa<mlir::FloatType>(element))
    attr = b.getFloatAttr(element, value);
  else
    attr = b.getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
    attr = mlir::DenseElementsAttr::get(vector, attr);
  return mlir::arith::ConstantOp::create(b, loc, attr);
}

} // namespace weft

#endif // WEFT_LIB_LOWERING_CPU_SPLAT_H
