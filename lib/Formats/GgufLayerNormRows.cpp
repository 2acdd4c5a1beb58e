//===- GgufLayerNormRows.cpp - Architectures with layer norms -------------===//
//
// Facts of llama.cpp's converter and loader, as in GgufLlamaRows.cpp.
//
//===----------------------------------------------------------------------===//

#include "GgufFamilyRows.h"

namespace weft {

using Use = GgufKeyUse;

static Status prepareGpt2Keys(Json &config) {
  if (const Json *inner = config.find("n_inner"); !inner || inner->isNull())
    config.set("n_inner", 4 * integerField(config, "n_embd"));
  return Status::success();
}

GgufFamily makeGgufGpt2() {
  GgufFamily row;
  row.architecture = row.modelType = "gpt2";
  row.keys = {
      {"vocab_size", Use::Integer, "vocab_size"},
      {"context_length", Use::RequiredInteger, "n_positions"},
      {"embedding_length", Use::RequiredInteger, "n_embd"},
      {"feed_forward_length", Use::RequiredInteger, "n_inner"},
      {"block_count", Use::RequiredInteger, "n_layer"},
      {"attention.head_count", Use::RequiredInteger, "n_head"},
      {"attention.head_count_kv", Use::Equal, "n_head"},
      {"attention.layer_norm_epsilon", Use::RequiredNumber,
       "layer_norm_epsilon"},
  };
  row.tensors = {
      {"token_embd", "transformer.wte"},
      {"position_embd", "transformer.wpe", GgufLayout::Same,
       /*keepsF32=*/true},
      {"blk.{}.attn_norm", "transformer.h.{}.ln_1"},
      {"blk.{}.attn_qkv", "transformer.h.{}.attn.c_attn",
       GgufLayout::Transposed},
      {"blk.{}.attn_output", "transformer.h.{}.attn.c_proj",
       GgufLayout::Transposed},
      {"blk.{}.ffn_norm", "transformer.h.{}.ln_2"},
      {"blk.{}.ffn_up", "transformer.h.{}.mlp.c_fc", GgufLayout::Transposed},
      {"blk.{}.ffn_down", "transformer.h.{}.mlp.c_proj",
       GgufLayout::Transposed},
      {"output_norm", "transformer.ln_f"},
      {"output", "lm_head"},
  };
  row.width = "n_embd";
  row.queryHeads = row.keyHeads = "n_head";
  row.theta = nullptr;
  row.defaults = {{"layer_norm_epsilon", 1e-5}};
  row.fixed = {
      {"scale_attn_weights", {nullptr, true}},
      {"scale_attn_by_inverse_layer_idx", {nullptr, false}},
      {"activation_function", {nullptr, "gelu_new", "gelu_pytorch_tanh"}}};
  // Older converters stored the tied head a second time.
  row.tiesEqualHead = true;
  row.prepareKeys = prepareGpt2Keys;
  return row;
}

GgufFamily makeGgufGptNeoX() {
  GgufFamily row;
  row.architecture = "gptneox";
  row.modelType = "gpt_neox";
  row.queryHeads = row.keyHeads = "num_attention_heads";
  row.theta = "rotary_emb_base";
  row.partial = "rotary_pct";
  row.keys = {
      {"vocab_size", Use::Integer, "vocab_size"},
      {"context_length", Use::RequiredInteger, "max_position_embeddings"},
      {"embedding_length", Use::RequiredInteger, "hidden_size"},
      {"feed_forward_length", Use::RequiredInteger, "intermediate_size"},
      {"block_count", Use::RequiredInteger, "num_hidden_layers"},
      {"attention.head_count", Use::RequiredInteger, "num_attention_heads"},
      {"attention.head_count_kv", Use::Equal, "num_attention_heads"},
      {"attention.layer_norm_epsilon", Use::RequiredNumber, "layer_norm_eps"},
      {"use_parallel_residual", Use::Flag, "use_parallel_residual"},
      {"rope.dimension_count", Use::RotaryWidth, row.partial},
      {"rope.freq_base", Use::Number, row.theta},
  };
  row.tensors = {
      {"token_embd", "gpt_neox.embed_in"},
      {"blk.{}.attn_norm", "gpt_neox.layers.{}.input_layernorm"},
      {"blk.{}.attn_qkv", "gpt_neox.layers.{}.attention.query_key_value",
       GgufLayout::GroupedHeads},
      {"blk.{}.attn_output", "gpt_neox.layers.{}.attention.dense"},
      {"blk.{}.ffn_norm", "gpt_neox.layers.{}.post_attention_layernorm"},
      {"blk.{}.ffn_up", "gpt_neox.layers.{}.mlp.dense_h_to_4h"},
      {"blk.{}.ffn_down", "gpt_neox.layers.{}.mlp.dense_4h_to_h"},
      {"output_norm", "gpt_neox.final_layer_norm"},
      {"output", "embed_out"},
  };
  row.defaults = {{"layer_norm_eps", 1e-5},
                  {"use_parallel_residual", true},
                  {row.partial, 0.25},
                  {row.theta, 10000.0}};
  row.fixed = {{"hidden_act", {nullptr, "gelu"}},
               {"attention_bias", {nullptr, true}}};
  return row;
}

/// Changes a dense row to layer norms and a feed-forward without a gate.
static void useLayerNorms(GgufFamily &row, const char *epsilon) {
  for (GgufKeyRow &key : row.keys)
    if (std::string_view(key.field) == "rms_norm_eps")
      key = {"attention.layer_norm_epsilon", Use::RequiredNumber, epsilon};
  dropGgufTensor(row, "blk.{}.ffn_gate");
  row.defaults = {{epsilon, 1e-5}, {"rope_theta", 10000.0}};
}

GgufFamily makeGgufStarCoder2() {
  GgufFamily row = makeGgufDense("starcoder2");
  useLayerNorms(row, "norm_epsilon");
  setGgufTensor(row, {"blk.{}.ffn_up", "model.layers.{}.mlp.c_fc"});
  setGgufTensor(row, {"blk.{}.ffn_down", "model.layers.{}.mlp.c_proj"});
  row.missingKeyHeads = 2;
  row.fixed = {{"hidden_act", {nullptr, "gelu_pytorch_tanh", "gelu_new"}},
               {"use_bias", {nullptr, true}}};
  row.prepareKeys = [](Json &config) { return expectNoWindow(config, 0); };
  return row;
}

GgufFamily makeGgufPhi2() {
  GgufFamily row = makeGgufDense("phi2");
  row.modelType = "phi";
  useLayerNorms(row, "layer_norm_eps");
  dropGgufTensor(row, "blk.{}.ffn_norm");
  for (auto [gguf, model] :
       {std::pair("blk.{}.attn_output", "model.layers.{}.self_attn.dense"),
        std::pair("blk.{}.ffn_up", "model.layers.{}.mlp.fc1"),
        std::pair("blk.{}.ffn_down", "model.layers.{}.mlp.fc2"),
        std::pair("output_norm", "model.final_layernorm")})
    setGgufTensor(row, {gguf, model});
  row.partial = "partial_rotary_factor";
  setGgufKey(row, {"rope.dimension_count", Use::RotaryWidth, row.partial});
  row.defaults.push_back({row.partial, 0.5});
  row.fixed = {{"hidden_act", {nullptr, "gelu_new", "gelu_pytorch_tanh"}}};
  return row;
}

} // namespace weft
