//===- Dispatch.h - The loops of the context's instruction set --*- C++ -*-===//

#ifndef WEFT_KERNELS_CPU_DISPATCH_H
#define WEFT_KERNELS_CPU_DISPATCH_H

#include "isa/Loops.h"
#include "weft/Runtime/Execute/Context.h"

namespace weft {

inline const Loops &loopsOf(const WeftContext &context) {
  switch (context.isa()) {
  case CpuIsa::Avx512:
    return avx512::loops;
  case CpuIsa::Avx2:
    return avx2::loops;
  case CpuIsa::Baseline:
    break;
  }
  return baseline::loops;
}

/// Elements per part of a loop bound by memory: some microseconds of work.
constexpr int64_t kElementGrain = 16384;

} // namespace weft

#endif // WEFT_KERNELS_CPU_DISPATCH_H
