//===- StateStorage.h - Memory of states ------------------------*- C++ -*-===//

#ifndef WEFT_PLAN_STATESTORAGE_H
#define WEFT_PLAN_STATESTORAGE_H

#include "weft/Plan/Plan.h"

namespace weft::plan {

/// On a gradient: the rows of its memory, more than its shape has. Products may
/// write the rows of padding (`weft-pad-gradients`), and nothing reads them. A
/// `plan.use` has the type of the memory.
inline constexpr llvm::StringLiteral kPaddedRowsAttr = "plan.padded_rows";

/// The type of the memory of a state. Without valid padding, its type.
mlir::MemRefType getStorageType(StateOp state);

} // namespace weft::plan

#endif // WEFT_PLAN_STATESTORAGE_H
