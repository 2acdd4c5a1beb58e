//===- GgufFamilyRows.cpp - Parts of the rows of architectures ------------===//

#include "GgufFamilyRows.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <cstring>

namespace weft {

using Use = GgufKeyUse;

GgufFamily makeGgufDense(const char *architecture) {
  GgufFamily row;
  row.architecture = row.modelType = architecture;
  row.keys = {
      {"vocab_size", Use::Integer, "vocab_size"},
      {"context_length", Use::RequiredInteger, "max_position_embeddings"},
      {"embedding_length", Use::RequiredInteger, "hidden_size"},
      {"feed_forward_length", Use::RequiredInteger, "intermediate_size"},
      {"block_count", Use::RequiredInteger, "num_hidden_layers"},
      {"attention.head_count", Use::RequiredInteger, "num_attention_heads"},
      {"attention.head_count_kv", Use::Integer, "num_key_value_heads"},
      {"attention.key_length", Use::Integer, "head_dim"},
      {"attention.value_length", Use::Equal, "head_dim"},
      {"rope.dimension_count", Use::Equal, "head_dim"},
      {"rope.freq_base", Use::Number, "rope_theta"},
      {"attention.layer_norm_rms_epsilon", Use::RequiredNumber, "rms_norm_eps"},
      {"expert_count", Use::Zero, "mixtures of experts"},
      {"expert_used_count", Use::Zero, "mixtures of experts"},
  };
  row.tensors = {
      {"token_embd", "model.embed_tokens"},
      {"blk.{}.attn_norm", "model.layers.{}.input_layernorm"},
      {"blk.{}.attn_q", "model.layers.{}.self_attn.q_proj"},
      {"blk.{}.attn_k", "model.layers.{}.self_attn.k_proj"},
      {"blk.{}.attn_v", "model.layers.{}.self_attn.v_proj"},
      {"blk.{}.attn_output", "model.layers.{}.self_attn.o_proj"},
      {"blk.{}.ffn_norm", "model.layers.{}.post_attention_layernorm"},
      {"blk.{}.ffn_gate", "model.layers.{}.mlp.gate_proj"},
      {"blk.{}.ffn_up", "model.layers.{}.mlp.up_proj"},
      {"blk.{}.ffn_down", "model.layers.{}.mlp.down_proj"},
      {"output_norm", "model.norm"},
      {"output", "lm_head"},
  };
  row.defaults = {{"rms_norm_eps", 1e-6}, {"rope_theta", 10000.0}};
  row.fixed = {{"hidden_act", {nullptr, "silu", "swish"}}};
  return row;
}

void setGgufKey(GgufFamily &family, GgufKeyRow row) {
  for (GgufKeyRow &old : family.keys)
    if (std::strcmp(old.key, row.key) == 0) {
      old = row;
      return;
    }
  family.keys.push_back(row);
}

void setGgufTensor(GgufFamily &family, GgufTensorRow row) {
  for (GgufTensorRow &old : family.tensors)
    if (std::strcmp(old.gguf, row.gguf) == 0) {
      old = row;
      return;
    }
  family.tensors.push_back(row);
}

void dropGgufTensor(GgufFamily &family, std::string_view gguf) {
  auto &rows = family.tensors;
  rows.erase(std::remove_if(
                 rows.begin(), rows.end(),
                 [&](const GgufTensorRow &row) { return gguf == row.gguf; }),
             rows.end());
}

int64_t integerField(const Json &config, const char *field) {
  const Json *value = config.find(field);
  return value && value->isInt() ? value->asInt() : 0;
}

int64_t headWidthOf(const Json &config) {
  const int64_t given = integerField(config, "head_dim");
  const int64_t heads = integerField(config, "num_attention_heads");
  if (given > 0 || heads < 1)
    return given;
  return integerField(config, "hidden_size") / heads;
}

Error unwritableField(const char *field, const std::string &rule,
                      const Json &value) {
  Error error =
      inputError(std::string("field '") + field + "': expects " + rule +
                 ", since a GGUF file of the architecture has no place for "
                 "another, but got " +
                 printable(value.compact(), 80));
  return error.hint("--format safetensors exports any model");
}

Status expectNoWindow(const Json &config, int64_t missing) {
  static constexpr char kWindow[] = "sliding_window";
  const Json *given = config.find(kWindow);
  if (given && !given->isInt())
    return given->isNull() ? Status::success()
                           : unwritableField(kWindow, "null", *given);
  const int64_t window = given ? given->asInt() : missing;
  const int64_t context = integerField(config, "max_position_embeddings");
  if (window == 0 || window >= context)
    return Status::success();
  return unwritableField(
      kWindow, "null or at least the context of " + std::to_string(context),
      Json(window));
}

} // namespace weft
