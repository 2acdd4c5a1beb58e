//===- GgufGemmaRows.cpp - Architectures of Gemma -------------------------===//
//
// Norms are stored with 1 added. The head is the token table. The scale of the
// scores is no key: llama.cpp knows it by the architecture and the number of
// layers.
//
//===----------------------------------------------------------------------===//

#include "GgufFamilyRows.h"

#include "weft/Base/CountText.h"
#include "weft/Base/Results.h"

#include <cstring>

namespace weft {

using Use = GgufKeyUse;

static constexpr char kLayerTypes[] = "layer_types";
static constexpr char kWindowPeriod[] = "sliding_window_pattern";
/// Configurations with more layers are refused.
static constexpr int64_t kMostLayers = 4096;
static constexpr char kPeriodKey[] = ".attention.sliding_window_pattern";

static bool endsInNorm(const char *name) {
  constexpr std::string_view ending = "norm";
  const std::string_view text = name;
  return text.size() > ending.size() &&
         text.substr(text.size() - ending.size()) == ending;
}

static void addNormOffsets(GgufFamily &row) {
  for (GgufTensorRow &tensor : row.tensors)
    if (endsInNorm(tensor.gguf))
      tensor.offset = 1;
}

static Status addGemmaFields(const GgufFile &, Json &config) {
  if (!config.find("head_dim"))
    config.set("head_dim", headWidthOf(config));
  config.set("hidden_act", "gelu_pytorch_tanh");
  return Status::success();
}

GgufFamily makeGgufGemma() {
  GgufFamily row = makeGgufDense("gemma");
  addNormOffsets(row);
  dropGgufTensor(row, "output");
  row.missingKeyHeads = 16;
  row.missingHeadWidth = 256;
  row.fixed = {
      {"hidden_act", {nullptr, "gelu_pytorch_tanh", "gelu", "gelu_new"}},
      {"attention_bias", {nullptr, false}},
      {"tie_word_embeddings", {nullptr, true}}};
  row.addFields = addGemmaFields;
  return row;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Whether all layers but each `period`-th have a window.
static bool hasPeriod(const Json::Array &types, int64_t period) {
  for (size_t i = 0; i < types.size(); ++i) {
    const bool isWindowed = (int64_t(i) + 1) % period != 0;
    if (types[i] != Json(isWindowed ? "sliding_attention" : "full_attention"))
      return false;
  }
  return true;
}

static const char *layerType(bool hasWindow) {
  return hasWindow ? "sliding_attention" : "full_attention";
}

static Json layerTypes(int64_t layers, int64_t period) {
  Json types = Json::array();
  for (int64_t i = 0; i < layers; ++i)
    types.push(layerType((i + 1) % period != 0));
  return types;
}

/// The key has a bool for each layer, whether it has a window.
static Status addWindowList(const GgufFile &file, const GgufEntry &entry,
                            Json &config) {
  auto windows = file.booleans(entry.key);
  if (!windows)
    return windows.takeError();
  const int64_t layers = integerField(config, "num_hidden_layers");
  if (int64_t((*windows)->size()) != layers)
    return file.valueError(entry, concat("expects an element for each of ",
                                         countText(layers, "layer"),
                                         ", but got ", (*windows)->size()));
  Json types = Json::array();
  for (bool hasWindow : **windows)
    types.push(layerType(hasWindow));
  config.set(kLayerTypes, std::move(types));
  return Status::success();
}

/// The key replaces the period of the architecture.
static Status addWindowPeriod(const GgufFile &file, const char *architecture,
                              Json &config) {
  const std::string key = std::string(architecture) + kPeriodKey;
  if (const GgufEntry *entry = file.findEntry(key); entry && entry->isArray())
    return addWindowList(file, *entry, config);
  auto period = file.integer(key);
  if (!period)
    return period.takeError();
  if (!*period)
    return Status::success();
  if (**period < 1)
    return file.valueError(*file.findEntry(key),
                           "expects an integer of at least 1, but got " +
                               std::to_string(**period));
  const int64_t layers = integerField(config, "num_hidden_layers");
  if (layers <= kMostLayers)
    config.set(kLayerTypes, layerTypes(layers, **period));
  return Status::success();
}

/// Changes `layer_types` into a period; null for the architecture's own.
static Status prepareWindows(Json &config, int64_t usual) {
  const Json *types = config.find(kLayerTypes);
  const Json *given = config.find(kWindowPeriod);
  int64_t period = given && given->isInt() ? given->asInt() : usual;
  if (types && types->isArray()) {
    const Json::Array &all = types->asArray();
    period = usual;
    if (!hasPeriod(all, usual))
      for (period = 1; period <= int64_t(all.size()) + 1; ++period)
        if (hasPeriod(all, period))
          break;
    if (!hasPeriod(all, period))
      return unwritableField(kLayerTypes,
                             "full attention in each N-th layer alone", *types);
  }
  if (period == 1) // no layer has a window, which every llama.cpp knows
    config.set("sliding_window", nullptr);
  config.set(kWindowPeriod,
             period == usual || period == 1 ? Json() : Json(period));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Gemma 2 and 3
//===----------------------------------------------------------------------===//

/// 1 / sqrt of this scales the scores: the width of a head, but in the models
/// of 27 B parameters the hidden width over the heads.
static int64_t queryScalar(const Json &config, int64_t layersOf27B) {
  const int64_t heads = integerField(config, "num_attention_heads");
  if (integerField(config, "num_hidden_layers") == layersOf27B && heads > 0)
    return integerField(config, "hidden_size") / heads;
  return headWidthOf(config);
}

static Status checkQueryScalar(const Json &config, int64_t layersOf27B) {
  static constexpr char kField[] = "query_pre_attn_scalar";
  const Json *given = config.find(kField);
  const Json value = given && !given->isNull() ? *given : Json(256);
  const int64_t expected = queryScalar(config, layersOf27B);
  if (value.isNumber() && value.asDouble() == double(expected))
    return Status::success();
  return unwritableField(kField, std::to_string(expected), value);
}

static Status addFields23(const GgufFile &file, const char *architecture,
                          int64_t layersOf27B, Json &config) {
  if (!config.find("head_dim"))
    config.set("head_dim", headWidthOf(config));
  config.set("hidden_activation", "gelu_pytorch_tanh");
  config.set("query_pre_attn_scalar", queryScalar(config, layersOf27B));
  return addWindowPeriod(file, architecture, config);
}

static constexpr int64_t kGemma2Layers27B = 46, kGemma3Layers27B = 62;

static Status addGemma2Fields(const GgufFile &file, Json &config) {
  return addFields23(file, "gemma2", kGemma2Layers27B, config);
}

/// Without the key no layer has a window.
static Status addGemma3Fields(const GgufFile &file, Json &config) {
  const int64_t layers = integerField(config, "num_hidden_layers");
  if (!config.find("sliding_window")) {
    config.set("sliding_window", nullptr);
    if (layers <= kMostLayers)
      config.set(kLayerTypes, layerTypes(layers, 1));
  }
  if (!config.find("final_logit_softcapping"))
    config.set("final_logit_softcapping", nullptr);
  return addFields23(file, "gemma3", kGemma3Layers27B, config);
}

/// llama.cpp has a default where the key is missing.
static Status expectCap(const Json &config, const char *field) {
  const Json *value = config.find(field);
  return value && value->isNull()
             ? Status(unwritableField(field, "a number", *value))
             : Status::success();
}

static Status prepareGemma2(Json &config) {
  for (const char *field :
       {"attn_logit_softcapping", "final_logit_softcapping"})
    if (Status status = expectCap(config, field); !status)
      return status;
  if (Status status = checkQueryScalar(config, kGemma2Layers27B); !status)
    return status;
  if (Status status = prepareWindows(config, 2); !status)
    return status;
  // Without the key llama.cpp has a window.
  if (const Json *window = config.find("sliding_window");
      window && window->isNull())
    config.set("sliding_window",
               integerField(config, "max_position_embeddings"));
  return Status::success();
}

static Status prepareGemma3(Json &config) {
  if (Status status = checkQueryScalar(config, kGemma3Layers27B); !status)
    return status;
  return prepareWindows(config, 6);
}

static GgufFamily makeGgufGemma23(const char *architecture) {
  GgufFamily row = makeGgufDense(architecture);
  setGgufTensor(row, {"blk.{}.post_attention_norm",
                      "model.layers.{}.post_attention_layernorm"});
  setGgufTensor(
      row, {"blk.{}.ffn_norm", "model.layers.{}.pre_feedforward_layernorm"});
  setGgufTensor(row, {"blk.{}.post_ffw_norm",
                      "model.layers.{}.post_feedforward_layernorm"});
  setGgufKey(row, {"attention.sliding_window", Use::Integer, "sliding_window"});
  setGgufKey(row,
             {"attention.sliding_window_pattern", Use::Written, kWindowPeriod});
  setGgufKey(
      row, {"final_logit_softcapping", Use::Number, "final_logit_softcapping"});
  row.defaults.push_back({"sliding_window", 4096, /*nullIsNone=*/true});
  row.missingKeyHeads = 4;
  row.missingHeadWidth = 256;
  row.fixed = {
      {"hidden_activation", {nullptr, "gelu_pytorch_tanh", "gelu_new"}},
      {"attention_bias", {nullptr, false}}};
  return row;
}

GgufFamily makeGgufGemma2() {
  GgufFamily row = makeGgufGemma23("gemma2");
  dropGgufTensor(row, "output");
  addNormOffsets(row);
  setGgufKey(row,
             {"attn_logit_softcapping", Use::Number, "attn_logit_softcapping"});
  row.defaults.push_back({"attn_logit_softcapping", 50.0, /*nullIsNone=*/true});
  row.defaults.push_back(
      {"final_logit_softcapping", 30.0, /*nullIsNone=*/true});
  row.fixed.push_back({"tie_word_embeddings", {nullptr, true}});
  row.addFields = addGemma2Fields;
  row.prepareKeys = prepareGemma2;
  return row;
}

GgufFamily makeGgufGemma3() {
  GgufFamily row = makeGgufGemma23("gemma3");
  row.modelType = "gemma3_text";
  setGgufTensor(row,
                {"blk.{}.attn_q_norm", "model.layers.{}.self_attn.q_norm"});
  setGgufTensor(row,
                {"blk.{}.attn_k_norm", "model.layers.{}.self_attn.k_norm"});
  addNormOffsets(row);
  // Layers with a window have a base of their own.
  setGgufKey(row, {"rope.freq_base_swa", Use::Number, "rope_local_base_freq"});
  setGgufKey(row, {"rope.freq_base", Use::RequiredNumber, "rope_theta"});
  for (GgufDefault &entry : row.defaults)
    if (std::strcmp(entry.field, "rope_theta") == 0)
      entry.value = 1e6;
  row.addFields = addGemma3Fields;
  row.prepareKeys = prepareGemma3;
  return row;
}

} // namespace weft
