//===- StandardRoutines.h - What every runtime has routines for -*- C++ -*-===//

#ifndef WEFT_LOWERING_KERNEL_STANDARDROUTINES_H
#define WEFT_LOWERING_KERNEL_STANDARDROUTINES_H

#include "weft/Analysis/KernelLibrary.h"

namespace weft {

/// Products, attention, lookups. An accumulation that no product performs is
/// generated: it can then be one kernel with what makes its operands.
llvm::ArrayRef<LibraryRoutine> getStandardRoutines();

/// Losses, random numbers, norms of gradients, updates and the loss scale, for
/// a runtime that has routines for what has formulas (lib/Kernels) as well.
llvm::ArrayRef<LibraryRoutine> getFormulaRoutines();

} // namespace weft

#endif // WEFT_LOWERING_KERNEL_STANDARDROUTINES_H
