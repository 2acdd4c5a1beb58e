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

/// Where results are to be computed; those without a place: anywhere.
using Placement = llvm::DenseMap<mlir::Value, Place>;

/// Decides which results are computed in the bytes of a state or of a
/// concatenation, from the end of the program back to its values. A state may
/// be written where nothing reads what it held there any more; both are looked
/// at by elements.
Placement computePlacement(ProgramOp program, const mlir::SymbolTable &symbols,
                           const Positions &positions);

} // namespace weft

#endif // WEFT_LIB_LOWERING_PLAN_PLACEMENT_H
