//===- CastPolicy.h - Autocast policy of an op ------------------*- C++ -*-===//

#ifndef WEFT_INTERFACES_CASTPOLICY_H
#define WEFT_INTERFACES_CASTPOLICY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace weft {

/// PyTorch's lists of autocast policies.
enum class CastLists { Cuda, Cpu };

/// A named change of the lists.
enum class CastRecipe {
  /// None.
  Amp,
  /// The low-precision stream starts at the embedding. Operands that join it
  /// are converted to the low type. Norms and the loss read it unconverted and
  /// compute in f32 inside.
  Llm,
  /// A model in half precision: no op but the losses is special.
  PureF16,
};

/// The type that an op runs in.
enum class CastPolicy {
  /// In the low type.
  Lower,
  /// In f32.
  F32,
  /// In f32 unless the caller asked for another type.
  F32SetDtype,
  /// In f32 if an operand is f32, else in the low type.
  Promote,
  /// In the types of its operands.
  Follow,
  /// In the low type if an operand that is no scalar has it, else as Follow.
  Narrow,
  /// Not at all: it overflows or rounds too much.
  Banned,
};

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

/// "lower", "f32", "f32-set-dtype", ...
llvm::StringRef stringifyCastPolicy(CastPolicy policy);
std::optional<CastPolicy> symbolizeCastPolicy(llvm::StringRef name);

/// "cuda" or "cpu".
llvm::StringRef stringifyCastLists(CastLists lists);
std::optional<CastLists> symbolizeCastLists(llvm::StringRef name);

/// "amp", "llm" or "pure-f16".
llvm::StringRef stringifyCastRecipe(CastRecipe recipe);
std::optional<CastRecipe> symbolizeCastRecipe(llvm::StringRef name);
llvm::ArrayRef<llvm::StringRef> getCastRecipeNames();

} // namespace weft

#endif // WEFT_INTERFACES_CASTPOLICY_H
