//===- ShardRules.h - Which parameters a stage may shard --------*- C++ -*-===//

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
  /// Regular expressions of names and modules; "": all.
  std::string match;
  std::string scope;
  /// Trained or frozen parameters alone.
  std::optional<bool> trainable;
  std::optional<dist::Placement> layout;

  explicit ShardRule(mlir::Location location) : location(location) {}
};

/// Reads a file of rules, or emits an error at its line.
mlir::FailureOr<std::vector<ShardRule>>
readShardRules(mlir::MLIRContext *context, llvm::StringRef path);

/// Gives each parameter the `dist.rule` of the first rule that finds it. One
/// that finds none, or none that earlier ones have not found, is an error.
mlir::LogicalResult applyShardRules(mlir::ModuleOp module,
                                    llvm::ArrayRef<ShardRule> rules);

/// Gives each parameter of fewer than `min` elements that has no `dist.rule`
/// one that keeps it whole.
void keepSmallParams(mlir::ModuleOp module, int64_t min);

} // namespace weft

#endif // WEFT_LIB_SHARDING_SHARDRULES_H
