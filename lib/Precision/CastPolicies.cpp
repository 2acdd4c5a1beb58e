//===- CastPolicies.cpp - Which policy applies to an op -------------------===//

#include "CastPolicies.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace weft;

std::optional<CastRecipe> weft::symbolizeCastRecipe(StringRef name) {
  return llvm::StringSwitch<std::optional<CastRecipe>>(name)
      .Case("amp", CastRecipe::Amp)
      .Case("llm", CastRecipe::Llm)
      .Case("pure-f16", CastRecipe::PureF16)
      .Default(std::nullopt);
}

std::string weft::castTableName(OperationName op, const CastRule &rule) {
  std::string name = op.stripDialect().str();
  return rule.variant.empty() ? name : name + " " + rule.variant.str();
}

/// The low stream starts at the embedding; what joins it goes low, norms and
/// the loss read it as it is and compute in f32 inside.
static std::optional<CastPolicy> llmPolicy(StringRef name) {
  return llvm::StringSwitch<std::optional<CastPolicy>>(name)
      .Case("embedding", CastPolicy::Lower)
      .Cases({"add", "sub", "mul", "div", "max", "min"}, CastPolicy::Narrow)
      .Cases({"select", "concat", "rope"}, CastPolicy::Narrow)
      .Cases({"layer_norm", "rms_norm", "cross_entropy"}, CastPolicy::Follow)
      .Default(std::nullopt);
}

/// A model in half precision: no op but the losses is special.
static CastPolicy pureF16Policy(StringRef name) {
  return llvm::StringSwitch<CastPolicy>(name)
      .Cases({"cross_entropy", "mse", "bce_with_logits", "bce"},
             CastPolicy::F32)
      .Default(CastPolicy::Follow);
}

std::optional<CastPolicy> weft::findRecipePolicy(CastRecipe recipe,
                                                 StringRef name) {
  switch (recipe) {
  case CastRecipe::Amp:
    return std::nullopt;
  case CastRecipe::Llm:
    return llmPolicy(name);
  case CastRecipe::PureF16:
    return pureF16Policy(name);
  }
  llvm_unreachable("unknown recipe");
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
  if (std::optional<CastPolicy> policy = findRecipePolicy(recipe, name))
    return {*policy, recipe == CastRecipe::Llm ? "the recipe llm"
                                               : "the recipe pure-f16"};
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
