//===- CastPolicies.cpp - Which policy applies to an op -------------------===//

#include "CastPolicies.h"

#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace weft;

std::string weft::castTableName(OperationName op, const CastRule &rule) {
  std::string name = op.stripDialect().str();
  return rule.variant.empty() ? name : name + " " + rule.variant.str();
}

static bool finds(StringRef regex, StringRef text) {
  return regex.empty() || llvm::Regex(regex).match(text);
}

CastDecision CastPolicies::decide(CastPolicyOpInterface op) {
  std::string name = castTableName(op->getName(), op.getCastRule());
  const CastOverride *chosen = nullptr;
  for (CastOverride &entry : overrides) {
    if (!finds(entry.op, name) || !finds(entry.scope, getScope(op)))
      continue;
    entry.matches = true;
    if (!chosen) {
      entry.claims = true;
      chosen = &entry;
    }
  }
  if (chosen)
    return {*chosen->policy, chosen->place, /*isOverride=*/true};
  if (std::optional<CastPolicy> policy = op.getCastRule().under(recipe))
    return {*policy, ("the recipe " + stringifyCastRecipe(recipe)).str()};
  return {op.getCastRule().under(lists),
          ("the " + stringifyCastLists(lists) + " lists").str()};
}

LogicalResult CastPolicies::checkOverrides() const {
  for (const CastOverride &entry : overrides) {
    if (entry.claims)
      continue;
    InFlightDiagnostic error = emitError(entry.location);
    if (entry.matches)
      error << "expects an override with an op of its own, but earlier "
               "overrides claim all that it finds";
    else
      error << "expects an override to find an op of the model, but";
    if (!entry.matches && !entry.op.empty())
      error << " op \"" << entry.op << "\"";
    if (!entry.matches && !entry.scope.empty())
      error << " scope \"" << entry.scope << "\"";
    if (!entry.matches)
      error << " finds none";
    return failure();
  }
  return success();
}
