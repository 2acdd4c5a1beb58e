//===- CudaModels.h - CUDA devices by their names ---------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_OPTIONS_CUDAMODELS_H
#define WEFT_PIPELINE_OPTIONS_CUDAMODELS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace weft {

/// A device that --device names. Chips do not tell their memory: sm_90 is in
/// devices of 80 and of 141 GB.
struct CudaModel {
  llvm::StringLiteral name; // "h100"
  llvm::StringLiteral chip; // "sm_90"
  /// The memory of NVIDIA's data sheets: A100 40GB and 80GB, H100 SXM 80GB,
  /// H100 NVL 94GB, H200 141GB, HGX B200 180GB. They count GB of 2^30 bytes,
  /// rounded up.
  int64_t gigabytes;

  /// The memory that the driver shows to programs. It keeps some: an H100 of
  /// 80 GB shows 79.1 GiB. Assumed for all: 2 %.
  int64_t visibleBytes() const { return (gigabytes << 30) / 100 * 98; }
};

/// The memory that a program uses outside its arena. All numbers are assumed;
/// a program measures its own when it starts.
struct CudaReserve {
  /// The context of the driver, machine code, and cuBLASLt, whose workspaces
  /// are in the arena.
  static constexpr int64_t kContext = int64_t(1) << 30;
  /// cuDNN's own memory and machine code; its workspaces are in the arena.
  static constexpr int64_t kCudnn = int64_t(256) << 20;
  /// One communicator of NCCL: three connections of 32 channels. The buffers of
  /// a connection have 9.2 MiB in NCCL 2.28 (src/init.cc: 4 MiB of the protocol
  /// Simple, 4.7 MiB of LL128, 0.5 MiB of LL).
  static constexpr int64_t kCommunicator = int64_t(1) << 30;
};

/// Null if there is none of that name.
const CudaModel *findCudaModel(llvm::StringRef name);

/// Visible bytes of the smallest model with the chip; 0 if there is none.
int64_t findLeastMemory(llvm::StringRef chip);

/// Whether this build of weft has the routines that call cuDNN.
bool hasCudnnRoutines();

} // namespace weft

#endif // WEFT_PIPELINE_OPTIONS_CUDAMODELS_H
