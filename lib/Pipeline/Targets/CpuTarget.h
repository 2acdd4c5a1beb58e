//===- CpuTarget.h - The CPU as a target ------------------------*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_TARGETS_CPUTARGET_H
#define WEFT_LIB_PIPELINE_TARGETS_CPUTARGET_H

#include "weft/Pipeline/Targets/Target.h"

namespace weft {

/// "cpu", the machine that compiles, and "cpu:LEVEL".
TargetKind cpuTargetKind();

} // namespace weft

#endif // WEFT_LIB_PIPELINE_TARGETS_CPUTARGET_H
