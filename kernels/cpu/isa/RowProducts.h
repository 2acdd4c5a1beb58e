//===- RowProducts.h - Products of one row and a matrix ---------*- C++ -*-===//

#ifndef WEFT_KERNELS_CPU_ISA_ROWPRODUCTS_H
#define WEFT_KERNELS_CPU_ISA_ROWPRODUCTS_H

#include "Loops.h"

namespace weft {
namespace WEFT_ISA {

void addColumnProducts(const RowProduct &p, int64_t column, int64_t count,
                       float *sums);
void addRowProducts(const RowProduct &p, int64_t row, int64_t count,
                    float *sums);

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_ROWPRODUCTS_H
