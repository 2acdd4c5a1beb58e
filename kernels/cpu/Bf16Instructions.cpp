//===- Bf16Instructions.cpp - Where bf16 instructions are fast ------------===//

#include "Bf16Instructions.h"

#include <dnnl.hpp>

using namespace weft;

bool weft::hasTiles() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_amx;
}

/// Whether dot products of bf16 may be used: f32 is slower, or that does not
/// matter.
static bool mayUsePairs(const WeftContext &context) {
  return context.allowsSlowBf16() || !__builtin_cpu_is("intel");
}

bool weft::mayUseBf16(const WeftContext &context) {
  return context.isa() == CpuIsa::Avx512 &&
         (mayUsePairs(context) || hasTiles());
}

bool weft::usesBf16Pairs(const WeftContext &context) {
  return context.isa() == CpuIsa::Avx512 && mayUsePairs(context) &&
         __builtin_cpu_supports("avx512bf16");
}
