//===- Branches.h - What layer drops leave out ------------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_BRANCHES_H
#define WEFT_LIB_AUTODIFF_BRANCHES_H

#include "BackwardOps.h"

#include <map>
#include <memory>
#include <vector>

namespace weft {

/// An operand of a layer drop, with the ops whose results the program needs for
/// it alone.
struct Branch {
  LayerDropOp op;
  /// Taken unless the layer is dropped; else: only then.
  bool isLayer;
  /// The one that the layer drop is in; null: the program itself.
  const Branch *outer;
  /// Of all branches of the program, which are told apart by it.
  unsigned number;
};

/// The branches of a program. They are those of the ops at the time at which it
/// is made: what backward ops read does not count.
class Branches {
public:
  Branches(ProgramOp program, mlir::OpBuilder &builder, BackwardOps &backward);

  /// The innermost branch that the op is in; null: the program itself.
  const Branch *of(mlir::Operation *op) const { return ops.lookup(op); }
  /// That of what an operand is used for.
  const Branch *of(mlir::OpOperand &use) const;

  /// `grad`, of an op in `from`, for a value in `to`, which is around it: zeros
  /// where `from` was not taken, whatever `grad` holds then.
  mlir::Value leave(mlir::Value grad, const Branch *from, const Branch *to);
  /// Whether none of the branches was taken.
  mlir::Value areLeftOut(llvm::ArrayRef<const Branch *> list);

private:
  const Branch *meet(const Branch *a, const Branch *b) const;
  const Branch *findInnermost(mlir::Operation *op) const;
  mlir::Value isLeftOut(const Branch *from, const Branch *to);

  mlir::OpBuilder &builder;
  BackwardOps &backward;
  /// Of the forward ops and the conditions behind them.
  mlir::Operation *last;
  std::vector<std::unique_ptr<Branch>> all;
  llvm::DenseMap<mlir::Operation *, const Branch *> ops;
  /// By the layer drop and the number of the operand.
  std::map<std::pair<mlir::Operation *, unsigned>, const Branch *> operands;
  std::map<std::pair<const Branch *, const Branch *>, mlir::Value> conditions;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_BRANCHES_H
