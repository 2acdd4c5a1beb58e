//===- BackwardOps.h - The ops that autodiff builds -------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_BACKWARDOPS_H
#define WEFT_LIB_AUTODIFF_BACKWARDOPS_H

#include "weft/Weft/Weft.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace weft {

/// Gives each op that is built the scope and the location of the op whose
/// adjoint it belongs to, and remembers it.
class BackwardOps : public mlir::OpBuilder::Listener {
public:
  /// Ops built next belong to an op with that location and scope.
  void follow(mlir::Location newLoc, llvm::StringRef newScope);
  /// Ops built next belong to the same op as the backward op `op`.
  void follow(mlir::Operation *op);

  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) override;
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  size_t size() const { return ops.size(); }

  /// Erases unused ops: pads that were joined and gradients that were
  /// recomputed in f32.
  void eraseDead();

private:
  std::optional<mlir::Location> loc;
  mlir::StringAttr scope;
  llvm::SetVector<mlir::Operation *> ops;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_BACKWARDOPS_H
