//===- KernelBody.h - The kernel of a launch --------------------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_KERNELBODY_H
#define WEFT_LIB_VERIFY_KERNELBODY_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace weft {

/// The kernel of a launch, or null if its body has been lowered and is not a
/// weft kernel any more.
mlir::FunctionOpInterface findKernel(plan::LaunchOp launch,
                                     const mlir::SymbolTable &symbols);

} // namespace weft

#endif // WEFT_LIB_VERIFY_KERNELBODY_H
