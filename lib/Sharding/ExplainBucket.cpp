//===- ExplainBucket.cpp - Explain layouts of parameters ------------------===//

#include "FormBuckets.h"

#include "weft/Dist/Dist.h"

#include "mlir/IR/Remarks.h"

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
  auto remark = remark::analysis(
      param.getLoc(), remark::RemarkOpts::name("bucket").category("sharding"));
  if (!remark)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << param.getSymName() << " is ";
  if (dist::LayoutAttr layout = dist::getLayout(param)) {
    os << dist::stringifyPlacement(layout.getPlacement());
    if (layout.isSharded())
      os << " on " << layout.getAxis().getValue();
    os << " by " << getDecision(param, layout);
  } else {
    os << "on one rank";
  }
  os << ": unit " << bucket.unit << ", bucket " << bucket.name << ", elements "
     << begin << " to " << begin + param.getTensorType().getNumElements();
  remark << text;
}

void weft::explainBucket(const Bucket &bucket) {
  for (auto [member, begin] : llvm::zip(bucket.members, bucket.begins))
    explain(member.param, bucket, begin);
}
