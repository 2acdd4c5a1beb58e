//===- ChooseReductions.cpp - Ordered and native reductions ---------------===//

#include "weft/Schedule/Passes.h"

#include "weft/Plan/PlanCollectives.h"
#include "weft/Schedule/ClusterFile.h"

#include "llvm/Support/DebugLog.h"

namespace weft {
#define GEN_PASS_DEF_CHOOSEREDUCTIONSPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

#define DEBUG_TYPE "weft-choose-reductions"

using namespace mlir;
using namespace weft;

namespace {
struct ChooseReductionsPass
    : weft::impl::ChooseReductionsPassBase<ChooseReductionsPass> {
  using ChooseReductionsPassBase::ChooseReductionsPassBase;

  void runOnOperation() override {
    std::optional<MachineCluster> nodes;
    if (!cluster.empty()) {
      FailureOr<ClusterFile> file = readClusterFile(&getContext(), cluster);
      if (failed(file))
        return signalPassFailure();
      nodes = file->cluster;
    }
    getOperation()->walk([&](plan::ReduceScatterOp each) {
      const bool isNative = chooseNative(each, nodes);
      each.setNative(isNative);
      LDBG() << (isNative ? "native: " : "ordered: ") << *each;
      numNative += isNative;
    });
  }

private:
  /// Among two axes, the replicas of a shard are not neighbouring ranks.
  bool chooseNative(plan::ReduceScatterOp each,
                    const std::optional<MachineCluster> &nodes) const {
    if (reduction != Reduction::Auto)
      return reduction == Reduction::Native;
    const RankGroup group =
        getRankGroup(plan::CommandOpInterface(each.getOperation()));
    return nodes ? nodes->countNodes(group) > 1 : group.stride > 1;
  }
};
} // namespace
