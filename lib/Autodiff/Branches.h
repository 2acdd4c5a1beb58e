//===- Branches.h - Branches of layer drops ---------------------*- C++ -*-===//
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

/// An operand of a layer drop, with the ops whose results the loss needs only
/// for this operand.
struct Branch {
  LayerDropOp op;
  /// True: taken unless the layer is dropped. False: taken only if it is.
  bool isLayer;
  /// The branch that contains the layer drop; null: the program itself.
  const Branch *outer;
  /// Unique among the branches of the program.
  unsigned number;
};

/// A value is needed if one of these branches is taken; sorted by number.
/// Empty: it is always needed.
using Deciding = llvm::SmallVector<const Branch *, 2>;

/// The branches of the ops that the loss needs. Computed at construction, so
/// backward ops built later do not count as users.
class Branches {
public:
  Branches(ProgramOp program, mlir::OpBuilder &builder, BackwardOps &backward);

  /// The branches that decide whether the loss needs the user of an operand.
  Deciding findDeciding(mlir::OpOperand &use) const;
  /// The branches that decide whether the loss needs one of several uses.
  Deciding join(llvm::ArrayRef<Deciding> uses) const;

  /// `grad`, the gradient that the user of an operand computed for it. Selects
  /// zeros where the loss needs the operand but not this user; `grad` may then
  /// hold any values.
  mlir::Value leave(mlir::Value grad, mlir::OpOperand &use);
  /// `grad`, or zeros if none of the branches was taken.
  mlir::Value leave(mlir::Value grad, const Deciding &from);
  /// Whether none of the branches was taken.
  mlir::Value areLeftOut(const Deciding &branches);

private:
  /// An unsorted Deciding. A null element means that it is always needed.
  using Set = llvm::SetVector<const Branch *>;

  /// The innermost branch that contains the op; null: the program itself.
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
  /// The last forward op, or the last condition inserted after it.
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

/// Parameters that are used in the same branches alone share a state, which
/// counts the micro-steps of a step that have taken one of these.
class PresenceCounts {
public:
  /// The state of parameters that those branches decide about, or null.
  StateOp find(const Deciding &deciding) const;
  void add(const Deciding &deciding, StateOp state);

  /// The new value of each state, built at the insertion point: with `flag`
  /// (weft.accumulate) added to the old one.
  llvm::SmallVector<std::pair<llvm::StringRef, mlir::Value>>
  count(Branches &branches, mlir::OpBuilder &builder, BackwardOps &backward,
        mlir::Value flag) const;

private:
  struct Entry {
    Deciding deciding;
    StateOp state;
  };
  llvm::SmallVector<Entry> entries;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_BRANCHES_H
