//===- LayerNormFamilies.cpp - Families with layer norms ------------------===//
//
// Facts of transformers 5, as in LlamaFamilies.cpp.
//
//===----------------------------------------------------------------------===//

#include "FamilyRows.h"

using namespace weft;

using Spec = DecoderSpec;

Family weft::makeGpt2() {
  Family f;
  f.name = "gpt2";
  TensorNames &names = f.spec.names;
  names = TensorNames();
  names.root = "transformer.";
  names.optionalRoot = "transformer.";
  names.tokens = "wte";
  names.positions = "wpe";
  names.embeddingScope = "embeddings";
  names.layers = "h";
  names.attention = "attn";
  names.qkv = "c_attn";
  names.out = "c_proj";
  names.gate = "";
  names.up = "c_fc";
  names.down = "c_proj";
  names.attentionNorm = "ln_1";
  names.mlpNorm = "ln_2";
  names.finalNorm = "ln_f";
  names.outputsFirst = false;
  names.normsInOrder = true;
  f.spec.norm = NormKind::Layer;
  f.spec.qkvBias = f.spec.outBias = f.spec.mlpBias = true;
  f.spec.scaledResidualInit = true;
  f.sizes = {{"vocab_size", &Spec::vocab},
             {"n_positions", &Spec::positions},
             {"n_embd", &Spec::width},
             {"n_layer", &Spec::layerCount},
             {"n_head", &Spec::heads},
             {"n_inner", &Spec::inner, MissingSize::FourWidths}};
  f.activationName = "activation_function";
  f.activation = "gelu_new";
  f.numbers = {dropField("resid_pdrop", {&Spec::residualDrop}, 0.1),
               dropField("embd_pdrop", {&Spec::embeddingDrop}, 0.1),
               dropField("attn_pdrop", {&Spec::attentionDrop}, 0.1),
               epsilonField("layer_norm_epsilon", 1e-5), initField()};
  f.flags = {{"scale_attn_weights", {&Spec::scaleByWidth}, true},
             {"scale_attn_by_inverse_layer_idx", {&Spec::scaleByLayer}, false},
             tiedField(true)};
  f.fixed = {
      kNoSlidingFlag,
      {"n_special", "special tokens in addition to the vocabulary", 0.0}};
  f.rope.isUsed = false;
  f.hasPaddingRow = false;
  // n_ctx was the size of a mask buffer; reorder_and_upcast_attn changes
  // nothing in f32; the summary fields belong to another head;
  // predict_special_tokens is about the tokens of n_special.
  f.harmless = {"n_ctx",
                "reorder_and_upcast_attn",
                "summary_activation",
                "summary_type",
                "summary_first_dropout",
                "summary_proj_to_labels",
                "summary_use_proj",
                "predict_special_tokens"};
  return f;
}

Family weft::makeGptNeoX() {
  Family f;
  f.name = "gpt_neox";
  TensorNames &names = f.spec.names;
  names.root = "gpt_neox.";
  names.tokens = "embed_in";
  names.attention = "attention";
  names.qkv = "query_key_value";
  names.out = "dense";
  names.gate = "";
  names.up = "dense_h_to_4h";
  names.down = "dense_4h_to_h";
  names.finalNorm = "final_layer_norm";
  names.head = "embed_out";
  names.normsInOrder = true;
  f.spec.norm = NormKind::Layer;
  f.spec.mlpBias = f.spec.qkvByHead = true;
  f.sizes = {{"vocab_size", &Spec::vocab},
             {"max_position_embeddings", &Spec::positions},
             {"hidden_size", &Spec::width},
             {"intermediate_size", &Spec::inner},
             {"num_hidden_layers", &Spec::layerCount},
             {"num_attention_heads", &Spec::heads}};
  f.activation = "gelu";
  f.numbers = {
      dropField("attention_dropout", {&Spec::attentionDrop}),
      dropField("hidden_dropout", {&Spec::residualDrop, &Spec::embeddingDrop}),
      epsilonField("layer_norm_eps", 1e-5), initField()};
  f.flags = {{"use_parallel_residual", {&Spec::parallel}, true},
             {"attention_bias", {&Spec::qkvBias, &Spec::outBias}, true},
             tiedField(false)};
  // Old names, which transformers does not read.
  f.fixed = {kNoSlidingFlag,
             {"attention_probs_dropout_prob",
              "dropout under this name (but attention_dropout)", 0.0},
             {"hidden_dropout_prob",
              "dropout under this name (but hidden_dropout)", 0.0}};
  f.rope.thetaNames = {"rotary_emb_base", "rope_theta"};
  f.rope.partialNames = {"rotary_pct", "partial_rotary_factor"};
  f.rope.partial = 0.25;
  f.hasPaddingRow = false;
  f.harmless = {"classifier_dropout"}; // of another head
  return f;
}

