//===- StandardRoutines.h - Routines of every runtime -----------*- C++ -*-===//

#ifndef WEFT_LOWERING_LINALG_STANDARDROUTINES_H
#define WEFT_LOWERING_LINALG_STANDARDROUTINES_H

#include "weft/Analysis/KernelLibrary.h"

namespace weft {

/// Products, attention, lookups. All else is generated, so that it can be one
/// kernel with what makes its operands.
llvm::ArrayRef<LibraryRoutine> getStandardRoutines();

} // namespace weft

#endif // WEFT_LOWERING_LINALG_STANDARDROUTINES_H
