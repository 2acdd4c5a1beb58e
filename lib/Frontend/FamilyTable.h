//===- FamilyTable.h - Model families of transformers -----------*- C++ -*-===//
//
// A row has the fields of config.json of a family, transformers' default of each,
// and the names of the tensors.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FRONTEND_FAMILYTABLE_H
#define WEFT_LIB_FRONTEND_FAMILYTABLE_H

#include "DecoderSpec.h"

#include <optional>

namespace weft {

/// The value of a size that the file does not give.
enum class MissingSize {
  Required,  // an error
  Value,     // `value`; null: the number of heads
  Heads,     // the number of heads
  HeadWidth, // hidden width / heads
  Width,     // hidden width
  FourWidths // 4 x hidden width
};

struct SizeField {
  llvm::StringRef name;
  int64_t DecoderSpec::*target;
  MissingSize missing = MissingSize::Required;
  int64_t value = 0;
};

struct NumberField {
  llvm::StringRef name;
  llvm::SmallVector<double DecoderSpec::*, 2> targets;
  double missing, least, most;
  /// null means 0, which is "none", instead of `missing`.
  bool nullIsNone = false;
};

struct FlagField {
  llvm::StringRef name;
  llvm::SmallVector<bool DecoderSpec::*, 3> targets;
  bool missing;
};

/// A field that has one accepted value; the others ask for `feature`.
struct FixedField {
  llvm::StringRef name, feature;
  /// Without a number: the flag that the field must be.
  std::optional<double> number;
  bool flag = false;
};

/// Which layers have a window.
enum class WindowRule {
  None,
  All,          // sliding_window, null: none
  FromLayer,    // use_sliding_window, from layer max_window_layers on
  Alternating,  // the first, third, ... layer
  AllButEveryN, // all but each sliding_window_pattern-th layer
  Unrotated     // use_sliding_window, the layers without rotary positions
};

struct WindowFields {
  WindowRule rule = WindowRule::None;
  /// sliding_window where it is missing; 0: none.
  int64_t missing = 0;
  /// The family has layer_types, which replaces the rule.
  bool hasLayerTypes = false;
};

struct RopeFields {
  bool isUsed = true;
  /// Names of the base, the first of which is recorded.
  llvm::SmallVector<llvm::StringRef, 2> thetaNames = {"rope_theta"};
  double theta = 10000.0;
  /// Names of the rotated part of a head; none: all of it rotates.
  llvm::SmallVector<llvm::StringRef, 2> partialNames;
  double partial = 1.0;
  /// Layers with a window have a base of their own (Gemma 3).
  bool hasLocal = false;
  double localTheta = 10000.0;
  /// transformers knows types `default` and `longrope` alone (Phi-3).
  bool onlyLongRope = false;
  /// no_rope_layers and no_rope_layer_interval (SmolLM3).
  bool hasUnrotatedLayers = false;
};

struct Family {
  llvm::StringRef name;
  /// Facts that no field changes.
  DecoderSpec spec;

  std::vector<SizeField> sizes;
  std::vector<NumberField> numbers;
  std::vector<FlagField> flags;
  std::vector<FixedField> fixed;
  llvm::StringRef activationName = "hidden_act";
  llvm::StringRef activation = "silu";
  /// `gelu` stands for the tanh form (Gemma).
  bool geluIsTanh = false;
  RopeFields rope;
  WindowFields window;

  /// transformers gives the row of pad_token_id no gradient from the embedding.
  bool hasPaddingRow = true;
  std::optional<int64_t> padToken;
  /// Fields that change nothing that weft computes.
  std::vector<llvm::StringRef> harmless;

  /// The field that sets a size.
  llvm::StringRef fieldOf(int64_t DecoderSpec::*target) const;
};

/// All families, in the order in which messages list them.
const std::vector<Family> &families();

} // namespace weft

#endif // WEFT_LIB_FRONTEND_FAMILYTABLE_H
