//===- KernelOps.h - Ops of kernels in linalg form --------------*- C++ -*-===//

#ifndef WEFT_WEFT_KERNELOPS_H
#define WEFT_WEFT_KERNELOPS_H

#include "weft/Weft/Weft.h"

#define GET_OP_CLASSES
#include "weft/Weft/WeftKernelOps.h.inc"

#endif // WEFT_WEFT_KERNELOPS_H
