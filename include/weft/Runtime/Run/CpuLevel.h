//===- CpuLevel.h - What oneDNN makes of processors -------------*- C++ -*-===//
//
// oneDNN chooses its kernels by the processor, and with them roundings. Ranks
// on several kinds of machines take those that all of them have.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_CPULEVEL_H
#define WEFT_RUNTIME_RUN_CPULEVEL_H

#include <cstddef>
#include <string>
#include <vector>

namespace weft {

/// "AVX2", "AVX512_CORE": what oneDNN would use here, a name that
/// ONEDNN_MAX_CPU_ISA has, or what this variable, or DNNL_MAX_CPU_ISA, caps it
/// to in any spelling.
std::string cpuLevel();

/// The first rank with the least of these levels. An unknown one, such as
/// "ALL", is above all others.
size_t findLeastLevel(const std::vector<std::string> &levels);

/// Has oneDNN use no more than the level. Before its first product.
void capCpuLevel(const std::string &level);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_CPULEVEL_H
