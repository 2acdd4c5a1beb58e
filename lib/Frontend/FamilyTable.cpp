//===- FamilyTable.cpp - Model families of transformers -------------------===//
//
// Facts of transformers 5: classes XConfig and XForCausalLM. A family is told
// by its differences from the nearest one.
//
//===----------------------------------------------------------------------===//

#include "FamilyTable.h"

using namespace weft;

using Spec = DecoderSpec;

llvm::StringRef Family::fieldOf(int64_t Spec::*target) const {
  for (const SizeField &field : sizes)
    if (field.target == target)
      return field.name;
  return "";
}

//===----------------------------------------------------------------------===//
// Rows of fields
//===----------------------------------------------------------------------===//

static NumberField dropField(llvm::StringRef name,
                             llvm::SmallVector<double Spec::*, 2> targets,
                             double missing = 0.0) {
  return {name, std::move(targets), missing, 0.0, 0.999999};
}

static NumberField epsilonField(llvm::StringRef name, double missing) {
  return {name, {&Spec::epsilon}, missing, 0.0, 1.0};
}

static NumberField initField(llvm::StringRef name = "initializer_range",
                             double missing = 0.02) {
  return {name, {&Spec::initRange}, missing, 0.0, 1e6};
}

/// A cap of scores or logits.
static NumberField capField(llvm::StringRef name, double Spec::*target,
                            double missing) {
  return {name, {target}, missing, 1e-6, 1e6, /*nullIsNone=*/true};
}

/// A factor that is not 0.
static NumberField factorField(llvm::StringRef name, double Spec::*target,
                               double missing) {
  return {name, {target}, missing, 1e-9, 1e9};
}

static FlagField tiedField(bool missing) {
  return {"tie_word_embeddings", {&Spec::tied}, missing};
}

/// Replaces the row of a field by its name, or adds it.
template <typename Field>
static void setField(std::vector<Field> &fields, Field field) {
  for (Field &old : fields)
    if (old.name == field.name) {
      old = std::move(field);
      return;
    }
  fields.push_back(std::move(field));
}

template <typename Field>
static void dropRow(std::vector<Field> &fields, llvm::StringRef name) {
  for (auto it = fields.begin(); it != fields.end(); ++it)
    if (it->name == name) {
      fields.erase(it);
      return;
    }
}

static SizeField groupsField(int64_t missing) {
  return {"num_key_value_heads", &Spec::groups, MissingSize::Value, missing};
}

static SizeField headWidthField(int64_t missing) {
  return {"head_dim", &Spec::headWidth, MissingSize::Value, missing};
}

static const FixedField kNoPartialRotary = {"partial_rotary_factor",
                                            "partial rotary positions", 1.0};

/// The window of a family that has no layer_types.
static const FixedField kNoSlidingFlag = {
    "use_sliding_window", "sliding windows of attention", {}};

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

static Family makeGpt2() {
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
  f.fixed = {kNoSlidingFlag,
             {"n_special", "special tokens beside the vocabulary", 0.0}};
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

static Family makeLlama() {
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

/// A family that differs from Llama in facts alone: its biases have no fields.
static Family makeLlamaLike(llvm::StringRef name) {
  Family f = makeLlama();
  f.name = name;
  dropRow(f.flags, "attention_bias");
  dropRow(f.flags, "mlp_bias");
  dropRow(f.fixed, "rope_interleaved");
  f.harmless.clear();
  return f;
}

static Family makeMistral() {
  Family f = makeLlamaLike("mistral");
  setField(f.sizes, groupsField(8));
  f.window = {WindowRule::All, 4096};
  return f;
}

static Family makeQwen2() {
  Family f = makeLlamaLike("qwen2");
  f.spec.qkvBias = true;
  setField(f.sizes, groupsField(32));
  dropRow(f.fixed, "use_sliding_window");
  f.fixed.push_back({"use_mrope", "positions of several dimensions", {}});
  f.window = {WindowRule::FromLayer, 4096, /*hasLayerTypes=*/true};
  return f;
}

static Family makeQwen3() {
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

static Family makeGemma() {
  Family f = makeLlamaLike("gemma");
  f.spec.norm = NormKind::OffsetRms;
  f.spec.scaleBySqrtWidth = true;
  setField(f.sizes, groupsField(16));
  setField(f.sizes, headWidthField(256));
  setField(
      f.flags,
      FlagField{"attention_bias", {&Spec::qkvBias, &Spec::outBias}, false});
  setField(f.flags, tiedField(true));
  f.fixed.push_back(
      {"use_bidirectional_attention", "attention to later tokens", {}});
  f.activation = "gelu_pytorch_tanh";
  f.geluIsTanh = true;
  f.padToken = 0;
  // The successor of hidden_act in some versions, null in published files.
  f.harmless = {"hidden_activation"};
  return f;
}

static Family makeGemma2() {
  Family f = makeGemma();
  f.name = "gemma2";
  TensorNames &names = f.spec.names;
  names.afterAttentionNorm = "post_attention_layernorm";
  names.mlpNorm = "pre_feedforward_layernorm";
  names.afterMlpNorm = "post_feedforward_layernorm";
  setField(f.sizes, groupsField(4));
  f.activationName = "hidden_activation";
  f.geluIsTanh = false;
  f.numbers.push_back(
      factorField("query_pre_attn_scalar", &Spec::queryScalar, 256));
  f.numbers.push_back(capField("final_logit_softcapping", &Spec::logitCap, 30));
  f.numbers.push_back(
      capField("attn_logit_softcapping", &Spec::attentionCap, 50));
  f.window = {WindowRule::Alternating, 4096, /*hasLayerTypes=*/true};
  // transformers reads hidden_activation alone.
  f.harmless = {"hidden_act", "cache_implementation"};
  return f;
}

static Family makeGemma3() {
  Family f = makeGemma2();
  f.name = "gemma3_text";
  f.spec.queryKeyNorm = QueryKeyNorm::Head;
  setField(f.numbers, capField("final_logit_softcapping", &Spec::logitCap, 0));
  dropRow(f.numbers, "attn_logit_softcapping");
  f.fixed.push_back({"attn_logit_softcapping",
                     "caps of scores, which transformers does not apply here,",
                     0.0});
  f.rope.theta = 1e6;
  f.rope.hasLocal = true;
  f.window = {WindowRule::AllButEveryN, 4096, /*hasLayerTypes=*/true};
  return f;
}

static Family makePhi3() {
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
  f.harmless = {"embd_pdrop"}; // read by no module
  f.fixed.push_back({"attention_bias", "biases of attention", {}});
  return f;
}

static Family makeSmolLm3() {
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

static Family makeOlmo2() {
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

static Family makeGptNeoX() {
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
  f.fixed = {kNoSlidingFlag};
  f.rope.thetaNames = {"rotary_emb_base", "rope_theta"};
  f.rope.partialNames = {"rotary_pct", "partial_rotary_factor"};
  f.rope.partial = 0.25;
  f.hasPaddingRow = false;
  f.harmless = {"classifier_dropout"}; // of another head
  return f;
}

static Family makeStarCoder2() {
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

static Family makeOpt() {
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

static Family makePhi() {
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

static Family makeGranite() {
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

const std::vector<Family> &weft::families() {
  static const std::vector<Family> table = {
      makeGpt2(),       makeLlama(),   makeMistral(), makeQwen2(),
      makeQwen3(),      makeGemma(),   makeGemma2(),  makeGemma3(),
      makePhi3(),       makeSmolLm3(), makeOlmo2(),   makeGptNeoX(),
      makeStarCoder2(), makeOpt(),     makePhi(),     makeGranite()};
  return table;
}
