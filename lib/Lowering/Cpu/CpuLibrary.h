//===- CpuLibrary.h - What the CPU runs by routines -------------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CPU_CPULIBRARY_H
#define WEFT_LIB_LOWERING_CPU_CPULIBRARY_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

/// Registers the routines that select-kernels may choose for the CPU.
void registerCpuLibrary(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_LIB_LOWERING_CPU_CPULIBRARY_H
