//===- BenchModels.h - What weft bench measures -----------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_BENCHMODELS_H
#define WEFT_TOOLS_WEFT_BENCHMODELS_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// A synthetic model. The sizes of its products range from fitting into the L1
/// cache to fitting into no cache.
struct BenchModel {
  std::string config; // text of its config.json
  int64_t batch, seq;
};

/// All of them, or the first two, which have commands of all kinds.
std::vector<BenchModel> benchModels(bool areFew);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_BENCHMODELS_H
