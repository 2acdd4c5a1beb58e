//===- Optimizers.h - The list of optimizers --------------------*- C++ -*-===//

#ifndef WEFT_WEFT_OPTIMIZERS_H
#define WEFT_WEFT_OPTIMIZERS_H

#include "weft/Interfaces/Optimizer.h"

#include <string>

namespace weft {

inline constexpr llvm::StringLiteral kDefaultOptimizer = "adamw";

/// Parameters that are updated alike, on the module after
/// weft-expand-optimizer: a list of dictionaries with `optimizer`, `name` of
/// the instance, `lr_scale`, `decay_scale`, `numbers` of the group (optional),
/// and `params`.
inline constexpr llvm::StringLiteral kUpdateGroupsAttr = "weft.update_groups";

/// The optimizers, the default one first: every op of the dialect with
/// OptimizerOpInterface. There is no other list of them.
llvm::ArrayRef<const OptimizerInfo *> getOptimizers();

/// The optimizer of that name, or null.
const OptimizerInfo *findOptimizer(llvm::StringRef name);

/// Their names in that order.
llvm::ArrayRef<llvm::StringRef> getOptimizerNames();

/// "adamw, adam or sgd", for messages; `quote` stands around each name.
std::string spellOptimizers(llvm::StringRef quote = "");

/// "0.01 for adamw, 0 for adam and sgd": the weight decays of PyTorch.
std::string spellDefaultDecays();

/// The hyper-parameters of all optimizers, each once: `lr`, the ones of the
/// default optimizer alone, `weight_decay`, the ones of other optimizers.
llvm::ArrayRef<llvm::StringRef> getOptimizerNumbers();

/// The input of `apply` with the weight decay of `optimizer`, one of `used`:
/// `weight_decay`, or an input of its own if its default decay differs from
/// others.
std::string getDecayInput(const OptimizerInfo &optimizer,
                          llvm::ArrayRef<const OptimizerInfo *> used);

/// Whether getDecayInput can return `name`.
bool isDecayInput(llvm::StringRef name);

/// The keys that a group of parameters may set besides the learning rate: the
/// numbers of all optimizers, then their flags.
llvm::ArrayRef<llvm::StringRef> getOptimizerKeys();

} // namespace weft

#endif // WEFT_WEFT_OPTIMIZERS_H
