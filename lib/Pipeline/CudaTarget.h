//===- CudaTarget.h - CUDA devices as targets -------------------*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_CUDATARGET_H
#define WEFT_LIB_PIPELINE_CUDATARGET_H

#include "weft/Pipeline/Target.h"

namespace weft {

/// "cuda:sm_80", "cuda:sm_90" and "cuda:sm_100".
TargetKind cudaTargetKind();

} // namespace weft

#endif // WEFT_LIB_PIPELINE_CUDATARGET_H
