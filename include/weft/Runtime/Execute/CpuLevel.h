//===- CpuLevel.h - The instruction set of library routines -----*- C++ -*-===//
//
// oneDNN and the hand-written kernels choose code, and with it roundings, by an
// ISA level, here level: an instruction set by the name that oneDNN gives it,
// such as "AVX2" or "AVX512_CORE". The processor has a level.
// ONEDNN_MAX_CPU_ISA, or its older name DNNL_MAX_CPU_ISA, caps the level of a
// process. Ranks on different kinds of processors use a level that all of them
// support. Generated kernels do not follow it: they have the instruction set of
// --target.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_CPULEVEL_H
#define WEFT_RUNTIME_EXECUTE_CPULEVEL_H

#include "weft/Base/Results.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weft {

/// Instruction sets that the hand-written kernels are compiled for. Each has
/// all instructions of the ones before.
enum class CpuIsa { Baseline, Avx2, Avx512, Avx512Bf16, Amx };

/// "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4 with AVX512_BF16" or
/// "x86-64-v4 with AMX".
const char *cpuIsaName(CpuIsa isa);

/// The level of this process: the lower one of the cap, in any capitalization,
/// and the highest level of the processor. AVX512_CORE_BF16 of an Intel
/// processor counts only if the cap names it: its dot products of bf16
/// (VDPBF16PS) do half as many products a cycle as its f32 instructions. AMX
/// does 16 times as many, the dot products of AMD twice as many.
std::string cpuLevel();

/// The instruction set of hand-written kernels at cpuLevel().
CpuIsa detectCpuIsa();

/// A usage error if the cap is no level. oneDNN would ignore it.
Status checkCpuLevel();

/// The first rank with the lowest of these levels. An unknown level, such as
/// "ALL", is above all others.
size_t findLeastLevel(const std::vector<std::string> &levels);

/// Caps this process at the level. Call it before the first product, and before
/// contexts are made.
void capCpuLevel(const std::string &level);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_CPULEVEL_H
