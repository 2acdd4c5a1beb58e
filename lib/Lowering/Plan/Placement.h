//===- Placement.h - Which values lie in whose bytes ------------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_PLAN_PLACEMENT_H
#define WEFT_LIB_LOWERING_PLAN_PLACEMENT_H

#include "weft/Layout/LayoutQueries.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/DenseMap.h"

namespace weft {

/// Part of a root: of a state, or of the buffer of a concatenation.
struct Place {
  mlir::StringAttr state;
  mlir::Value whole; // where there is no state
  Layout layout;
};

/// Places of ops, the terminator's is the last.
using Positions = llvm::DenseMap<mlir::Operation *, int64_t>;

/// The places of results. A result without a place may be computed anywhere.
using Placement = llvm::DenseMap<mlir::Value, Place>;

/// Decides which results are computed in the bytes of a state or of a
/// concatenation. It walks the program from its end back. A result may
/// overwrite a state once no later op reads the old contents. Results and reads
/// are compared by element.
Placement computePlacement(ProgramOp program, const mlir::SymbolTable &symbols,
                           const Positions &positions);

} // namespace weft

#endif // WEFT_LIB_LOWERING_PLAN_PLACEMENT_H
