//===- BenchModels.cpp - What weft bench measures -------------------------===//

#include "BenchModels.h"

#include "weft/Formats/Json.h"

using namespace weft;

namespace {
struct Gpt2 {
  int64_t width, heads, layers, vocab;
  double dropout;
};
struct Llama {
  int64_t width, inner, heads, keyHeads, layers, vocab;
};
} // namespace

/// Longer than any row here.
static constexpr int64_t kPositions = 256;

static std::string configOf(const Gpt2 &model) {
  Json config = Json::object();
  config.set("model_type", "gpt2");
  config.set("vocab_size", model.vocab);
  config.set("n_positions", kPositions);
  config.set("n_embd", model.width);
  config.set("n_layer", model.layers);
  config.set("n_head", model.heads);
  config.set("activation_function", "gelu_new");
  for (const char *field : {"resid_pdrop", "embd_pdrop", "attn_pdrop"})
    config.set(field, model.dropout);
  return config.compact();
}

static std::string configOf(const Llama &model) {
  Json config = Json::object();
  config.set("model_type", "llama");
  config.set("vocab_size", model.vocab);
  config.set("max_position_embeddings", kPositions);
  config.set("hidden_size", model.width);
  config.set("intermediate_size", model.inner);
  config.set("num_hidden_layers", model.layers);
  config.set("num_attention_heads", model.heads);
  config.set("num_key_value_heads", model.keyHeads);
  config.set("hidden_act", "silu");
  config.set("tie_word_embeddings", false);
  return config.compact();
}

std::vector<BenchModel> weft::benchModels(bool areFew) {
  std::vector<BenchModel> models = {
      {configOf(Gpt2{192, 6, 2, 512, 0}), 2, 64},
      {configOf(Llama{288, 768, 9, 3, 1, 704}), 2, 160},
      {configOf(Gpt2{96, 3, 2, 288, 0}), 4, 192},
      {configOf(Llama{64, 192, 2, 1, 2, 256}), 8, 64},
      {configOf(Gpt2{320, 5, 1, 1024, 0.1}), 3, 96},
      {configOf(Llama{160, 448, 5, 5, 2, 320}), 4, 64},
  };
  if (areFew)
    models.resize(2);
  return models;
}
