//===- CastPolicies.h - Which policy applies to an op -----------*- C++ -*-===//

#ifndef WEFT_LIB_PRECISION_CASTPOLICIES_H
#define WEFT_LIB_PRECISION_CASTPOLICIES_H

#include "OverrideFile.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// Name of an op of the weft dialect in tables, overrides and recipes.
std::string castTableName(mlir::OperationName op, const CastRule &rule);

/// The policy of an op and the rule it comes from ("the cuda lists").
struct CastDecision {
  CastPolicy policy;
  std::string source;
  bool isOverride = false; // the user's own word

  /// "lower in the cuda lists".
  std::string spell() const {
    return (stringifyCastPolicy(policy) + " in " + source).str();
  }
};

/// Overrides, then the recipe, then the lists.
class CastPolicies {
public:
  CastPolicies(CastLists lists, CastRecipe recipe,
               std::vector<CastOverride> overrides)
      : lists(lists), recipe(recipe), overrides(std::move(overrides)) {}

  /// The policy of an op. Overrides remember what they found.
  CastDecision decide(CastPolicyOpInterface op);

  /// Whether parameters, inputs and constants are low wherever they are used.
  bool lowersLeaves() const { return recipe == CastRecipe::PureF16; }

  /// Fails with an error on each override that decided nothing.
  llvm::LogicalResult checkOverrides() const;

private:
  CastLists lists;
  CastRecipe recipe;
  std::vector<CastOverride> overrides;
};

} // namespace weft

#endif // WEFT_LIB_PRECISION_CASTPOLICIES_H
