//===- Units.h - Parameters that belong together ----------------*- C++ -*-===//
//
// A unit is a group of parameters that are gathered, reduced and updated
// together: a block of the model, or a group chosen by a rule.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_SHARDING_UNITS_H
#define WEFT_SHARDING_UNITS_H

#include "weft/Weft/Weft.h"

#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>

namespace weft {

/// How parameters are divided into units.
struct UnitRule {
  enum class Kind {
    Scope, ///< Blocks of the model, and the parameters between them.
    Bytes, ///< Neighbours of at most `limit` bytes, or one alone.
    Params ///< Modules of at least `limit` elements, the inner ones first.
  };
  Kind kind = Kind::Scope;
  int64_t limit = 0;
};

/// Valid rules, for messages.
inline constexpr llvm::StringLiteral kUnitRules =
    "scope, bytes:N or params:N with N of at least 1";

/// The module of a parameter: its scope, or its name without the last word.
llvm::StringRef getModulePath(ParamOp param);

/// Reads "scope", "bytes:N" or "params:N"; nothing for other text.
std::optional<UnitRule> parseUnitRule(llvm::StringRef text);

struct Unit {
  /// "h.0", "wte", "root"; two units never have one name.
  std::string name;
  /// In the order of the module, never empty.
  llvm::SmallVector<ParamOp> params;
};

/// The paths of the modules of attention ops inside of blocks ("h.0.attn").
/// Blocks themselves are excluded.
llvm::StringSet<> findAttentionModules(mlir::ModuleOp module);

/// Divides the parameters into units, in the order of the first parameter of
/// each. Each parameter is in one unit. UnitRule::Kind::Params does not divide
/// modules that are in `whole` and contain no blocks.
std::vector<Unit> formUnits(llvm::ArrayRef<ParamOp> params, UnitRule rule,
                            const llvm::StringSet<> &whole);

} // namespace weft

#endif // WEFT_SHARDING_UNITS_H
