//===- CudaTarget.h - CUDA devices as targets -------------------*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_TARGETS_CUDATARGET_H
#define WEFT_LIB_PIPELINE_TARGETS_CUDATARGET_H

#include "weft/Pipeline/Targets/Target.h"

namespace weft {

/// "cuda:sm_80", "cuda:sm_90", "cuda:sm_100", and several of them:
/// "cuda:sm_80,sm_90".
TargetKind cudaTargetKind();

} // namespace weft

#endif // WEFT_LIB_PIPELINE_TARGETS_CUDATARGET_H
