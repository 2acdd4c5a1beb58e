//===- ShardRules.cpp - Which parameters a stage may shard ----------------===//

#include "ShardRules.h"

#include "weft/Dist/Dist.h"
#include "weft/Weft/Weft.h"

using namespace mlir;

namespace weft {

static void setRule(ParamOp param, dist::Placement placement,
                    const Twine &source) {
  MLIRContext *context = param.getContext();
  param->setAttr(dist::DistDialect::kRuleAttr,
                 dist::RuleAttr::get(context, placement,
                                     StringAttr::get(context, source)));
}

void keepSmallParams(ModuleOp module, int64_t min) {
  for (auto param : module.getOps<ParamOp>())
    if (!dist::getRule(param) && param.getTensorType().getNumElements() < min)
      setRule(param, dist::Placement::Replicated, "--shard-min=" + Twine(min));
}

} // namespace weft
