//===- IsaLoops.h - The loops of one instruction set ------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_KERNELS_ISALOOPS_H
#define WEFT_TEST_UNIT_KERNELS_ISALOOPS_H

#include "Harness.h"
#include "isa/Loops.h"

namespace weft {

/// Null if this machine cannot run them.
inline const Loops *loopsFor(CpuIsa isa) {
  if (isa > detectCpuIsa())
    return nullptr;
  return isa == CpuIsa::Avx512 ? &avx512::loops
         : isa == CpuIsa::Avx2 ? &avx2::loops
                               : &baseline::loops;
}

} // namespace weft

#endif // WEFT_TEST_UNIT_KERNELS_ISALOOPS_H
