//===- StandardRoutines.h - What every runtime has routines for -*- C++ -*-===//

#ifndef WEFT_LOWERING_KERNEL_STANDARDROUTINES_H
#define WEFT_LOWERING_KERNEL_STANDARDROUTINES_H

#include "weft/Analysis/KernelLibrary.h"

namespace weft {

/// Products, attention, losses, lookups, random numbers and updates. An
/// accumulation that no product performs is generated: it can then be one
/// kernel with what makes its operands.
llvm::ArrayRef<LibraryRoutine> getStandardRoutines();

} // namespace weft

#endif // WEFT_LOWERING_KERNEL_STANDARDROUTINES_H
