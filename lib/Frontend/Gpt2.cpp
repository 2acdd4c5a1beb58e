//===- Gpt2.cpp - The GPT-2 family ----------------------------------------===//
//
// Follows transformers' GPT2LMHeadModel: learned positions, pre-norm blocks,
// Conv1D weights [in, out], the head tied to the token table.
//
//===----------------------------------------------------------------------===//

#include "Configs.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace weft;

namespace {
class Gpt2 final : public ModelFamily {
public:
  llvm::StringRef name() const override { return "gpt2"; }
  llvm::ArrayRef<llvm::StringRef> harmlessFields() const override;
  void read(ConfigFields &fields) override;
  int64_t widest() const override {
    return std::max({vocabSize, 3 * width, inner});
  }
  llvm::StringRef optionalPrefix() const override { return "transformer."; }
  bool isBuffer(llvm::StringRef tensor) const override {
    return tensor.ends_with(".attn.bias") ||
           tensor.ends_with(".attn.masked_bias");
  }

private:
  void declareTables(ModelBuilder &m) override;
  void declareBlock(ModelBuilder &m, int64_t layer) override;
  void declareNorm(ModelBuilder &m, const llvm::Twine &name) override;
  Value embed(ModelBuilder &m, Value tokens, bool training) override;
  Value block(ModelBuilder &m, int64_t layer, Value x, bool training) override;
  Value attention(ModelBuilder &m, int64_t layer, Value x, bool training);
  Value feedForward(ModelBuilder &m, int64_t layer, Value x, bool training);
  Value norm(ModelBuilder &m, const llvm::Twine &name, Value x) override;
  llvm::StringRef tokenTable() const override {
    return "transformer.wte.weight";
  }
  llvm::StringRef lastNorm() const override { return "transformer.ln_f"; }
  Value drop(ModelBuilder &m, Value x, double p, bool training) {
    return training ? m.dropout(x, p) : x;
  }

  int64_t inner = 1;
  double residDrop = 0, embdDrop = 0;
  bool scaleByWidth = true, scaleByLayer = false;
};
} // namespace

llvm::ArrayRef<llvm::StringRef> Gpt2::harmlessFields() const {
  // n_ctx was the size of a mask buffer; reorder_and_upcast_attn changes
  // nothing in f32; the summary fields belong to another head;
  // predict_special_tokens is about the tokens of n_special.
  static const llvm::StringRef fields[] = {"n_ctx",
                                           "reorder_and_upcast_attn",
                                           "summary_activation",
                                           "summary_type",
                                           "summary_first_dropout",
                                           "summary_proj_to_labels",
                                           "summary_use_proj",
                                           "predict_special_tokens"};
  return fields;
}

