//===- DeviceCode.h - LLVM code of kernels for a device ---------*- C++ -*-===//

#ifndef WEFT_LOWERING_CUDA_DEVICECODE_H
#define WEFT_LOWERING_CUDA_DEVICECODE_H

#include "weft/Formats/Cubin.h"
#include "weft/Lowering/Cuda/Cuda.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace weft {

/// Exit 3 unless the machine code is for `chip` and has the kernel.
Status checkCubin(const Cubin &cubin, llvm::StringRef chip,
                  llvm::StringRef kernel);

/// Runs ptxas for an architecture, as "sm_90", with `options` behind the
/// others. Exit 9 with its messages if it fails.
Expected<std::vector<char>>
assemblePtx(const std::string &ptxas, llvm::StringRef architecture,
            const std::string &ptx, llvm::ArrayRef<std::string> options = {});

/// The code generator for a device. Null, with an error at `module`, if LLVM
/// has none.
std::unique_ptr<llvm::TargetMachine>
createDeviceMachine(mlir::ModuleOp module, const CudaTarget &target);

/// The kernels of a module that `weft-lower-to-cuda` has lowered, before all
/// passes on LLVM IR. Elementary functions are calls of libdevice, whose code
/// is not part of it. Null, with an error at `module`, if there are no kernels.
std::unique_ptr<llvm::Module> importKernels(mlir::ModuleOp module,
                                            llvm::LLVMContext &context,
                                            llvm::TargetMachine &machine);

/// Runs the standard pipeline. No fast-math flag is set anywhere, so nothing is
/// reassociated or contracted. An op on f16 or bf16 values that is computed in
/// f32 and rounded becomes one on these types where that gives the same bits (a
/// sum, difference or product: f32 has more than twice their digits), and such
/// ops on neighbouring elements become one on pairs.
void optimizeKernels(llvm::Module &code, llvm::TargetMachine &machine);

} // namespace weft

#endif // WEFT_LOWERING_CUDA_DEVICECODE_H
