//===- CastPolicy.h - Autocast policy of an op ------------------*- C++ -*-===//

#ifndef WEFT_INTERFACES_CASTPOLICY_H
#define WEFT_INTERFACES_CASTPOLICY_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

#include "weft/Interfaces/CastPolicy.h.inc"

namespace weft {

/// How the types of an op's floating-point operands must relate where no policy
/// makes them equal.
enum class CastOperands {
  /// They are of one type; PyTorch's op converts nothing.
  Equal,
  /// The op converts to the widest of them.
  Promoted,
  /// All but the first have the type of the first one's statistics.
  Statistics,
};

/// How autocast treats an op, or a variant of one.
struct CastRule {
  /// Distinguishes it from other variants of the op ("sum"), or "".
  llvm::StringLiteral variant;
  CastPolicy cuda;
  CastPolicy cpu;
  CastOperands operands;
  /// Operands from this one on may be f32 beside a low first one; 0: none may.
  unsigned firstFactor;
  /// PyTorch's names of the op, separated by blanks; "" if it has none.
  llvm::StringLiteral torchNames;
  /// The replacement for a banned op.
  llvm::StringLiteral instead;
  /// Under the recipes, where that differs from the lists.
  std::optional<CastPolicy> llm;
  CastPolicy pureF16;

  CastPolicy under(CastLists lists) const {
    return lists == CastLists::Cuda ? cuda : cpu;
  }
  /// The policy of the recipe, if it differs from the lists.
  std::optional<CastPolicy> under(CastRecipe recipe) const;
};

} // namespace weft

#endif // WEFT_INTERFACES_CASTPOLICY_H
