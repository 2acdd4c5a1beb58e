//===- GgufLlamaRows.cpp - Architectures with RMS norms, gated ------------===//
//
// Facts of llama.cpp's converter and loader. A row is told by its differences
// from the nearest one.
//
//===----------------------------------------------------------------------===//

#include "GgufFamilyRows.h"
#include "GgufRope.h"

#include "weft/Base/Text.h"

namespace weft {

using Use = GgufKeyUse;

/// Biases are fields of the configuration, and tensors of the file.
static Status addBiasFields(const GgufFile &file, Json &config) {
  for (auto [tensor, field] : {std::pair("blk.0.attn_q.bias", "attention_bias"),
                               std::pair("blk.0.ffn_gate.bias", "mlp_bias")})
    if (file.find(tensor))
      config.set(field, true);
  return Status::success();
}

/// Without the key, a head has the hidden width over the heads; transformers
/// has a number.
static Status addHeadWidth(const GgufFile &, Json &config) {
  if (!config.find("head_dim"))
    config.set("head_dim", headWidthOf(config));
  return Status::success();
}

/// llama.cpp rotates pairs of neighbours in these architectures.
static void interleaveHeads(GgufFamily &row) {
  setGgufTensor(row, {"blk.{}.attn_q", "model.layers.{}.self_attn.q_proj",
                      GgufLayout::QueryHeads});
  setGgufTensor(row, {"blk.{}.attn_k", "model.layers.{}.self_attn.k_proj",
                      GgufLayout::KeyHeads});
}

GgufFamily makeGgufLlama() {
  GgufFamily row = makeGgufDense("llama");
  interleaveHeads(row);
  row.tables = {kRopeFactors};
  row.addFields = addBiasFields;
  return row;
}

GgufFamily makeGgufMistral() {
  GgufFamily row = makeGgufLlama();
  row.modelType = "mistral";
  row.missingKeyHeads = 8;
  row.prepareKeys = [](Json &config) { return expectNoWindow(config, 4096); };
  return row;
}

GgufFamily makeGgufGranite() {
  GgufFamily row = makeGgufDense("granite");
  interleaveHeads(row);
  for (auto [key, field] :
       {std::pair("embedding_scale", "embedding_multiplier"),
        std::pair("residual_scale", "residual_multiplier")}) {
    setGgufKey(row, {key, Use::Number, field});
    row.defaults.push_back({field, 1.0});
  }
  // llama.cpp has another default than transformers.
  for (auto [key, field] :
       {std::pair("attention.scale", "attention_multiplier"),
        std::pair("logit_scale", "logits_scaling")}) {
    setGgufKey(row, {key, Use::RequiredNumber, field});
    row.defaults.push_back({field, 1.0});
  }
  row.addFields = addBiasFields;
  return row;
}

static bool hasWindowedLayer(const Json &config) {
  const Json *types = config.find("layer_types");
  if (!types || !types->isArray())
    return false;
  for (const Json &type : types->asArray())
    if (type == Json("sliding_attention"))
      return true;
  return false;
}

/// Every fourth layer does not rotate in llama.cpp, and none has a window.
static Status prepareSmolLm3(Json &config) {
  if (hasWindowedLayer(config))
    return unwritableField("layer_types", "full_attention alone",
                           *config.find("layer_types"));
  const int64_t layers = integerField(config, "num_hidden_layers");
  const Json *rotates = config.find("no_rope_layers");
  if (rotates && !rotates->isNull()) {
    Json expected = Json::array();
    for (int64_t i = 0; i < layers; ++i)
      expected.push((i + 1) % 4 != 0 ? 1 : 0);
    if (*rotates != expected)
      return unwritableField("no_rope_layers", "0 for every fourth layer",
                             *rotates);
  } else if (const Json *step = config.find("no_rope_layer_interval");
             step && !step->isNull() && *step != Json(4)) {
    return unwritableField("no_rope_layer_interval", "4", *step);
  }
  return Status::success();
}

GgufFamily makeGgufSmolLm3() {
  GgufFamily row = makeGgufDense("smollm3");
  interleaveHeads(row);
  setGgufKey(row, {"rope.freq_base", Use::RequiredNumber, "rope_theta"});
  row.defaults = {{"rms_norm_eps", 1e-6}, {"rope_theta", 2e6}};
  row.missingKeyHeads = 4;
  row.fixed.push_back({"use_sliding_window", {nullptr, false}});
  row.addFields = addBiasFields;
  row.prepareKeys = prepareSmolLm3;
  return row;
}

GgufFamily makeGgufQwen2() {
  GgufFamily row = makeGgufDense("qwen2");
  row.missingKeyHeads = 32;
  row.fixed.push_back({"use_sliding_window", {nullptr, false}});
  return row;
}

GgufFamily makeGgufQwen3() {
  GgufFamily row = makeGgufQwen2();
  row.architecture = row.modelType = "qwen3";
  setGgufTensor(row,
                {"blk.{}.attn_q_norm", "model.layers.{}.self_attn.q_norm"});
  setGgufTensor(row,
                {"blk.{}.attn_k_norm", "model.layers.{}.self_attn.k_norm"});
  row.missingHeadWidth = 128;
  row.fixed.push_back({"attention_bias", {nullptr, false}});
  row.addFields = addHeadWidth;
  return row;
}

GgufFamily makeGgufOlmo2() {
  GgufFamily row = makeGgufDense("olmo2");
  dropGgufTensor(row, "blk.{}.attn_norm");
  dropGgufTensor(row, "blk.{}.ffn_norm");
  for (auto [gguf, model] :
       {std::pair("blk.{}.attn_q_norm", "model.layers.{}.self_attn.q_norm"),
        std::pair("blk.{}.attn_k_norm", "model.layers.{}.self_attn.k_norm"),
        std::pair("blk.{}.post_attention_norm",
                  "model.layers.{}.post_attention_layernorm"),
        std::pair("blk.{}.post_ffw_norm",
                  "model.layers.{}.post_feedforward_layernorm")})
    setGgufTensor(row, {gguf, model});
  row.defaults = {{"rms_norm_eps", 1e-5}, {"rope_theta", 10000.0}};
  row.fixed.push_back({"attention_bias", {nullptr, false}});
  return row;
}

GgufFamily makeGgufPhi3() {
  GgufFamily row = makeGgufDense("phi3");
  for (const char *part : {"q", "k", "v"})
    dropGgufTensor(row, std::string("blk.{}.attn_") + part);
  dropGgufTensor(row, "blk.{}.ffn_gate");
  setGgufTensor(row, {"blk.{}.attn_qkv", "model.layers.{}.self_attn.qkv_proj"});
  // Gate in front of up.
  setGgufTensor(row, {"blk.{}.ffn_up", "model.layers.{}.mlp.gate_up_proj"});
  row.partial = "partial_rotary_factor";
  setGgufKey(row, {"rope.dimension_count", Use::RotaryWidth, row.partial});
  setGgufKey(row, {"attention.sliding_window", Use::Window, "sliding_window"});
  setGgufKey(row, {"rope.scaling.original_context_length", Use::Integer,
                   "original_max_position_embeddings"});
  row.tables = {kLongRopeFactors, kShortRopeFactors};
  row.defaults = {{"rms_norm_eps", 1e-5},
                  {"rope_theta", 10000.0},
                  {row.partial, 1.0},
                  {"original_max_position_embeddings", 4096}};
  return row;
}

} // namespace weft
