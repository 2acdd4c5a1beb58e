//===- GgufFamilyRows.h - Parts of the rows of architectures ----*- C++ -*-===//

#ifndef WEFT_LIB_FORMATS_GGUFFAMILYROWS_H
#define WEFT_LIB_FORMATS_GGUFFAMILYROWS_H

#include "weft/Formats/GgufFamilies.h"

namespace weft {

GgufFamily makeGgufGemma();
GgufFamily makeGgufGemma2();
GgufFamily makeGgufGemma3();
GgufFamily makeGgufGpt2();
GgufFamily makeGgufGptNeoX();
GgufFamily makeGgufGranite();
GgufFamily makeGgufLlama();
/// Written as `llama`, of which it differs in defaults.
GgufFamily makeGgufMistral();
GgufFamily makeGgufOlmo2();
GgufFamily makeGgufPhi2();
GgufFamily makeGgufPhi3();
GgufFamily makeGgufQwen2();
GgufFamily makeGgufQwen3();
GgufFamily makeGgufSmolLm3();
GgufFamily makeGgufStarCoder2();

/// A family with RMS norms, a gated feed-forward and separate projections,
/// whose rows are not interleaved.
GgufFamily makeGgufDense(const char *architecture);

/// Replaces the row of a key, or adds it.
void setGgufKey(GgufFamily &family, GgufKeyRow row);
/// Replaces the row of a tensor, or adds it.
void setGgufTensor(GgufFamily &family, GgufTensorRow row);
void dropGgufTensor(GgufFamily &family, std::string_view gguf);

/// The integer of a field; 0 without one.
int64_t integerField(const Json &config, const char *field);
/// The width of a head: `head_dim`, else the hidden width over the heads.
int64_t headWidthOf(const Json &config);
/// The error of a field that the file cannot express.
Error unwritableField(const char *field, const std::string &rule,
                      const Json &value);
/// An error if a window hides a token of the context. Without the field the
/// window has `missing` tokens; 0: none.
Status expectNoWindow(const Json &config, int64_t missing);

} // namespace weft

#endif // WEFT_LIB_FORMATS_GGUFFAMILYROWS_H
