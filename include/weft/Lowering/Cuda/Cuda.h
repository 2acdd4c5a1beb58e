//===- Cuda.h - PTX and machine code for CUDA devices -----------*- C++ -*-===//
//
// The last steps of compilation for a device: what `weft-lower-to-cuda` left as
// the NVVM dialect becomes PTX, and that a cubin.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOWERING_CUDA_CUDA_H
#define WEFT_LOWERING_CUDA_CUDA_H

#include "weft/Base/Error.h"
#include "weft/Lowering/Table/Tables.h"

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace weft {

/// The device that code is generated for.
struct CudaTarget {
  std::string chip; // "sm_90"

  /// 90 for "sm_90".
  int64_t getNumber() const;

  /// "cuda:sm_80", "cuda:sm_90", "cuda:sm_100". Fails with a message in `error`
  /// for anything else.
  static llvm::FailureOr<CudaTarget> parse(llvm::StringRef text,
                                           std::string &error);
};

/// One or several, "cuda:sm_90,sm_80": in the order of their numbers, each
/// once.
llvm::FailureOr<llvm::SmallVector<CudaTarget>>
parseCudaTargets(llvm::StringRef text, std::string &error);

/// "sm_80,sm_90".
std::string joinChips(llvm::ArrayRef<CudaTarget> devices);

/// PTX of all kernels of a module that `weft-lower-to-cuda` has lowered.
/// Kernels that call elementary functions need libdevice of a CUDA toolkit.
llvm::FailureOr<std::string> emitPtx(mlir::ModuleOp module,
                                     const CudaTarget &target);

/// LLVM IR that the PTX is made of.
llvm::FailureOr<std::string> emitDeviceIr(mlir::ModuleOp module,
                                          const CudaTarget &target);

/// Machine code for one kind of device; needs ptxas of a CUDA toolkit.
llvm::FailureOr<std::vector<char>> emitCubin(mlir::ModuleOp module,
                                             const CudaTarget &target);

/// The file of machine code ("cubin"), or of its PTX ("ptx"), that the build
/// makes of a part of kernels/cuda, in the folder of the runtime: a source
/// ("Copy"), or of attention one width of heads ("AttentionF16-64").
std::string getHandWrittenFile(llvm::StringRef part, const CudaTarget &device,
                               llvm::StringRef kind);
/// Those of all parts.
std::vector<std::string>
listHandWrittenFiles(llvm::ArrayRef<CudaTarget> devices);

/// The parts of kernels/cuda with the kernels that the routines of the
/// program's commands launch, in the order of their names. Fails with
/// an error on a command without a routine.
llvm::FailureOr<std::vector<std::string>>
findHandWritten(mlir::ModuleOp module, llvm::ArrayRef<CudaTarget> devices);

/// The machine code of a part, from the files that the build generated for it
/// in `folder`. Drivers that load code of ABI version `mostAbi` load it: where
/// the build had a newer toolkit, `ptxas` assembles the PTX. Exit 9 with the
/// reason if a file is incomplete, or belongs to another chip or part.
Expected<DeviceImage> readHandWritten(const std::string &folder,
                                      llvm::StringRef part,
                                      const CudaTarget &device,
                                      unsigned mostAbi,
                                      const std::string &ptxas);

/// An object with the tables of the programs and the machine code of all
/// devices. The launches are the same on all devices. Equal modules give equal
/// bytes.
llvm::FailureOr<std::vector<char>>
emitCudaObject(mlir::ModuleOp module, llvm::ArrayRef<CudaTarget> devices,
               llvm::ArrayRef<DeviceImage> images);

/// An error of this machine, not of the model: it has no source location, and
/// the exit code of `error`.
mlir::InFlightDiagnostic emitMachineError(mlir::MLIRContext *context,
                                          const Error &error);

/// The path of `file` in a CUDA toolkit. If WEFT_CUDA_HOME is set, only that
/// folder is searched. Otherwise CUDA_HOME, the toolkit of the first ptxas on
/// PATH and /usr/local/cuda are searched in order. Fails with a machine error
/// that lists the searched folders.
llvm::FailureOr<std::string> findInToolkit(mlir::ModuleOp module,
                                           llvm::StringRef file);

/// Parts of a toolkit that decide the code of kernels.
inline constexpr const char *kPtxas = "bin/ptxas";
inline constexpr const char *kLibdevice = "nvvm/libdevice/libdevice.10.bc";

/// A digest of each of these files. An unreadable file is identified by path,
/// size and modification time, a missing file by "none".
std::string identifyToolkit();

} // namespace weft

#endif // WEFT_LOWERING_CUDA_CUDA_H
