//===- ShardRules.h - Parameters that a stage may shard ---------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_SHARDRULES_H
#define WEFT_LIB_SHARDING_SHARDRULES_H

#include "weft/Dist/Dist.h"
#include "weft/Weft/Weft.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// One `[[rule]]` of a file.
struct ShardRule {
  mlir::Location location;
  /// "rules.toml:3"
  std::string place;
  /// Regular expressions for names and modules. "": all.
  std::string match;
  std::string scope;
  /// Matches only trainable, or only frozen parameters.
  std::optional<bool> trainable;
  std::optional<dist::Placement> layout;

  explicit ShardRule(mlir::Location location) : location(location) {}
};

/// Reads a file of rules, or emits an error at its line.
mlir::FailureOr<std::vector<ShardRule>>
readShardRules(mlir::MLIRContext *context, llvm::StringRef path);

/// Sets `dist.rule` on each parameter to the first rule that matches it. A rule
/// that matches no parameter, or only parameters of earlier rules, is an error.
mlir::LogicalResult applyShardRules(mlir::ModuleOp module,
                                    llvm::ArrayRef<ShardRule> rules);

/// Sets a `dist.rule` that replicates the parameter on each parameter of fewer
/// than `min` elements without a rule.
void keepSmallParams(mlir::ModuleOp module, int64_t min);

} // namespace weft

#endif // WEFT_LIB_SHARDING_SHARDRULES_H
