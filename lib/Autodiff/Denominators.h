//===- Denominators.h - Means over the targets of a whole step --*- C++ -*-===//
//
// Private to lib/Autodiff. A mean over counted targets is s / d, with d known
// from targets and weights alone. Micro-batch k of K on rank r of W has s_kr
// and d_kr, and the mean of the step is (sum of s_kr) / D with D = sum of d_kr.
// The program `denominators` computes D / (W K) ahead of the step. The programs
// `micro` and `eval` divide s_kr by it, so that the mean over micro-batches and
// ranks of their results is the mean of the step.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_DENOMINATORS_H
#define WEFT_LIB_AUTODIFF_DENOMINATORS_H

#include "weft/Weft/Losses.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// A constant of the floating-point tensor type `type` that holds `number`.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type type, double number);

/// Whether `targets` are the input `targets` of a language model, perhaps
/// reshaped: classes, the next token of each.
bool areTokens(ProgramOp program, mlir::Value targets);

/// The ops of a model that a term of its loss or a metric is computed from and
/// that are means over targets whose number is known at run time, in program
/// order.
class Denominators {
public:
  /// Fails with an error on a mean whose targets or weights depend on what a
  /// step changes, and on a symbol that a state of this class needs.
  static llvm::FailureOr<Denominators> find(ProgramOp model);

  bool empty() const { return means.empty(); }

  /// Declares the states and builds `@denominators` at the insertion point.
  void build(mlir::OpBuilder &builder) const;

  /// Divides the means of `program`, a clone of the model, by the states. Of a
  /// `sum` of terms, a term whose denominator is 0 is divided by 1: it has no
  /// part in the sum, and values computed from it stay finite.
  void divide(ProgramOp program, bool isSum) const;

  /// Lets the writes of `program`, a clone of the model, leave the states as
  /// they are in a step without a counted target.
  void keepStates(ProgramOp program) const;

  /// A value that is true where output `index` has no counted target; null if
  /// it always has some. Outputs are the terms of the loss, then the metrics.
  /// Built at the insertion point in a clone of the model, from the states.
  mlir::Value isEmptyOutput(mlir::OpBuilder &builder, unsigned index) const;

private:
  llvm::LogicalResult collect();
  llvm::SmallVector<CountedMeanOpInterface> findIn(ProgramOp program) const;
  bool mayHaveNoTargets() const;
  llvm::LogicalResult verifyKnownBefore(CountedMeanOpInterface mean) const;
  llvm::LogicalResult verifyNames() const;
  void declareStates(mlir::OpBuilder &builder) const;
  mlir::Value readState(mlir::OpBuilder &builder, mlir::Location loc,
                        unsigned mean) const;
  mlir::Value isEmpty(mlir::OpBuilder &builder, unsigned output,
                      llvm::function_ref<mlir::Value(unsigned)> total) const;
  void buildBody(ProgramOp program) const;

  ProgramOp model;
  llvm::SmallVector<CountedMeanOpInterface> means;
  /// The number of each among all ops of the interface in the model.
  llvm::SmallVector<unsigned> ordinals;
  /// For each term of the loss and each metric, the means that it is computed
  /// from.
  llvm::SmallVector<llvm::SmallVector<unsigned>> outputs;
  unsigned numTerms = 0; // of the loss, the first ones of `outputs`
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_DENOMINATORS_H
