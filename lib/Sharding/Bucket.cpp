//===- Bucket.cpp - Lay parameters of a unit in flat states ---------------===//

#include "FormBuckets.h"

#include "weft/Dist/Dist.h"
#include "weft/Sharding/Passes.h"

namespace weft {
#define GEN_PASS_DEF_BUCKETPASS
#include "weft/Sharding/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The source of the rule, if its placement is the one of the layout. Otherwise
/// the ZeRO stage decided.
static StringRef getDecision(ParamOp param, dist::LayoutAttr layout) {
  dist::RuleAttr rule = dist::getRule(param);
  bool isRules = rule && rule.getPlacement() == layout.getPlacement();
  return isRules ? rule.getSource().getValue() : "the ZeRO stage";
}

static void explain(ParamOp param, const Bucket &bucket, int64_t begin) {
  InFlightDiagnostic remark = param.emitRemark();
  remark << param.getSymName() << " is ";
  if (dist::LayoutAttr layout = dist::getLayout(param)) {
    remark << dist::stringifyPlacement(layout.getPlacement());
    if (layout.isSharded())
      remark << " on " << layout.getAxis().getValue();
    remark << " by " << getDecision(param, layout);
  } else {
    remark << "on one rank";
  }
  remark << ": unit " << bucket.unit << ", bucket " << bucket.name
         << ", elements " << begin << " to "
         << begin + param.getTensorType().getNumElements();
}

/// Emits a remark on each member: its layout, the rule that decided it, its
/// unit, and its range in the bucket.
static void explainBucket(const Bucket &bucket) {
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins))
    explain(member.param, bucket, begin);
}

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
      if (explain)
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
