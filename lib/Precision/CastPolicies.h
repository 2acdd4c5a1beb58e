//===- CastPolicies.h - The cast policy of each op --------------*- C++ -*-===//

#ifndef WEFT_LIB_PRECISION_CASTPOLICIES_H
#define WEFT_LIB_PRECISION_CASTPOLICIES_H

#include "weft/Weft/Weft.h"

namespace weft {

/// One `[[override]]` of a file.
struct CastOverride {
  mlir::Location location;
  /// "overrides.toml:3", for remarks.
  std::string place;
  /// Regular expressions; "": every op, every scope.
  std::string op;
  std::string scope;
  std::optional<CastPolicy> policy;
  /// Whether it matched an op of the model so far, and whether it applied to
  /// one, since no earlier override matched that op.
  bool matches = false;
  bool claims = false;

  explicit CastOverride(mlir::Location location) : location(location) {}
};

/// Contents of an override file.
struct OverrideFile {
  std::optional<CastLists> lists;
  std::vector<CastOverride> overrides;
  std::string digest; // of the text, see TomlFile
};

/// Reads the overrides, or emits an error at the line of the file.
llvm::FailureOr<OverrideFile> readOverrideFile(mlir::MLIRContext *context,
                                               llvm::StringRef path);

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
