//===- RepeatedUpdates.h - Updates that share kernels -----------*- C++ -*-===//
//
// A model has many parameters of one shape, whose updates differ only in their
// tensors. The first update is decomposed and fused; the others call its
// kernels.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FUSION_REPEATEDUPDATES_H
#define WEFT_LIB_FUSION_REPEATEDUPDATES_H

#include "weft/Weft/Weft.h"

#include <map>
#include <vector>

namespace weft {

/// A decomposed update, and the updates that call its kernels.
struct RepeatedUpdate {
  /// The states that the parameter, moments and gradient of the decomposed
  /// update are read from.
  llvm::SmallVector<mlir::Attribute> states;
  /// The terminator operands that are its results.
  llvm::SmallVector<int64_t> results;
  llvm::SmallVector<OptimizerOpInterface> repeats;
  /// The calls that the decomposed update became, in any order.
  llvm::SmallVector<CallOp> calls;
};

/// Finds the repeated updates of a program, by the first update of each group,
/// in program order. The updates of a group read their tensors from different
/// states, and all their results leave the program. With `explain`, remarks
/// give the reasons for updates that share no kernels.
llvm::MapVector<mlir::Operation *, RepeatedUpdate>
findRepeatedUpdates(ProgramOp program);

/// Whether the formula computes only elementwise values from the tensors of an
/// update. `formula` holds its ops in order. Otherwise a number that depends on
/// the tensors of the first update would be used for all.
bool isByElement(OptimizerOpInterface update,
                 llvm::ArrayRef<mlir::Operation *> formula);

/// Equal values of a program: the results of ops with the same name, properties
/// and type, whose operands are equal.
class EqualValues {
public:
  static constexpr int64_t kNoUpdate = -1;

  /// The first inserted value that equals the result of `op`, which is an op of
  /// `update`. Numbers of different updates may be equal, but not their
  /// tensors.
  mlir::Value insert(mlir::Operation *op, int64_t update = kNoUpdate);
  /// The first value that equals `value`, as far as it was inserted.
  mlir::Value find(mlir::Value value) const {
    return firsts.lookup_or(value, value);
  }

private:
  std::map<std::pair<int64_t, std::vector<const void *>>, mlir::Value> known;
  llvm::DenseMap<mlir::Value, mlir::Value> firsts;
};

/// Computes each single number once, of the ops that `isShared` accepts: later
/// ops with equal operands are replaced by the first. Returns their number.
unsigned shareNumbers(mlir::Block &block,
                      llvm::function_ref<bool(mlir::Operation *)> isShared);

/// Replaces the repeats by calls of the same kernels. Returns the number of new
/// calls.
unsigned callForRepeats(RepeatedUpdate &update);

} // namespace weft

#endif // WEFT_LIB_FUSION_REPEATEDUPDATES_H
