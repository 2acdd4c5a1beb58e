//===- Cost.cpp - Estimated time of a command -----------------------------===//

#include "weft/Analysis/Cost.h"

#include "weft/Plan/Plan.h"
#include "weft/Support/TypeText.h"

#include "llvm/Support/raw_ostream.h"

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

Rates CostTable::getRates(StringRef kind, Type element) const {
  std::string type = element ? getTypeText(element) : "";
  std::string both = kind.str() + "." + type;
  Rates rates;
  // The special parts come last and win.
  for (StringRef name : {StringRef(), StringRef(type), kind, StringRef(both)}) {
    auto part = parts.find(name);
    if (part == parts.end())
      continue;
    const Part &given = part->second;
    rates.gflops = given.gflops.value_or(rates.gflops);
    rates.gigabytesPerSecond =
        given.gigabytesPerSecond.value_or(rates.gigabytesPerSecond);
    rates.overheadUs = given.overheadUs.value_or(rates.overheadUs);
  }
  return rates;
}

double estimateMicroseconds(plan::CommandOpInterface command,
                            const CostTable &table) {
  Rates rates =
      table.getRates(command.getCommandKind(), command.getElementType());
  double arithmetic = getFlops(command) / (rates.gflops * 1e3);
  double traffic = getTrafficBytes(command) / (rates.gigabytesPerSecond * 1e3);
  return rates.overheadUs + std::max(arithmetic, traffic);
}

} // namespace weft
