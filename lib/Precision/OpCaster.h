//===- OpCaster.h - Casts the operands of one op ----------------*- C++ -*-===//

#ifndef WEFT_LIB_PRECISION_OPCASTER_H
#define WEFT_LIB_PRECISION_OPCASTER_H

#include "CastPolicies.h"
#include "weft/Weft/Losses.h"

namespace weft {

class CastSummary;

/// Settings of a `with torch.autocast(...)` for the ops inside.
struct CastSettings {
  /// The low type, or null: nothing is cast in the whole program.
  mlir::Type dtype;
  bool enabled = true;
};

/// Rewrites the ops of one program, first to last.
class OpCaster {
public:
  /// `summary`: rows of a table; null for a program whose ops another one has,
  /// which gets no remarks either.
  OpCaster(CastPolicies &policies, CastSummary *summary)
      : policies(policies), summary(summary) {}

  /// Casts the operands of `op` as its policy asks and updates its types.
  llvm::LogicalResult castOp(mlir::Operation *op, CastSettings settings);

  /// Keeps what makes the losses of a model in f32: a loss in f16 could not
  /// take a gradient of 65536, the usual loss scale.
  void keepLosses(ProgramOp model);

  /// Casts outputs and written values to their declared types.
  void castResults(ReturnOp terminator);

  unsigned numCasts = 0;
  unsigned numParameterCasts = 0;

private:
  llvm::LogicalResult castExplicit(CastPolicyOpInterface op);
  llvm::LogicalResult applyPolicy(CastPolicyOpInterface op, mlir::Type low,
                                  const CastDecision &decision);
  /// Casts all operands that may be cast, perhaps without factors.
  void castAll(CastPolicyOpInterface op, mlir::Type element,
               llvm::StringRef why, bool withFactors = true);
  llvm::LogicalResult promote(CastPolicyOpInterface op, mlir::Type low,
                              llvm::StringRef why);
  void narrow(CastPolicyOpInterface op, mlir::Type low, llvm::StringRef why);
  void lowerLeaves(CastPolicyOpInterface op, mlir::Type low,
                   llvm::StringRef why);
  /// Makes the types of the operands ones that the op takes. `keepFactors`: its
  /// factors do not widen a low first operand.
  llvm::LogicalResult joinOperands(CastPolicyOpInterface op, bool keepFactors);
  void joinPromoted(CastPolicyOpInterface op, bool keepFactors);
  llvm::LogicalResult checkEqual(CastPolicyOpInterface op);

  /// Casts results to `roundTo`, if it is set.
  void roundResults(mlir::Operation *op);

  void castOperand(mlir::OpOperand &operand, mlir::Type element,
                   const llvm::Twine &why);
  /// The one cast of that parameter to `element`.
  mlir::Value castParameter(ReadOp read, mlir::Type element);
  void remark(mlir::Operation *op, const llvm::Twine &text);
  /// Says why an op stays as it is, unless an operand was cast, and adds the op
  /// to the summary.
  void explainOp(CastPolicyOpInterface op, llvm::StringRef why);

  CastPolicies &policies;
  CastSummary *summary;
  bool isTouched = false;
  /// Ops with scalar results on the way to a loss.
  llvm::DenseSet<mlir::Operation *> lossOps;
  /// The low type of the op at hand where it computes in f32.
  mlir::Type roundTo;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> copies;
};

} // namespace weft

#endif // WEFT_LIB_PRECISION_OPCASTER_H
