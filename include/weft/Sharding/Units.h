//===- Units.h - Parameters that belong together ----------------*- C++ -*-===//
//
// A unit is what is gathered, reduced and updated as a whole: a block of the
// model, or as many parameters as a rule says.
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
    Scope, ///< Blocks of the model, and what stands before, between, after.
    Bytes, ///< Neighbours of at most `limit` bytes, or one alone.
    Params ///< Modules of at least `limit` elements, the inner ones first.
  };
  Kind kind = Kind::Scope;
  int64_t limit = 0;
};

/// What a rule may be, for messages.
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

/// The paths of the modules that attention stands in, "h.0.attn": those inside
/// a block, which are no blocks themselves.
llvm::StringSet<> findAttentionModules(mlir::ModuleOp module);

/// The units of those parameters, in the order of their first ones. Each
/// parameter is in one of them. UnitRule::Kind::Params does not divide modules
/// that are `whole` and have no blocks in them.
std::vector<Unit> formUnits(llvm::ArrayRef<ParamOp> params, UnitRule rule,
                            const llvm::StringSet<> &whole);

} // namespace weft

#endif // WEFT_SHARDING_UNITS_H
