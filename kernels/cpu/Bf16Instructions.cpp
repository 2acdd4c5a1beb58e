//===- Bf16Instructions.cpp - Where bf16 instructions are fast ------------===//

#include "Bf16Instructions.h"

#include <dnnl.hpp>

#include <sys/syscall.h>
#include <unistd.h>

using namespace weft;

/// Asks the system for the registers of AMX, once for all threads of the
/// process (Linux: Documentation/arch/x86/xstate.rst).
static bool requestTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool weft::hasTiles() {
  static const bool isAllowed = requestTiles();
  return isAllowed &&
         dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_amx;
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

Bf16Products weft::bf16Products(const WeftContext &context) {
  if (context.isa() != CpuIsa::Avx512)
    return Bf16Products::None;
  if (hasTiles())
    return Bf16Products::Tiles;
  return mayUsePairs(context) && __builtin_cpu_supports("avx512bf16")
             ? Bf16Products::Pairs
             : Bf16Products::None;
}