void Gpt2::read(ConfigFields &fields) {
  vocabSize = fields.size("vocab_size");
  positions = fields.size("n_positions");
  width = fields.size("n_embd");
  layers = fields.size("n_layer", /*most=*/4096);
  heads = fields.size("n_head");
  inner = fields.size("n_inner", 4 * width, ConfigFields::kMaxSize);
  activation = readActivation(fields, "activation_function", "gelu_new");
  residDrop = fields.number("resid_pdrop", 0.1, 0.0, 0.999999);
  embdDrop = fields.number("embd_pdrop", 0.1, 0.0, 0.999999);
  attnDrop = fields.number("attn_pdrop", 0.1, 0.0, 0.999999);
  epsilon = fields.number("layer_norm_epsilon", 1e-5, 0.0, 1.0);
  initRange = fields.number("initializer_range", 0.02, 0.0, 1e6);
  scaleByWidth = fields.boolean("scale_attn_weights", true);
  scaleByLayer = fields.boolean("scale_attn_by_inverse_layer_idx", false);
  tied = fields.boolean("tie_word_embeddings", true);
  readInertFields(fields);
  fields.expectNumber("n_special", 0,
                      "special tokens in addition to the vocabulary");
  fields.dtype();
  if (!fields.failed() && width % heads != 0)
    fields.valueError("n_head")
        << "expects a divisor of n_embd = " << width << ", but got " << heads;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

void Gpt2::declareNorm(ModelBuilder &m, const llvm::Twine &name) {
  m.param(name + ".weight", {width}, m.ones());
  m.param(name + ".bias", {width}, m.zeros());
}

void Gpt2::declareBlock(ModelBuilder &m, int64_t layer) {
  std::string path = "transformer.h." + std::to_string(layer);
  ModelBuilder::Scope inBlock(m, "h." + llvm::Twine(layer));
  // Projections into the residual stream start smaller, by the number of them.
  InitAttr residual = m.normal(initRange / std::sqrt(2.0 * double(layers)));
  declareNorm(m, path + ".ln_1");
  {
    ModelBuilder::Scope inAttention(m, "attn");
    m.param(path + ".attn.c_attn.weight", {width, 3 * width},
            m.normal(initRange));
    m.param(path + ".attn.c_attn.bias", {3 * width}, m.zeros());
    m.param(path + ".attn.c_proj.weight", {width, width}, residual);
    m.param(path + ".attn.c_proj.bias", {width}, m.zeros());
  }
  declareNorm(m, path + ".ln_2");
  ModelBuilder::Scope inMlp(m, "mlp");
  m.param(path + ".mlp.c_fc.weight", {width, inner}, m.normal(initRange));
  m.param(path + ".mlp.c_fc.bias", {inner}, m.zeros());
  m.param(path + ".mlp.c_proj.weight", {inner, width}, residual);
  m.param(path + ".mlp.c_proj.bias", {width}, m.zeros());
}

void Gpt2::declareTables(ModelBuilder &m) {
  auto declare = [&](const std::string &name, int64_t rows) {
    ModelBuilder::Scope inTable(m, name);
    m.param("transformer." + name + ".weight", {rows, width},
            m.normal(initRange));
  };
  declare("wte", vocabSize);
  declare("wpe", positions);
}

//===----------------------------------------------------------------------===//
// Forward pass
//===----------------------------------------------------------------------===//

Value Gpt2::norm(ModelBuilder &m, const llvm::Twine &name, Value x) {
  Value weight = m.read(name + ".weight"), bias = m.read(name + ".bias");
  return m
      .create<LayerNormOp>("layer_norm", x, weight, bias,
                           m.builder().getF64FloatAttr(epsilon))
      .getResult();
}

Value Gpt2::attention(ModelBuilder &m, int64_t layer, Value x, bool training) {
  ModelBuilder::Scope inAttention(m, "attn");
  std::string path = "transformer.h." + std::to_string(layer) + ".attn";
  ArrayRef<int64_t> shape = ModelBuilder::shapeOf(x);
  const int64_t headWidth = width / heads;
  Value qkv = m.linear(x, path + ".c_attn.weight", /*transposed=*/false,
                       path + ".c_attn.bias");
  Value parts[3];
  for (int64_t part = 0; part < 3; ++part)
    parts[part] = m.reshape(m.slice(qkv, /*dim=*/2, part * width, width),
                            {shape[0], shape[1], heads, headWidth});
  double scale = scaleByWidth ? 1.0 / std::sqrt(double(headWidth)) : 1.0;
  if (scaleByLayer)
    scale /= double(layer + 1);
  Value attended = m.attention(parts[0], parts[1], parts[2], scale,
                               training ? attnDrop : 0.0);
  Value joined = m.reshape(attended, shape);
  Value y = m.linear(joined, path + ".c_proj.weight", /*transposed=*/false,
                     path + ".c_proj.bias");
  return drop(m, y, residDrop, training);
}

Value Gpt2::feedForward(ModelBuilder &m, int64_t layer, Value x,
                        bool training) {
  ModelBuilder::Scope inMlp(m, "mlp");
  std::string path = "transformer.h." + std::to_string(layer) + ".mlp";
  Value h = m.linear(x, path + ".c_fc.weight", /*transposed=*/false,
                     path + ".c_fc.bias");
  h = buildActivation(m, activation, h);
  Value y = m.linear(h, path + ".c_proj.weight", /*transposed=*/false,
                     path + ".c_proj.bias");
  return drop(m, y, residDrop, training);
}

Value Gpt2::block(ModelBuilder &m, int64_t layer, Value x, bool training) {
  std::string path = "transformer.h." + std::to_string(layer);
  ModelBuilder::Scope inBlock(m, "h." + llvm::Twine(layer));
  Value normed = norm(m, path + ".ln_1", x);
  x = m.add(x, attention(m, layer, normed, training));
  normed = norm(m, path + ".ln_2", x);
  return m.add(x, feedForward(m, layer, normed, training));
}

Value Gpt2::embed(ModelBuilder &m, Value tokens, bool training) {
  const int64_t seq = ModelBuilder::shapeOf(tokens)[1];
  ModelBuilder::Scope inEmbedding(m, "embeddings");
  Value words = m.embedding(m.read(tokenTable()), tokens);
  Value places = m.read("transformer.wpe.weight");
  if (seq < positions)
    places = m.slice(places, /*dim=*/0, 0, seq);
  return drop(m, m.add(words, places), embdDrop, training);
}

std::unique_ptr<ModelFamily> weft::makeGpt2() {
  return std::make_unique<Gpt2>();
}
