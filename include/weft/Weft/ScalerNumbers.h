//===- ScalerNumbers.h - The numbers of a loss scale ------------*- C++ -*-===//
//
// The numbers of #weft.scaler: the only list of their names, defaults and
// rules. Included by Weft.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_WEFT_SCALERNUMBERS_H
#define WEFT_WEFT_SCALERNUMBERS_H

#include "weft/Interfaces/NumberRules.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <variant>

namespace weft {

enum class ScalerPolicy : uint32_t;

/// The numbers of a dynamic loss scale. Policies and defaults come from
/// torch.amp.GradScaler, DeepSpeed's DynamicLossScaler and FP16_Optimizer,
/// mmcv's LossScaler and ColossalAI's DynamicGradScaler.
struct ScalerNumbers {
  ScalerPolicy policy = {}; // torch
  double init = 65536.0;
  double growth = 2.0;
  double backoff = 0.5;
  int64_t interval = 2000;
  int64_t hysteresis = 1;
  double minimum = 0.0;
  bool consecutive = false; // deepspeed: a clean step refills hysteresis

  static ScalerNumbers getDefaults(ScalerPolicy policy);
  bool operator==(const ScalerNumbers &other) const;
};

llvm::hash_code hash_value(const ScalerNumbers &numbers);

/// A number that breaks a rule of loss scales.
struct ScalerProblem {
  std::string name; // of the number
  std::string rule; // "to be above 1"
  std::string value;

  /// "expects NAME RULE, but got VALUE".
  std::string spell() const {
    return "expects " + name + " " + rule + ", but got " + value;
  }
};

/// One of the numbers.
struct ScalerField {
  llvm::StringLiteral name;
  std::variant<double ScalerNumbers::*, int64_t ScalerNumbers::*,
               bool ScalerNumbers::*>
      member;
};

/// All of them but the policy, in the order of the struct.
llvm::ArrayRef<ScalerField> getScalerFields();

/// The field of that name, or null.
const ScalerField *findScalerField(llvm::StringRef name);

/// Sets the numbers that a text as `deepspeed`, `init=4`, `interval=7` gives:
/// a policy, then numbers of it. No words leave the defaults of torch.
std::optional<ScalerProblem> parseScaler(llvm::ArrayRef<std::string> words,
                                         ScalerNumbers &numbers);

/// The first rule that the numbers break; the rules of the scale's updates come
/// first. A scale is an f32 and is multiplied in f32, so rules apply to a
/// number's f32 value.
std::optional<ScalerProblem> findProblem(const ScalerNumbers &numbers);

/// "torch", "deepspeed", ...
llvm::ArrayRef<llvm::StringRef> getScalerPolicyNames();

} // namespace weft

#endif // WEFT_WEFT_SCALERNUMBERS_H
