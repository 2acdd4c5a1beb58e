//===- CpuFeatures.h - Does this machine have a feature ---------*- C++ -*-===//
//
// Asks CPUID (and the operating system, for the wide registers) for features
// under LLVM's names, so that a program for another machine says so instead of
// dying of SIGILL.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_CPUFEATURES_H
#define WEFT_RUNTIME_EXECUTE_CPUFEATURES_H

#include <string>
#include <vector>

namespace weft {

/// The features of `wanted` that this machine lacks, in order. A name that
/// CPUID knows nothing about counts as missing.
std::vector<std::string>
missingCpuFeatures(const std::vector<std::string> &wanted);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_CPUFEATURES_H
