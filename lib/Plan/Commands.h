//===- Commands.h - Rules that verifiers of commands share ------*- C++ -*-===//

#ifndef WEFT_LIB_PLAN_COMMANDS_H
#define WEFT_LIB_PLAN_COMMANDS_H

#include "weft/Plan/Plan.h"

namespace weft::plan {

inline mlir::MemRefType getType(mlir::Value buffer) {
  return llvm::cast<mlir::MemRefType>(buffer.getType());
}

/// Fails with an error on the op unless the buffer called `name` has the shape.
llvm::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef name,
                                mlir::Value buffer,
                                llvm::ArrayRef<int64_t> shape);

/// The same for the element type; `orF32`: f32 will do too.
llvm::LogicalResult verifyElement(mlir::Operation *op, llvm::StringRef name,
                                  mlir::Value buffer, mlir::Type element,
                                  bool orF32 = false);

/// Shape and element type of `like`.
inline llvm::LogicalResult verifyLike(mlir::Operation *op, llvm::StringRef name,
                                      mlir::Value buffer, mlir::Value like) {
  if (failed(verifyShape(op, name, buffer, getType(like).getShape())))
    return llvm::failure();
  return verifyElement(op, name, buffer, getType(like).getElementType());
}

} // namespace weft::plan

#endif // WEFT_LIB_PLAN_COMMANDS_H
