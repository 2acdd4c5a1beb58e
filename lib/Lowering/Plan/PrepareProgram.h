//===- PrepareProgram.h - Facts that lowering needs in advance --*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_PLAN_PREPAREPROGRAM_H
#define WEFT_LIB_LOWERING_PLAN_PREPAREPROGRAM_H

#include "weft/Layout/LayoutQueries.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace weft {

/// Part of a root: of a state, or of the buffer of a concatenation.
struct BufferPlace {
  mlir::StringAttr state;
  mlir::Value whole; // where there is no state
  Layout layout;
};

/// Places of ops, the terminator's is the last.
using Positions = llvm::DenseMap<mlir::Operation *, int64_t>;

/// The places of results. A result without a place may be computed anywhere.
using Placement = llvm::DenseMap<mlir::Value, BufferPlace>;

/// Decides which results are computed in the bytes of a state or of a
/// concatenation. It walks the program from its end back. A result may
/// overwrite a state once no later op reads the old contents. Results and reads
/// are compared by element.
Placement computePlacement(ProgramOp program, const mlir::SymbolTable &symbols,
                           const Positions &positions);

/// Facts about one program that the lowering of an op needs about later ops.
struct LoweringFacts {
  /// Position of every op of the body; the terminator is the last.
  Positions positions;
  /// Last reader of a value or of any view of it, by the value without views.
  llvm::DenseMap<mlir::Value, int64_t> lastUses;
  /// Where results are computed.
  Placement placement;
  /// Products and embedding gradients that an accumulation carries out.
  llvm::DenseSet<mlir::Operation *> folded;
  /// First op of the backward part, or the number of ops if there is none.
  int64_t backwardStart = 0;

  /// Last reader of `value` or of anything that shares its bytes.
  int64_t getLastUse(mlir::Value value) const;
};

/// Moves reads to the start and every accumulation next to its gradient, then
/// collects the facts.
LoweringFacts prepareProgram(ProgramOp program,
                             const mlir::SymbolTable &symbols);

} // namespace weft

#endif // WEFT_LIB_LOWERING_PLAN_PREPAREPROGRAM_H
