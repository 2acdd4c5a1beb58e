//===- EmitTwins.h - Kernels for the emulated device ------------*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_EMITTWINS_H
#define WEFT_TEST_EMULATION_EMITTWINS_H

#include "weft/Lowering/Cuda/Cuda.h"

namespace llvm {
class Module;
} // namespace llvm

namespace weft {

/// Compiles the kernels of a module that `weft-lower-to-cuda` has lowered to an
/// object for this machine. Each kernel becomes a function that runs one
/// thread. The table `weft_twins` (Twins.h) has the digest of the machine code
/// that the kernels stand for, which emitCubin() makes. With `isChecked`, the
/// functions report every access to memory.
llvm::FailureOr<std::vector<char>>
emitTwins(mlir::ModuleOp module, const CudaTarget &target, bool isChecked);

/// Turns kernels into functions of this machine that run one thread. Special
/// registers, barriers and exchanges become calls of `weft_emu_` functions
/// (Emulation.h), and libdevice becomes libm. With `isChecked`, the functions
/// report every access to memory. Returns false, with a message in `error`, for
/// an instruction that has no such function.
bool rewriteForHost(llvm::Module &code, bool isChecked, std::string &error);

} // namespace weft

#endif // WEFT_TEST_EMULATION_EMITTWINS_H
