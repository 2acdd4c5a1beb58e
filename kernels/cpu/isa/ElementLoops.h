//===- ElementLoops.h - Loops in which elements are independent -*- C++ -*-===//

#ifndef WEFT_KERNELS_CPU_ISA_ELEMENTLOOPS_H
#define WEFT_KERNELS_CPU_ISA_ELEMENTLOOPS_H

#include "Loops.h"

namespace weft {
namespace WEFT_ISA {
void widen(int dtype, int64_t count, const void *from, float *to);
void narrow(int dtype, int64_t count, const float *from, void *to);
void adam(const AdamNumbers &n, int64_t count, float *param, float *m, float *v,
          const float *grad);
void sgd(const SgdNumbers &n, int64_t count, float *param, float *buffer,
         const float *grad);
void accumulate(int64_t count, const float *old, const float *value,
                float *out);
void addRows(int64_t count, const float *from, float *to);
void addWide(int64_t count, const float *from, double *to);
NormBlock normBlock(const float *grad, int64_t count, double p);
void normals(uint32_t keyLow, uint32_t keyHigh, int64_t begin, int64_t end,
             float mean, float stddev, float *out);
void uniforms(uint32_t keyLow, uint32_t keyHigh, int64_t begin, int64_t end,
              float low, float width, float *out);
void dropout(uint32_t keyLow, uint32_t keyHigh, uint64_t row, int64_t begin,
             int64_t end, uint32_t threshold, float scale, const float *x,
             float *out);
} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ELEMENTLOOPS_H
