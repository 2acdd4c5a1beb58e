//===- CrossEntropyRows.h - Loops over the classes of a row -----*- C++ -*-===//

#ifndef WEFT_KERNELS_CPU_ISA_CROSSENTROPYROWS_H
#define WEFT_KERNELS_CPU_ISA_CROSSENTROPYROWS_H

#include "Loops.h"

namespace weft {
namespace WEFT_ISA {
float logSumExp(int dtype, const void *logits, int64_t classes);
double crossEntropyRow(const CrossEntropyRow &row, float lse);
void crossEntropyGradRow(const CrossEntropyRow &row, float lse, double scale,
                         void *dlogits);
} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_CROSSENTROPYROWS_H
