//===- GemmaFamilies.cpp - Families with scaled embeddings ----------------===//
//
// Facts of transformers 5, as in LlamaFamilies.cpp.
//
//===----------------------------------------------------------------------===//

#include "FamilyRows.h"

using namespace weft;

using Spec = DecoderSpec;

Family weft::makeGemma() {
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

Family weft::makeGemma2() {
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

Family weft::makeGemma3() {
  Family f = makeGemma2();
  f.name = "gemma3_text";
  f.spec.queryKeyNorm = QueryKeyNorm::Head;
  setField(f.numbers, capField("final_logit_softcapping", &Spec::logitCap, 0));
  dropRow(f.numbers, "attn_logit_softcapping");
  f.fixed.push_back({"attn_logit_softcapping",
                     "caps of scores (transformers ignores the field)", 0.0});
  // transformers writes it beside layer_types and does not read it.
  f.harmless.push_back("_sliding_window_pattern");
  f.rope.theta = 1e6;
  f.rope.hasLocal = true;
  f.window = {WindowRule::AllButEveryN, 4096, /*hasLayerTypes=*/true};
  return f;
}
