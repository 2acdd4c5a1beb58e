//===- BenchModels.h - What weft bench measures -----------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_BENCHMODELS_H
#define WEFT_TOOLS_WEFT_BENCHMODELS_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// A model made up for its sizes, which reach from products that fit into the
/// first cache to those that fit into none.
struct BenchModel {
  std::string config; // text of its config.json
  int64_t batch, seq;
};

/// All of them, or the first two, which have commands of all kinds.
std::vector<BenchModel> benchModels(bool areFew);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_BENCHMODELS_H
