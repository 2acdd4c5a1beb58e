//===- Estimate.cpp - Estimate the time of every command ------------------===//

#include "weft/Schedule/Passes.h"

#include "weft/Plan/Collectives.h"
#include "weft/Schedule/CostTableFile.h"

namespace weft {
#define GEN_PASS_DEF_ESTIMATEPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// For reports that compare measured times with the machine's speed.
static DictionaryAttr describe(const CostTable &costs, Builder &builder) {
  Rates rates = costs.getRates(/*kind=*/"", /*element=*/Type());
  auto speed = [&](StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  };
  SmallVector<NamedAttribute> speeds = {
      speed("gflops", rates.gflops),
      speed("gigabytes_per_second", rates.gigabytesPerSecond)};
  const Overlap &overlap = costs.overlap;
  for (auto [key, value] : {std::pair(kSlowsComputeKey, overlap.slowsCompute),
                            std::pair(kBesideKey, overlap.besideUs),
                            std::pair(kBeginKey, overlap.beginUs)})
    if (value > 0)
      speeds.push_back(speed(key, value));
  return builder.getDictionaryAttr(speeds);
}

namespace {
struct EstimatePass : weft::impl::EstimatePassBase<EstimatePass> {
  using EstimatePassBase::EstimatePassBase;

  void runOnOperation() override {
    FailureOr<CostTable> costs = CostTable();
    if (!costTable.empty())
      costs = readCostTable(&getContext(), costTable);
    if (failed(costs))
      return signalPassFailure();
    Builder builder(&getContext());
    if (!costTable.empty())
      getOperation()->setAttr(kSpeedsAttr, describe(*costs, builder));
    getOperation()->walk([&](plan::CommandOpInterface command) {
      const Estimate time = estimate(command, *costs);
      command.setEstUsAttr(builder.getF64FloatAttr(time.all));
      if (time.link > 0)
        command->setAttr(plan::kLinkUsAttr, builder.getF64FloatAttr(time.link));
    });
  }
};
} // namespace
