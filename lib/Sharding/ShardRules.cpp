//===- ShardRules.cpp - Parameters that a stage may shard -----------------===//

#include "ShardRules.h"

#include "weft/Sharding/Units.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace weft;

static void setRule(ParamOp param, dist::Placement placement,
                    const Twine &source) {
  MLIRContext *context = param.getContext();
  param->setAttr(dist::DistDialect::kRuleAttr,
                 dist::RuleAttr::get(context, placement,
                                     StringAttr::get(context, source)));
}

/// Finds the parameters that a rule matches. A pattern may match anywhere in
/// the text.
static SmallVector<ParamOp> findParams(ModuleOp module, const ShardRule &rule) {
  llvm::Regex match(rule.match), scope(rule.scope);
  SmallVector<ParamOp> found;
  for (auto param : module.getOps<ParamOp>())
    if ((!rule.trainable || *rule.trainable == param.getTrainable()) &&
        (rule.match.empty() || match.match(param.getSymName())) &&
        (rule.scope.empty() || scope.match(getModulePath(param))))
      found.push_back(param);
  return found;
}

/// "match \"bias\" and trainable true"
static std::string spell(const ShardRule &rule) {
  SmallVector<std::string> words;
  if (!rule.match.empty())
    words.push_back("match \"" + rule.match + "\"");
  if (!rule.scope.empty())
    words.push_back("scope \"" + rule.scope + "\"");
  if (rule.trainable)
    words.push_back(*rule.trainable ? "trainable true" : "trainable false");
  return llvm::join(words, " and ");
}

LogicalResult weft::applyShardRules(ModuleOp module,
                                    ArrayRef<ShardRule> rules) {
  for (const ShardRule &rule : rules) {
    SmallVector<ParamOp> found = findParams(module, rule);
    if (found.empty())
      return emitError(rule.location,
                       "expects a rule to find a parameter, but ")
             << spell(rule) << " finds none";
    llvm::erase_if(found, [](ParamOp param) { return dist::getRule(param); });
    if (found.empty())
      return emitError(rule.location,
                       "expects a rule with a parameter of its own, but "
                       "earlier rules claim all that ")
             << spell(rule) << " finds";
    for (ParamOp param : found)
      setRule(param, *rule.layout, rule.place);
  }
  return success();
}

void weft::keepSmallParams(ModuleOp module, int64_t min) {
  for (auto param : module.getOps<ParamOp>())
    if (!dist::getRule(param) && param.getTensorType().getNumElements() < min)
      setRule(param, dist::Placement::Replicated, "--shard-min=" + Twine(min));
}
