//===- TellAccesses.h - Code that says what it reads and writes -*- C++ -*-===//
//
// Of LLVM alone, for a plugin of the compiler that does it to hand-written
// kernels (test/emulation/TellAccessesPlugin.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_LOWERING_CUDA_TELLACCESSES_H
#define WEFT_LIB_LOWERING_CUDA_TELLACCESSES_H

#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace weft {

/// Calls `weft_emu_load` or `weft_emu_store` (test/emulation/Emulation.h)
/// before every access of `function` to memory other than its stack and its
/// constants: once for each part that a device accesses at once, which is at
/// most 16 bytes at a multiple of their size, once for a copy or fill of more
/// parts. Gives what it cannot tell; empty if there is nothing such.
std::string tellAccesses(llvm::Function &function);

} // namespace weft

#endif // WEFT_LIB_LOWERING_CUDA_TELLACCESSES_H
