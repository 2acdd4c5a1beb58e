//===- LlamaFamilies.cpp - Families with RMS norms, gated -----------------===//
//
// Facts of transformers 5: classes XConfig and XForCausalLM. A family is told
// by its differences from the nearest one.
//
//===----------------------------------------------------------------------===//

#include "FamilyRows.h"

using namespace weft;

using Spec = DecoderSpec;

Family weft::makeLlama() {
  Family f;
  f.name = "llama";
  f.sizes = {{"vocab_size", &Spec::vocab},
             {"max_position_embeddings", &Spec::positions},
             {"hidden_size", &Spec::width},
             {"intermediate_size", &Spec::inner},
             {"num_hidden_layers", &Spec::layerCount},
             {"num_attention_heads", &Spec::heads},
             {"num_key_value_heads", &Spec::groups, MissingSize::Heads},
             {"head_dim", &Spec::headWidth, MissingSize::HeadWidth}};
  f.numbers = {dropField("attention_dropout", {&Spec::attentionDrop}),
               epsilonField("rms_norm_eps", 1e-6), initField()};
  f.flags = {{"attention_bias", {&Spec::qkvBias, &Spec::outBias}, false},
             {"mlp_bias", {&Spec::mlpBias}, false},
             tiedField(false)};
  f.fixed = {kNoSlidingFlag,
             {"rope_interleaved", "interleaved rotary positions", {}},
             kNoPartialRotary};
  f.harmless = {"pretraining_tp"}; // only splits matrix products
  return f;
}

Family weft::makeLlamaLike(llvm::StringRef name) {
  Family f = makeLlama();
  f.name = name;
  dropRow(f.flags, "attention_bias");
  dropRow(f.flags, "mlp_bias");
  dropRow(f.fixed, "rope_interleaved");
  f.harmless.clear();
  return f;
}

Family weft::makeMistral() {
  Family f = makeLlamaLike("mistral");
  setField(f.sizes, groupsField(8));
  f.window = {WindowRule::All, 4096};
  return f;
}

Family weft::makeQwen2() {
  Family f = makeLlamaLike("qwen2");
  f.spec.qkvBias = true;
  setField(f.sizes, groupsField(32));
  dropRow(f.fixed, "use_sliding_window");
  f.fixed.push_back({"use_mrope", "positions of several dimensions", {}});
  f.window = {WindowRule::FromLayer, 4096, /*hasLayerTypes=*/true};
  return f;
}

Family weft::makeQwen3() {
  Family f = makeQwen2();
  f.name = "qwen3";
  f.spec.qkvBias = false;
  f.spec.queryKeyNorm = QueryKeyNorm::Head;
  setField(f.sizes, headWidthField(128));
  setField(
      f.flags,
      FlagField{"attention_bias", {&Spec::qkvBias, &Spec::outBias}, false});
  return f;
}

Family weft::makePhi3() {
  Family f = makeLlamaLike("phi3");
  TensorNames &names = f.spec.names;
  names.qkv = "qkv_proj";
  names.gate = names.up = "";
  names.gateUp = "gate_up_proj";
  setField(f.numbers, epsilonField("rms_norm_eps", 1e-5));
  f.numbers.push_back(dropField("resid_pdrop", {&Spec::residualDrop}));
  f.rope.partialNames = {"partial_rotary_factor"};
  f.rope.onlyLongRope = true;
  dropRow(f.fixed, "partial_rotary_factor");
  f.window = {WindowRule::All, 0};
  f.padToken = 32000;
  // Read by no module; the last two are Phi-4-mini's.
  f.harmless = {"embd_pdrop", "full_attn_mod", "interpolate_factor"};
  f.fixed.push_back({"attention_bias", "biases of attention", {}});
  f.fixed.push_back({"mlp_bias", "biases of the feed-forward", {}});
  f.fixed.push_back({"lm_head_bias", "a bias of the head", {}});
  return f;
}

Family weft::makeSmolLm3() {
  Family f = makeLlama();
  f.name = "smollm3";
  setField(f.sizes, groupsField(4));
  setField(f.flags, tiedField(true));
  dropRow(f.fixed, "rope_interleaved");
  dropRow(f.fixed, "use_sliding_window");
  f.rope.theta = 2e6;
  f.rope.hasUnrotatedLayers = true;
  f.window = {WindowRule::Unrotated, 0, /*hasLayerTypes=*/true};
  f.padToken = 128004;
  // Notes of the training run; max_window_layers is read by no module.
  f.harmless = {"pretraining_tp", "max_window_layers"};
  return f;
}

Family weft::makeOlmo2() {
  Family f = makeLlamaLike("olmo2");
  TensorNames &names = f.spec.names;
  names.attentionNorm = names.mlpNorm = "";
  names.afterAttentionNorm = "post_attention_layernorm";
  names.afterMlpNorm = "post_feedforward_layernorm";
  f.spec.queryKeyNorm = QueryKeyNorm::Projection;
  setField(f.numbers, epsilonField("rms_norm_eps", 1e-5));
  setField(
      f.flags,
      FlagField{"attention_bias", {&Spec::qkvBias, &Spec::outBias}, false});
  f.padToken = 1;
  return f;
}

Family weft::makeGranite() {
  Family f = makeLlama();
  f.name = "granite";
  dropRow(f.fixed, "rope_interleaved");
  f.harmless.clear();
  f.numbers.push_back(
      factorField("embedding_multiplier", &Spec::embeddingScale, 1));
  f.numbers.push_back(
      factorField("attention_multiplier", &Spec::attentionMultiplier, 1));
  f.numbers.push_back(
      factorField("residual_multiplier", &Spec::residualScale, 1));
  f.numbers.push_back(factorField("logits_scaling", &Spec::logitDivisor, 1));
  return f;
}
