//===- DecodeProgram.h - A program that computes one token ------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_DECODEPROGRAM_H
#define WEFT_LIB_AUTODIFF_DECODEPROGRAM_H

#include "RowFlows.h"

#include "mlir/IR/IRMapping.h"

namespace weft {

/// The keys and values of one attention: states [groups, positions, width].
struct AttentionCache {
  AttentionOp op;
  StateOp key, value;
};

/// Keys or values [1, positions, groups, width] as [groups, positions, width].
mlir::Value groupsFirst(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value rows);

/// Whether every element of the table is the same number as an f32: floats,
/// i1, and integers within 2^24 that a constant or an iota gives.
bool isExactAsFloat(mlir::Value table);

/// The entry at `position` of a table with `positions` entries along `dim`,
/// each of one or more neighbouring elements. The result has the shape of the
/// table with one entry. isExactAsFloat holds.
mlir::Value tableEntry(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value table, int64_t dim, int64_t positions,
                       mlir::Value position);

/// Builds the program `decode` from the program `logits`, op by op. Every op
/// computes each position alone, which ops answer as for rows of a batch
/// (RowFlowOpInterface), with positions as rows. Only attention reads other
/// positions, from the cache.
class DecodeProgram {
public:
  /// With `isOptional` a model that cannot be sampled so gets a warning.
  DecodeProgram(ProgramOp logits, bool isOptional);

  /// Builds the program behind `logits` and declares the states. On failure the
  /// module is as before, and has a diagnostic.
  llvm::LogicalResult build();
  llvm::ArrayRef<AttentionCache> getCaches() const { return caches; }

private:
  llvm::LogicalResult check();
  llvm::LogicalResult decodeAll();
  void declare();
  llvm::LogicalResult decode(mlir::Operation &op);
  void decodeFixed(mlir::Operation &op);
  llvm::LogicalResult decodeRows(mlir::Operation &op);
  /// Whether the op takes the row of the window that the logits are of.
  bool isPick(mlir::Operation &op);
  /// The flows of the operands. A table with an entry for each position becomes
  /// the entry at the position, in `rows`.
  llvm::FailureOr<llvm::SmallVector<RowFlow>>
  flowsOf(mlir::Operation &op, llvm::SmallVectorImpl<mlir::Value> &rows);
  /// The entry of `table` at the position of the token, along `dim`.
  llvm::FailureOr<mlir::Value> rowOf(mlir::Operation &op, mlir::Value table,
                                     int64_t dim);

  llvm::LogicalResult checkAttention(AttentionOp op);
  llvm::LogicalResult decodeAttention(AttentionOp op);
  StateOp declareState(AttentionOp op, llvm::StringRef what, mlir::Value rows);
  /// The keys of the cache that the token sees: [positions].
  mlir::Value visibleKeys(AttentionOp op, mlir::Value keys);
  /// The state with the token's row at its position. Writes the state.
  mlir::Value keptRow(mlir::Location loc, mlir::Value isHere, mlir::Value row,
                      StateOp state);
  /// The output of the attention of one query.
  mlir::Value attend(AttentionOp op, mlir::Value keys, mlir::Value values,
                     mlir::Value visible);

  llvm::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason);

  ProgramOp logits, program;
  bool isOptional;
  mlir::SymbolTable symbols;
  mlir::OpBuilder builder;
  int64_t positions = 0;
  mlir::IRMapping mapped;
  llvm::DenseMap<mlir::Value, RowFlow> flows;
  /// Values that are fixed in one run but not between runs: made of the input
  /// `position`, or of the row at it. A cache would keep old ones.
  llvm::DenseSet<mlir::Value> positional;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> entries;
  mlir::Value position;
  llvm::SmallVector<AttentionCache> caches;
  llvm::SmallVector<mlir::Value> written;
  llvm::SmallVector<mlir::Attribute> targets;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_DECODEPROGRAM_H
