//===- FamilyRows.h - Parts of the rows of families -------------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_FAMILYROWS_H
#define WEFT_LIB_FRONTEND_FAMILYROWS_H

#include "FamilyTable.h"

namespace weft {

Family makeLlama();
/// A family that differs from Llama in facts alone: its biases have no fields.
Family makeLlamaLike(llvm::StringRef name);
Family makeGpt2();
Family makeMistral();
Family makeQwen2();
Family makeQwen3();
Family makeGemma();
Family makeGemma2();
Family makeGemma3();
Family makePhi3();
Family makeSmolLm3();
Family makeOlmo2();
Family makeGptNeoX();
Family makeStarCoder2();
Family makeOpt();
Family makePhi();
Family makeGranite();
Family makeStableLm();

inline NumberField
dropField(llvm::StringRef name,
          llvm::SmallVector<double DecoderSpec::*, 2> targets,
          double missing = 0.0) {
  return {name, std::move(targets), missing, 0.0, 0.999999};
}

inline NumberField epsilonField(llvm::StringRef name, double missing) {
  return {name, {&DecoderSpec::epsilon}, missing, 0.0, 1.0};
}

inline NumberField initField(llvm::StringRef name = "initializer_range",
                             double missing = 0.02) {
  return {name, {&DecoderSpec::initRange}, missing, 0.0, 1e6};
}

/// A cap of scores or logits.
inline NumberField capField(llvm::StringRef name, double DecoderSpec::*target,
                            double missing) {
  return {name, {target}, missing, 1e-6, 1e6, /*nullIsNone=*/true};
}

/// A factor that is not 0.
inline NumberField factorField(llvm::StringRef name,
                               double DecoderSpec::*target, double missing) {
  return {name, {target}, missing, 1e-9, 1e9};
}

inline FlagField tiedField(bool missing) {
  return {"tie_word_embeddings", {&DecoderSpec::tied}, missing};
}

/// Replaces the row of a field by its name, or adds it.
template <typename Field>
void setField(std::vector<Field> &fields, Field field) {
  for (Field &old : fields)
    if (old.name == field.name) {
      old = std::move(field);
      return;
    }
  fields.push_back(std::move(field));
}

/// Removes the row of a field, if it is there.
template <typename Field>
void dropRow(std::vector<Field> &fields, llvm::StringRef name) {
  for (auto it = fields.begin(); it != fields.end(); ++it)
    if (it->name == name) {
      fields.erase(it);
      return;
    }
}

inline SizeField groupsField(int64_t missing) {
  return {"num_key_value_heads", &DecoderSpec::groups, MissingSize::Value,
          missing};
}

inline SizeField headWidthField(int64_t missing) {
  return {"head_dim", &DecoderSpec::headWidth, MissingSize::Value, missing};
}

inline const FixedField kNoPartialRotary = {"partial_rotary_factor",
                                            "partial rotary positions", 1.0};

/// The window of a family that has no layer_types.
inline const FixedField kNoSlidingFlag = {
    "use_sliding_window", "sliding windows of attention", {}};

} // namespace weft

#endif // WEFT_LIB_FRONTEND_FAMILYROWS_H
