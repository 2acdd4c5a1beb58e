//===- GgufFamilies.h - Model families of GGUF files ------------*- C++ -*-===//
//
// One row per architecture relates its keys and tensor names to the fields of
// config.json and the tensor names of Hugging Face's transformers, in both
// directions. llama.cpp's converter defines the relation: it reorders the rows
// of some projections and transposes some matrices.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_GGUFFAMILIES_H
#define WEFT_FORMATS_GGUFFAMILIES_H

#include "weft/Formats/Gguf.h"
#include "weft/Formats/Json.h"

namespace weft {

/// Order of the elements in GGUF, relative to Hugging Face's.
enum class GgufLayout {
  Same,
  /// Rows of each query head: the two halves of a head interleaved.
  QueryHeads,
  /// The same for key heads.
  KeyHeads,
  /// A matrix with rows and columns exchanged.
  Transposed,
  /// Rows of a fused projection: query, key and value of all heads, in place of
  /// query, key and value of each head.
  GroupedHeads,
};

/// The use of a key `ARCHITECTURE.KEY`.
enum class GgufKeyUse {
  /// An integer or a number becomes the field. Without the key the model has
  /// the default of its configuration.
  Integer,
  Number,
  RequiredInteger,
  RequiredNumber,
  /// A bool becomes the field.
  Flag,
  /// An integer becomes the field; 0 means none, which is null.
  Window,
  /// Rotated elements of a head; the field is their fraction of the head.
  /// Without the key all of them rotate.
  RotaryWidth,
  /// The value must equal the field.
  Equal,
  /// An integer that is written from the field; the family's `addFields` reads
  /// it.
  Written,
  /// Another value than 0 asks for `field`, a feature that weft does not have.
  Zero,
};

struct GgufKeyRow {
  const char *key;
  GgufKeyUse use;
  const char *field;
};

struct GgufTensorRow {
  /// Names without ".weight" and ".bias"; "{}" is the number of the block.
  const char *gguf;
  const char *model;
  GgufLayout layout = GgufLayout::Same;
  /// Whether llama.cpp stores it as F32 in files of every type.
  bool keepsF32 = false;
  /// GGUF's value minus Hugging Face's.
  float offset = 0;
};

/// Transformers' default of a field that a key is written from.
struct GgufDefault {
  const char *field;
  Json value;
  /// null is a value of its own, "none", and no missing field.
  bool nullIsNone = false;
};

/// A field that no key expresses: only models with these values are written.
struct GgufFixedField {
  const char *field;
  std::vector<Json> accepted; // null: a missing field too
};

/// An architecture.
struct GgufFamily {
  const char *architecture; // general.architecture
  const char *modelType;    // model_type of config.json
  std::vector<GgufKeyRow> keys;
  std::vector<GgufTensorRow> tensors;
  /// Tensors of the file that are configuration, not weights.
  std::vector<const char *> tables;
  /// Fields with the hidden width, the number of query heads and of key heads.
  const char *width = "hidden_size";
  const char *queryHeads = "num_attention_heads";
  const char *keyHeads = "num_key_value_heads";
  /// Fields with the base of the rotary positions and with the rotated fraction
  /// of a head; null without rotary positions, or if all of a head rotates.
  const char *theta = "rope_theta";
  const char *partial = nullptr;

  std::vector<GgufDefault> defaults;
  /// Transformers' default of the number of key heads (0: the query heads) and
  /// of `head_dim` (0: the hidden width over the query heads).
  int64_t missingKeyHeads = 0;
  int64_t missingHeadWidth = 0;
  std::vector<GgufFixedField> fixed;

  /// Whether a head equal to the token table is tied to it.
  bool tiesEqualHead = false;
  /// Adds fields that no key gives; null if there are none.
  Status (*addFields)(const GgufFile &file, Json &config) = nullptr;
  /// Refuses other configurations that the architecture cannot express, and
  /// changes fields into the form of the keys.
  Status (*prepareKeys)(Json &config) = nullptr;
};

/// The row of an architecture, or of a `model_type`; null if it has none.
const GgufFamily *findGgufFamily(std::string_view architecture);
const GgufFamily *familyOfModelType(std::string_view modelType);
/// "gemma, gemma2, ... or starcoder2"
std::string ggufArchitectures();
std::string ggufModelTypes();
/// The row of the file's general.architecture, or an error that names the known
/// ones.
Expected<const GgufFamily *> familyOf(const GgufFile &file);

/// The name of a tensor in the other format and its row.
struct GgufName {
  std::string name;
  const GgufTensorRow *row;
};
std::optional<GgufName> toModelName(const GgufFamily &family,
                                    std::string_view gguf);
std::optional<GgufName> toGgufName(const GgufFamily &family,
                                   std::string_view model);

/// The number of heads that a layout reorders; 1 without heads.
int64_t ggufHeads(const GgufFamily &family, const Json &config,
                  GgufLayout layout);

/// The configuration of the model as config.json would give it. Unknown keys of
/// the architecture become fields with the name of the key.
Expected<Json> ggufConfig(const GgufFile &file);

} // namespace weft

#endif // WEFT_FORMATS_GGUFFAMILIES_H
