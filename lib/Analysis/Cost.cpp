//===- Cost.cpp - Estimated time of a command -----------------------------===//

#include "weft/Analysis/Cost.h"

#include "weft/Plan/Plan.h"

#include <algorithm>

using namespace mlir;

namespace weft {

int64_t getTrafficBytes(plan::CommandOpInterface command) {
  int64_t bytes = 0;
  for (auto [index, buffer] : llvm::enumerate(command.getCommandBuffers())) {
    int64_t size = plan::getBufferBytes(cast<MemRefType>(buffer.getType()));
    bool isUpdate = command.getAccess(index) == plan::Access::Update;
    bytes += isUpdate ? 2 * size : size;
  }
  return bytes;
}

double estimateMicroseconds(plan::CommandOpInterface command,
                            const CostTable &table) {
  auto flops = command->getAttrOfType<FloatAttr>("flops");
  double arithmetic =
      flops ? flops.getValueAsDouble() / (table.gflops * 1e3) : 0;
  double traffic = getTrafficBytes(command) / (table.gigabytesPerSecond * 1e3);
  return table.overheadUs + std::max(arithmetic, traffic);
}

} // namespace weft
