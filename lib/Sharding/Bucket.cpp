//===- Bucket.cpp - Lay parameters of a unit in flat states ---------------===//

#include "weft/Sharding/Passes.h"

#include "FlatStates.h"

#include "llvm/Support/DebugLog.h"

namespace weft {
#define GEN_PASS_DEF_BUCKETPASS
#include "weft/Sharding/Passes.h.inc"
} // namespace weft

#define DEBUG_TYPE "weft-bucket"

using namespace mlir;
using namespace weft;

/// Elements that a segment may be aligned to.
static constexpr int64_t kMostAlign = 1 << 20;

namespace {
struct BucketPass : weft::impl::BucketPassBase<BucketPass> {
  using BucketPassBase::BucketPassBase;

  void runOnOperation() override {
    std::optional<UnitRule> unitRule = parseUnitRule(rule);
    if (failed(verifyOptions(unitRule.has_value())))
      return signalPassFailure();
    FailureOr<std::vector<Member>> members = collectMembers(getOperation());
    if (failed(members))
      return signalPassFailure();
    std::vector<FlatState> states;
    for (const Bucket &bucket :
         formBuckets(getOperation(), *members, *unitRule, align)) {
      numMembers += bucket.members.size();
      ++numBuckets;
      LDBG() << "bucket " << bucket.name << " of unit " << bucket.unit;
      explainBucket(bucket);
      llvm::append_range(states, declareFlatStates(bucket));
    }
    rewritePrograms(getOperation(), states);
  }

  LogicalResult verifyOptions(bool isRule) {
    if (!isRule)
      return getOperation().emitError("expects rule to be ")
             << kUnitRules << ", but got '" << rule << "'";
    if (align >= 1 && align <= kMostAlign)
      return success();
    return getOperation().emitError("expects align to be 1 to ")
           << kMostAlign << ", but got " << align.getValue();
  }
};
} // namespace
