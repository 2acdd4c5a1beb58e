//===- DeviceCode.h - LLVM code of kernels for a device ---------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CUDA_DEVICECODE_H
#define WEFT_LIB_LOWERING_CUDA_DEVICECODE_H

#include "weft/Formats/Cubin.h"
#include "weft/Lowering/Cuda/Cuda.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace weft {

/// How elementary functions are compiled: linked code of libdevice, or calls of
/// it.
enum class Functions { Linked, Called };

/// Exit 3 unless the machine code is for `chip` and has the kernel.
Status checkCubin(const Cubin &cubin, llvm::StringRef chip,
                  llvm::StringRef kernel);

/// Gives `write` the kernels as PTX is made of them, behind all passes on LLVM
/// IR.
llvm::LogicalResult
translateKernels(mlir::ModuleOp module, const CudaTarget &target,
                 Functions functions,
                 llvm::function_ref<llvm::LogicalResult(llvm::Module &,
                                                        llvm::TargetMachine &)>
                     write);

/// Makes kernels code of this machine, one call for one thread: what they ask
/// of a device they ask of functions `weft_emu_`, and each other machine that
/// loads the code has to define these (test/emulation/Emulation.h). With
/// `isChecked` they tell every access to memory. False, with a message in
/// `error`, if something has no such function.
bool rewriteForHost(llvm::Module &code, bool isChecked, std::string &error);

} // namespace weft

#endif // WEFT_LIB_LOWERING_CUDA_DEVICECODE_H
