//===- Optimizer.h - Properties of an optimizer -----------------*- C++ -*-===//

#ifndef WEFT_INTERFACES_OPTIMIZER_H
#define WEFT_INTERFACES_OPTIMIZER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace weft {

/// Properties that the definition of an optimizer's op gives without an op.
/// Names are the names of the op's operands.
struct OptimizerInfo {
  llvm::StringRef name; // "adamw": of the flag and of the op
  /// Of the states of a parameter, in the order of the operands.
  llvm::SmallVector<llvm::StringRef> states;
  /// Of the hyper-parameters: inputs of the program `apply`, `lr` and
  /// `weight_decay` first.
  llvm::SmallVector<llvm::StringRef> numbers;
  /// Of the unit attributes that a user may set.
  llvm::SmallVector<llvm::StringRef> flags;
  /// PyTorch's weight decay where the user gives none.
  double defaultDecay;
  /// Whether decay shrinks the parameter itself, not by way of the gradient.
  bool isDecoupled;

  bool hasFlag(llvm::StringRef flag) const {
    return llvm::is_contained(flags, flag);
  }
  /// Whether a group of parameters may set `key`: a flag, or a number other
  /// than the learning rate, which has a factor of its own.
  bool takes(llvm::StringRef key) const {
    return hasFlag(key) ||
           llvm::is_contained(llvm::ArrayRef(numbers).drop_front(), key);
  }
};

/// Index of the weight decay among the numbers.
inline constexpr unsigned kDecayNumber = 1;

/// The factors of an update's numbers from element `begin` of a flat parameter
/// to the `begin` of the next entry. Positions count elements of all shards
/// together, as in segments.
struct UpdateFactors {
  int64_t begin = 0;
  double lrScale = 1.0, decayScale = 1.0;
  /// In place of the operand.
  std::optional<double> weightDecay = std::nullopt;

  bool hasSameLr(const UpdateFactors &other) const {
    return lrScale == other.lrScale;
  }
  bool hasSameDecay(const UpdateFactors &other) const {
    return decayScale == other.decayScale && weightDecay == other.weightDecay;
  }
};

class OptimizerOpInterface;

/// The factors of an update by range of elements, one from element 0 on if they
/// are the same for all.
llvm::SmallVector<UpdateFactors> getUpdateFactors(OptimizerOpInterface op);

namespace detail {
llvm::LogicalResult verifyOptimizer(mlir::Operation *op);
mlir::Value addWorkingCopy(mlir::Operation *op, mlir::OpBuilder &builder,
                           mlir::Type element);
} // namespace detail

} // namespace weft

#endif // WEFT_INTERFACES_OPTIMIZER_H
