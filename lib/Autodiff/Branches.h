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

/// Branches of which one has to be taken for something to be needed, in their
/// order; none: it always is.
using Deciding = llvm::SmallVector<const Branch *, 2>;

/// The branches of a program, of the ops that the loss needs. They are those at
/// the time at which it is made: what backward ops read does not count.
class Branches {
public:
  Branches(ProgramOp program, mlir::OpBuilder &builder, BackwardOps &backward);

  /// What decides whether the loss needs what an operand is used for.
  Deciding findDeciding(mlir::OpOperand &use) const;
  /// What decides whether it needs one of several uses.
  Deciding join(llvm::ArrayRef<Deciding> uses) const;

  /// `grad`, which the user of an operand has made for it: zeros where the loss
  /// needs the operand without this user, whatever `grad` holds then.
  mlir::Value leave(mlir::Value grad, mlir::OpOperand &use);
  /// `grad`, zeros where none of the branches was taken.
  mlir::Value leave(mlir::Value grad, const Deciding &from);
  /// Whether none of the branches was taken.
  mlir::Value areLeftOut(const Deciding &branches);

private:
  /// As Deciding; null among them: it always is needed.
  using Set = llvm::SetVector<const Branch *>;

  /// The innermost branch that the op is in; null: the program itself.
  const Branch *of(mlir::Operation *op) const { return ops.lookup(op); }
  const Branch *of(mlir::OpOperand &use) const;
  const Branch *meet(const Branch *a, const Branch *b) const;
  bool isNeeded(mlir::OpOperand &use) const;
  Deciding findDeciding(mlir::Operation *op) const;
  void simplify(Set &set) const;
  void place(mlir::Operation *op);
  bool isInOneChain(const Branch *branch) const;
  mlir::Value isLeftOut(const Branch *from, const Branch *to);
  mlir::Value isLeftOut(const Branch *branch);
  mlir::Value select(mlir::Value grad, mlir::Value isZero);
  template <typename Op, typename... Values>
  mlir::Value appendCondition(LayerDropOp about, Values... values);

  mlir::OpBuilder &builder;
  BackwardOps &backward;
  /// Of the forward ops and the conditions behind them.
  mlir::Operation *last;
  std::vector<std::unique_ptr<Branch>> all;
  llvm::DenseMap<mlir::Operation *, const Branch *> ops;
  /// Of the ops that the loss needs.
  llvm::DenseMap<mlir::Operation *, Set> deciding;
  /// By the layer drop and the number of the operand.
  std::map<std::pair<mlir::Operation *, unsigned>, const Branch *> operands;
  std::map<std::pair<const Branch *, const Branch *>, mlir::Value> conditions;
  std::map<Deciding, mlir::Value> commonConditions;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_BRANCHES_H