Family weft::makeStarCoder2() {
  Family f = makeLlamaLike("starcoder2");
  TensorNames &names = f.spec.names;
  names.gate = "";
  names.up = "c_fc";
  names.down = "c_proj";
  f.spec.norm = NormKind::Layer;
  setField(f.sizes, groupsField(2));
  f.activation = "gelu_pytorch_tanh";
  f.numbers = {dropField("attention_dropout", {&Spec::attentionDrop}),
               dropField("residual_dropout", {&Spec::residualDrop}),
               dropField("embedding_dropout", {&Spec::embeddingDrop}),
               epsilonField("norm_epsilon", 1e-5),
               initField("initializer_range", 0.018042)};
  f.flags = {
      {"use_bias", {&Spec::qkvBias, &Spec::outBias, &Spec::mlpBias}, true},
      tiedField(true)};
  f.window = {WindowRule::All, 0};
  // Names of the one kind that transformers has.
  f.harmless = {"mlp_type", "norm_type"};
  return f;
}

Family weft::makeOpt() {
  Family f;
  f.name = "opt";
  TensorNames &names = f.spec.names;
  names.root = "model.decoder.";
  names.positions = "embed_positions";
  names.embeddingScope = "embeddings";
  names.out = "out_proj";
  names.mlp = names.gate = "";
  names.up = "fc1";
  names.down = "fc2";
  names.attentionNorm = "self_attn_layer_norm";
  names.mlpNorm = "final_layer_norm";
  names.finalNorm = "final_layer_norm";
  f.spec.norm = NormKind::Layer;
  f.spec.epsilon = 1e-5;
  f.spec.positionOffset = 2;
  f.sizes = {{"vocab_size", &Spec::vocab},
             {"max_position_embeddings", &Spec::positions},
             {"hidden_size", &Spec::width},
             {"ffn_dim", &Spec::inner},
             {"num_hidden_layers", &Spec::layerCount},
             {"num_attention_heads", &Spec::heads},
             {"word_embed_proj_dim", &Spec::tokenWidth, MissingSize::Width}};
  f.activationName = "activation_function";
  f.activation = "relu";
  f.numbers = {dropField("attention_dropout", {&Spec::attentionDrop}),
               dropField("dropout", {&Spec::residualDrop}, 0.1),
               initField("init_std")};
  f.flags = {
      {"do_layer_norm_before", {&Spec::normBefore}, true},
      {"_remove_final_layer_norm", {&Spec::dropsFinalNorm}, false},
      {"enable_bias", {&Spec::qkvBias, &Spec::outBias, &Spec::mlpBias}, true},
      tiedField(true)};
  names.projectIn = "project_in";
  names.projectOut = "project_out";
  f.fixed = {kNoSlidingFlag,
             {"layerdrop", "dropping whole layers of this family", 0.0},
             {"layer_norm_elementwise_affine",
              "norms without weights",
              {},
              /*flag=*/true}};
  f.rope.isUsed = false;
  f.padToken = 1;
  // activation_dropout is read by no module.
  f.harmless = {"activation_dropout"};
  return f;
}

Family weft::makePhi() {
  Family f = makeLlamaLike("phi");
  TensorNames &names = f.spec.names;
  names.out = "dense";
  names.gate = "";
  names.up = "fc1";
  names.down = "fc2";
  names.mlpNorm = "";
  names.finalNorm = "final_layernorm";
  f.spec.norm = NormKind::Layer;
  f.spec.parallel = true;
  f.spec.qkvBias = f.spec.outBias = f.spec.mlpBias = f.spec.headBias = true;
  f.activation = "gelu_new";
  f.numbers = {dropField("attention_dropout", {&Spec::attentionDrop}),
               dropField("resid_pdrop", {&Spec::residualDrop}),
               dropField("embd_pdrop", {&Spec::embeddingDrop}),
               epsilonField("layer_norm_eps", 1e-5), initField()};
  dropRow(f.fixed, "partial_rotary_factor");
  f.fixed.push_back({"qk_layernorm", "norms of query and key", {}});
  f.rope.partialNames = {"partial_rotary_factor"};
  f.rope.partial = 0.5;
  return f;
}

Family weft::makeStableLm() {
  Family f = makeLlamaLike("stablelm");
  f.spec.norm = NormKind::Layer;
  f.spec.sharesParallelNorm = true;
  dropRow(f.sizes, "head_dim");
  setField(f.sizes, groupsField(32));
  f.numbers = {dropField("attention_dropout", {&Spec::attentionDrop}),
               epsilonField("layer_norm_eps", 1e-5), initField()};
  f.flags = {{"use_qkv_bias", {&Spec::qkvBias}, false},
             {"use_parallel_residual", {&Spec::parallel}, false},
             tiedField(false)};
  f.fixed = {kNoSlidingFlag,
             {"hidden_dropout", "dropout behind the feed-forward alone", 0.0},
             {"qk_layernorm", "norms with weights for each head", {}}};
  f.rope.partialNames = {"partial_rotary_factor"};
  f.rope.partial = 0.25;
  return f;
}
