//===- Estimate.cpp - Estimate the time of every command ------------------===//

#include "weft/Schedule/Passes.h"

#include "weft/Plan/PlanCollectives.h"
#include "weft/Schedule/ClusterFile.h"
#include "weft/Schedule/CostTableFile.h"
#include "weft/Weft/Weft.h"

namespace weft {
#define GEN_PASS_DEF_ESTIMATEPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// For reports that compare measured times with the machine's speed.
static DictionaryAttr describe(const CostTable &costs, Builder &builder) {
  Rates rates = costs.getRates(/*kinds=*/{}, /*element=*/Type());
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
  if (overlap.slowsComputeAcross)
    speeds.push_back(speed(kSlowsAcrossKey, *overlap.slowsComputeAcross));
  return builder.getDictionaryAttr(speeds);
}

namespace {
struct EstimatePass : weft::impl::EstimatePassBase<EstimatePass> {
  using EstimatePassBase::EstimatePassBase;

  void runOnOperation() override {
    FailureOr<CostTable> costs = readCosts();
    if (failed(costs) || failed(checkLinks(*costs)))
      return signalPassFailure();
    Builder builder(&getContext());
    if (isGiven)
      getOperation()->setAttr(kSpeedsAttr, describe(*costs, builder));
    CostKinds kinds(getOperation());
    getOperation()->walk([&](plan::CommandOpInterface command) {
      const Estimate time = estimate(command, *costs, kinds);
      command.setEstUsAttr(builder.getF64FloatAttr(time.all));
      if (time.link > 0)
        command->setAttr(plan::kLinkUsAttr, builder.getF64FloatAttr(time.link));
      if (!time.linkName.empty())
        command->setAttr(plan::kLinkAttr, builder.getStringAttr(time.linkName));
      else if (plan::isCollective(command)) // an earlier estimate's
        command->removeAttr(plan::kLinkAttr);
    });
  }

private:
  FailureOr<CostTable> readCosts();
  FailureOr<CostTable> readGivenCosts(StringRef target);
  LogicalResult checkLinks(const CostTable &costs);

  bool isGiven = false; // by a file
};
} // namespace

FailureOr<CostTable> EstimatePass::readCosts() {
  const KnownRates *known = findKnownRates(rates);
  if (!known)
    return getOperation().emitError("expects rates=cpu or rates=h100, but got ")
           << rates;
  FailureOr<CostTable> costs = readGivenCosts(known->target);
  if (succeeded(costs)) {
    costs->target = known->target.str();
    costs->base = std::make_shared<CostTable>(known->makeTable());
  }
  return costs;
}

/// Files of rates for another target than the default rates are errors.
FailureOr<CostTable> EstimatePass::readGivenCosts(StringRef target) {
  FailureOr<CostTable> costs = CostTable();
  isGiven = !costTable.empty();
  if (isGiven)
    costs = readCostTable(&getContext(), costTable, target);
  if (failed(costs) || cluster.empty())
    return costs;
  FailureOr<ClusterFile> file = readClusterFile(&getContext(), cluster, target);
  if (failed(file))
    return failure();
  if (file->costs && isGiven)
    return emitError(FileLineColLoc::get(&getContext(), cluster, 1, 1))
           << "expects no `costs` in addition to the cost table '" << costTable
           << "'";
  if (file->costs)
    costs = std::move(*file->costs);
  isGiven |= file->costs.has_value();
  costs->cluster = file->cluster;
  return costs;
}

/// Ranks on several nodes have a network.
LogicalResult EstimatePass::checkLinks(const CostTable &costs) {
  if (!costs.cluster || !costs.cluster->node || costs.cluster->network)
    return success();
  WalkResult walked =
      getOperation().walk([&](plan::CommandOpInterface command) {
        if (getSentBytes(command) == 0)
          return WalkResult::advance();
        const int64_t ranks = getRankGroup(command).ranks;
        if (costs.cluster->countNodes(getRankGroup(command)) == 1)
          return WalkResult::advance();
        emitError(FileLineColLoc::get(&getContext(), cluster, 1, 1))
            << "expects a `network`: " << ranks << " ranks send to each other "
            << "on nodes of " << costs.cluster->ranksPerNode;
        return WalkResult::interrupt();
      });
  return failure(walked.wasInterrupted());
}
