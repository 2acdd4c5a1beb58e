//===- CpuFeatures.h - Does this machine have a feature ---------*- C++ -*-===//
//
// Asks CPUID (and the operating system, for the wide registers) for features
// under LLVM's names, so that a program for another machine says so instead of
// dying of SIGILL.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_CPUFEATURES_H
#define WEFT_RUNTIME_EXECUTE_CPUFEATURES_H

#include <cstddef>
#include <string>
#include <vector>

namespace weft {

/// The features of `wanted` that this machine lacks, in order. A name that
/// CPUID knows nothing about counts as missing.
std::vector<std::string>
missingCpuFeatures(const std::vector<std::string> &wanted);

/// oneDNN chooses its kernels, and with them roundings, by the processor. Ranks
/// on different kinds of machines use a level that all processors support.
///
/// The level that oneDNN would use here, a value of ONEDNN_MAX_CPU_ISA such as
/// "AVX2" or "AVX512_CORE". It is the processor's level, capped by
/// ONEDNN_MAX_CPU_ISA or DNNL_MAX_CPU_ISA in any capitalization.
std::string cpuLevel();

/// The first rank with the lowest of these levels. An unknown level, such as
/// "ALL", is above all others.
size_t findLeastLevel(const std::vector<std::string> &levels);

/// Caps oneDNN at the level. Call it before the first product.
void capCpuLevel(const std::string &level);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_CPUFEATURES_H
