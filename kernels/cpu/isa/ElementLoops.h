//===- ElementLoops.h - Loops in which elements are independent -*- C++ -*-===//

#ifndef WEFT_KERNELS_CPU_ISA_ELEMENTLOOPS_H
#define WEFT_KERNELS_CPU_ISA_ELEMENTLOOPS_H

#include "Loops.h"

namespace weft {
namespace WEFT_ISA {
void widen(int dtype, int64_t count, const void *from, float *to);
void narrow(int dtype, int64_t count, const float *from, void *to);
void addRows(int64_t count, const float *from, float *to);
void addWide(int64_t count, const float *from, double *to);
} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ELEMENTLOOPS_H
