//===- Branches.h - What layer drops leave out ------------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_BRANCHES_H
#define WEFT_LIB_AUTODIFF_BRANCHES_H

#include "BackwardOps.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <memory>
#include <vector>

namespace weft {

/// An operand of a layer drop, with the ops whose results the loss needs for it
/// alone.
struct Branch {
  LayerDropOp op;
  /// Taken unless the layer is dropped; else: only then.
  bool isLayer;
  /// The one that the layer drop is in; null: the program itself.
  const Branch *outer;
  /// Of all branches of the program, which are told apart by it.
  unsigned number;
};

/// The branches of a program, of the ops that the loss needs. They are those at
/// the time at which it is made: what backward ops read does not count.
class Branches {
public:
  Branches(ProgramOp program, mlir::OpBuilder &builder, BackwardOps &backward);

  /// The innermost branch that the op is in; null: the program itself.
  const Branch *of(mlir::Operation *op) const { return ops.lookup(op); }
  /// That of what an operand is used for.
  const Branch *of(mlir::OpOperand &use) const;

  /// Those of which one has to be taken for the loss to need what an operand is
  /// used for; null among them: it always does.
  llvm::SmallVector<const Branch *> findDeciding(mlir::OpOperand &use) const;

  /// Makes less of a set of such branches, if it can.
  void simplify(llvm::SetVector<const Branch *> &set) const;

  /// `grad`, of an op in `from`, for a value in `to`, which is around it: zeros
  /// where `from` was not taken, whatever `grad` holds then.
  mlir::Value leave(mlir::Value grad, const Branch *from, const Branch *to);
  /// Whether none of the branches was taken.
  mlir::Value areLeftOut(llvm::ArrayRef<const Branch *> list);

private:
  const Branch *meet(const Branch *a, const Branch *b) const;
  bool isNeeded(mlir::OpOperand &use) const;
  void place(mlir::Operation *op);
  mlir::Value isLeftOut(const Branch *from, const Branch *to);

  mlir::OpBuilder &builder;
  BackwardOps &backward;
  /// Of the forward ops and the conditions behind them.
  mlir::Operation *last;
  std::vector<std::unique_ptr<Branch>> all;
  llvm::DenseMap<mlir::Operation *, const Branch *> ops;
  /// Of the ops that the loss needs.
  llvm::DenseMap<mlir::Operation *, llvm::SetVector<const Branch *>> deciding;
  /// By the layer drop and the number of the operand.
  std::map<std::pair<mlir::Operation *, unsigned>, const Branch *> operands;
  std::map<std::pair<const Branch *, const Branch *>, mlir::Value> conditions;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_BRANCHES_H
