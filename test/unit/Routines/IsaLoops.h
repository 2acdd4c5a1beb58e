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
  const Loops *const all[] = {&baseline::loops, &avx2::loops, &avx512::loops,
                              &avx512bf16::loops, &amx::loops};
  return all[static_cast<int>(isa)];
}

} // namespace weft

#endif // WEFT_TEST_UNIT_KERNELS_ISALOOPS_H
