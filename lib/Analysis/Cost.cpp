//===- Cost.cpp - Estimated time of a command -----------------------------===//

#include "weft/Analysis/Cost.h"

#include "weft/Plan/Plan.h"

#include <algorithm>

using namespace mlir;

namespace weft {

int64_t getTrafficBytes(plan::CommandOpInterface command) {
  int64_t bytes = 0;
  for (auto [index, buffer] : llvm::enumerate(command->getOperands())) {
    if (plan::isWorkspace(buffer))
      continue;
    int64_t size = plan::getBufferBytes(cast<MemRefType>(buffer.getType()));
    bool isUpdate = command.getAccess(index) == plan::Access::Update;
    bytes += isUpdate ? 2 * size : size;
  }
  return bytes;
}

double getFlops(plan::CommandOpInterface command) {
  IntegerAttr flops = command.getFlopsAttr();
  return flops ? static_cast<double>(flops.getInt()) : 0;
}

double estimateMicroseconds(plan::CommandOpInterface command,
                            const CostTable &table) {
  double arithmetic = getFlops(command) / (table.gflops * 1e3);
  double traffic = getTrafficBytes(command) / (table.gigabytesPerSecond * 1e3);
  return table.overheadUs + std::max(arithmetic, traffic);
}

} // namespace weft
