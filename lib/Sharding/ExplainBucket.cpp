//===- ExplainBucket.cpp - Explain layouts of parameters ------------------===//

#include "FormBuckets.h"

#include "weft/Dist/Dist.h"

using namespace mlir;

namespace weft {

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

void explainBucket(const Bucket &bucket) {
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins))
    explain(member.param, bucket, begin);
}

} // namespace weft
