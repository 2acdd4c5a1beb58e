//===- Writes.h - The states that a program writes --------------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_WRITES_H
#define WEFT_LIB_SHARDING_WRITES_H

#include "weft/Weft/Weft.h"

namespace weft {

/// A state and its new value, in the order of the program's return.
struct Write {
  mlir::FlatSymbolRefAttr state;
  mlir::Value value;
};
using Writes = llvm::SmallVector<Write>;

Writes getWrites(ProgramOp program);
/// Makes the program write these and no others.
void setWrites(ProgramOp program, llvm::ArrayRef<Write> writes);

} // namespace weft

#endif // WEFT_LIB_SHARDING_WRITES_H
