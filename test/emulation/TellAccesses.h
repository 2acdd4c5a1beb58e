//===- TellAccesses.h - Code that reports its memory accesses ---*- C++ -*-===//
//
// Depends on LLVM alone, because a compiler plugin does the same to
// hand-written kernels (TellAccessesPlugin.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_TELLACCESSES_H
#define WEFT_TEST_EMULATION_TELLACCESSES_H

#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace weft {

/// Calls `weft_emu_load` or `weft_emu_store` (Emulation.h)
/// before every access of `function` to memory other than its stack and its
/// constants. There is one call for each part that a device accesses at once:
/// at most 16 bytes, at a multiple of their size. A copy or fill of more parts
/// gets one call. Returns the name of an instruction or function whose access
/// it cannot report, else "".
std::string tellAccesses(llvm::Function &function);

} // namespace weft

#endif // WEFT_TEST_EMULATION_TELLACCESSES_H
