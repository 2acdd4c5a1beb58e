//===- CudaModels.h - CUDA devices by their names ---------------*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_CUDAMODELS_H
#define WEFT_LIB_PIPELINE_CUDAMODELS_H

#include "llvm/ADT/ArrayRef.h"
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

  /// What a program may take: less than that. The driver keeps some (an H100 of
  /// 80 GB shows 79.1 GiB), for which 2 % are left, and 1 GiB is left for the
  /// context, machine code and inputs and outputs on their way.
  int64_t usableBytes() const {
    return (gigabytes << 30) / 100 * 98 - (int64_t(1) << 30);
  }
};

/// The names of all, the oldest first.
llvm::ArrayRef<llvm::StringRef> cudaModelNames();
/// Null if there is none of that name.
const CudaModel *findCudaModel(llvm::StringRef name);

} // namespace weft

#endif // WEFT_LIB_PIPELINE_CUDAMODELS_H
