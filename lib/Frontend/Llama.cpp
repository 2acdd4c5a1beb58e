//===- Llama.cpp - The Llama family ---------------------------------------===//
//
// Follows transformers' LlamaForCausalLM: RMS norm, rotary positions, grouped
// query attention, gated feed-forward, weights [out, in].
//
//===----------------------------------------------------------------------===//

#include "Configs.h"
#include "RotaryTables.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace weft;

namespace {
class Llama final : public ModelFamily {
public:
  llvm::StringRef name() const override { return "llama"; }
  llvm::ArrayRef<llvm::StringRef> harmlessFields() const override;
  void read(ConfigFields &fields) override;
  int64_t widest() const override {
    return std::max({vocabSize, width, inner, heads * headWidth});
  }
  bool isBuffer(llvm::StringRef tensor) const override {
    return tensor.ends_with(".rotary_emb.inv_freq");
  }

private:
  void readSizes(ConfigFields &fields);
  void readRope(ConfigFields &fields);
  void readRopeObject(ConfigFields &rope, bool hasTheta);
  void checkHeads(ConfigFields &fields);
  void warnOfPadding(ConfigFields &fields);

  void declareTables(ModelBuilder &m) override;
  void declareBlock(ModelBuilder &m, int64_t layer) override;
  void declareNorm(ModelBuilder &m, const llvm::Twine &name) override {
    m.param(name + ".weight", {width}, m.ones());
  }
  void declareLinear(ModelBuilder &m, const llvm::Twine &name, int64_t in,
                     int64_t out, bool bias);
  Value embed(ModelBuilder &m, Value tokens, bool training) override;
  Value block(ModelBuilder &m, int64_t layer, Value x, bool training) override;
  Value attention(ModelBuilder &m, int64_t layer, Value x, bool training);
  Value feedForward(ModelBuilder &m, int64_t layer, Value x);
  Value norm(ModelBuilder &m, const llvm::Twine &name, Value x) override;
  llvm::StringRef tokenTable() const override {
    return "model.embed_tokens.weight";
  }
  llvm::StringRef lastNorm() const override { return "model.norm"; }
  Value linear(ModelBuilder &m, const std::string &name, Value x, bool bias) {
    return bias ? m.linear(x, name + ".weight", true, name + ".bias")
                : m.linear(x, name + ".weight", true);
  }
  Value rotate(ModelBuilder &m, Value x) {
    return m.create<RopeOp>("rope", x, cosTable, sinTable);
  }

  int64_t inner = 1, groups = 1, headWidth = 2;
  bool attnBias = false, mlpBias = false;
  RotaryConfig rope;
  /// Of the program being built.
  Value cosTable, sinTable;
};
} // namespace

llvm::ArrayRef<llvm::StringRef> Llama::harmlessFields() const {
  // pretraining_tp only splits matrix products.
  static const llvm::StringRef fields[] = {"pretraining_tp"};
  return fields;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

void Llama::readSizes(ConfigFields &fields) {
  vocabSize = fields.size("vocab_size");
  positions = fields.size("max_position_embeddings");
  width = fields.size("hidden_size");
  inner = fields.size("intermediate_size");
  layers = fields.size("num_hidden_layers", /*most=*/4096);
  heads = fields.size("num_attention_heads");
  groups = fields.size("num_key_value_heads", heads, ConfigFields::kMaxSize);
  headWidth = fields.size("head_dim", std::max<int64_t>(width / heads, 1),
                          ConfigFields::kMaxSize);
}

void Llama::checkHeads(ConfigFields &fields) {
  if (fields.failed())
    return;
  if (!fields.has("head_dim") && width % heads != 0)
    fields.valueError("num_attention_heads")
        << "expects a divisor of hidden_size = " << width
        << " or a head_dim, but got " << heads;
  if (heads % groups != 0)
    fields.valueError("num_key_value_heads")
        << "expects a divisor of num_attention_heads = " << heads
        << ", but got " << groups;
  if (headWidth % 2 != 0)
    fields.valueError("head_dim")
        << "expects an even number, but got " << headWidth;
}

void Llama::readRopeObject(ConfigFields &object, bool hasTheta) {
  if (object.has("rope_theta")) {
    double theta = object.requiredNumber("rope_theta", 1.0, 1e12);
    if (hasTheta && theta != rope.theta)
      object.valueError("rope_theta")
          << "expects the value of rope_theta outside, "
          << Json(rope.theta).compact() << ", but got "
          << Json(theta).compact();
    rope.theta = theta;
  }
  llvm::StringRef key = object.has("rope_type") ? "rope_type" : "type";
  std::string type = object.text(key, "default");
  if (object.has("rope_type") && object.has("type"))
    (void)object.text("type", "default");
  rope.llama3 = type == "llama3";
  if (!rope.llama3 && type != "default") {
    object.valueError(key) << "expects rope type default or llama3, but got '"
                           << printable(type, 80) << "'";
    return;
  }
  if (!rope.llama3)
    return;
  rope.factor = object.requiredNumber("factor", 1.0, 1e6);
  rope.lowFreqFactor = object.requiredNumber("low_freq_factor", 1e-6, 1e6);
  rope.highFreqFactor = object.requiredNumber("high_freq_factor", 1e-6, 1e6);
  rope.originalContext =
      double(object.size("original_max_position_embeddings"));
  if (!object.failed() && rope.highFreqFactor <= rope.lowFreqFactor)
    object.valueError("high_freq_factor")
        << "expects more than low_freq_factor = "
        << Json(rope.lowFreqFactor).compact() << ", but got "
        << Json(rope.highFreqFactor).compact();
}

void Llama::readRope(ConfigFields &fields) {
  const bool hasTheta = fields.has("rope_theta");
  auto scaling = fields.object("rope_scaling");
  auto parameters = fields.object("rope_parameters");
  // The new spelling keeps the base inside rope_parameters.
  if (hasTheta || !parameters || !parameters->has("rope_theta"))
    rope.theta = fields.number("rope_theta", 10000.0, 1.0, 1e12);
  if (scaling && parameters) {
    fields.error("rope_scaling") << "expects rope_scaling or rope_parameters, "
                                    "but got both";
    return;
  }
  for (auto *object : {&scaling, &parameters}) {
    if (!*object)
      continue;
    readRopeObject(**object, hasTheta);
    (*object)->finish("llama", {});
    fields.join(**object);
  }
}

/// transformers makes the row of this token the padding of its table, which
/// gets no gradient from the embedding.
void Llama::warnOfPadding(ConfigFields &fields) {
  std::optional<int64_t> token = fields.peekInteger("pad_token_id");
  if (!token || *token >= vocabSize || *token < -vocabSize)
    return;
  fields.warning("pad_token_id")
      << "field 'pad_token_id': transformers gives row "
      << (*token < 0 ? *token + vocabSize : *token)
      << " of the token table no gradient, weft trains it like any other";
}

void Llama::read(ConfigFields &fields) {
  readSizes(fields);
  readRope(fields);
  activation = readActivation(fields, "hidden_act", "silu");
  attnDrop = fields.number("attention_dropout", 0.0, 0.0, 0.999999);
  epsilon = fields.number("rms_norm_eps", 1e-6, 0.0, 1.0);
  initRange = fields.number("initializer_range", 0.02, 0.0, 1e6);
  attnBias = fields.boolean("attention_bias", false);
  mlpBias = fields.boolean("mlp_bias", false);
  tied = fields.boolean("tie_word_embeddings", false);
  readInertFields(fields);
  fields.expectFalse("rope_interleaved", "interleaved rotary positions");
  fields.expectNumber("partial_rotary_factor", 1, "partial rotary positions");
  warnOfPadding(fields);
  fields.dtype();
  checkHeads(fields);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

void Llama::declareLinear(ModelBuilder &m, const llvm::Twine &name, int64_t in,
                          int64_t out, bool bias) {
  std::string path = name.str();
  m.param(path + ".weight", {out, in}, m.normal(initRange));
  if (bias)
    m.param(path + ".bias", {out}, m.zeros());
}

void Llama::declareBlock(ModelBuilder &m, int64_t layer) {
  std::string path = "model.layers." + std::to_string(layer);
  ModelBuilder::Scope inBlock(m, "layers." + llvm::Twine(layer));
  {
    ModelBuilder::Scope inAttention(m, "self_attn");
    std::string attn = path + ".self_attn";
    declareLinear(m, attn + ".q_proj", width, heads * headWidth, attnBias);
    declareLinear(m, attn + ".k_proj", width, groups * headWidth, attnBias);
    declareLinear(m, attn + ".v_proj", width, groups * headWidth, attnBias);
    declareLinear(m, attn + ".o_proj", heads * headWidth, width, attnBias);
  }
  {
    ModelBuilder::Scope inMlp(m, "mlp");
    declareLinear(m, path + ".mlp.gate_proj", width, inner, mlpBias);
    declareLinear(m, path + ".mlp.up_proj", width, inner, mlpBias);
    declareLinear(m, path + ".mlp.down_proj", inner, width, mlpBias);
  }
  declareNorm(m, path + ".input_layernorm");
  declareNorm(m, path + ".post_attention_layernorm");
}

void Llama::declareTables(ModelBuilder &m) {
  ModelBuilder::Scope inTable(m, "embed_tokens");
  m.param(tokenTable(), {vocabSize, width}, m.normal(initRange));
}

//===----------------------------------------------------------------------===//
// Forward pass
//===----------------------------------------------------------------------===//

Value Llama::norm(ModelBuilder &m, const llvm::Twine &name, Value x) {
  return m
      .create<RmsNormOp>("rms_norm", x, m.read(name + ".weight"),
                         m.builder().getF64FloatAttr(epsilon))
      .getResult();
}

Value Llama::attention(ModelBuilder &m, int64_t layer, Value x, bool training) {
  ModelBuilder::Scope inAttention(m, "self_attn");
  std::string path = "model.layers." + std::to_string(layer) + ".self_attn";
  ArrayRef<int64_t> shape = ModelBuilder::shapeOf(x);
  auto project = [&](llvm::StringRef name, int64_t count) {
    Value y = linear(m, path + name.str(), x, attnBias);
    return m.reshape(y, {shape[0], shape[1], count, headWidth});
  };
  Value query = rotate(m, project(".q_proj", heads));
  Value key = rotate(m, project(".k_proj", groups));
  Value value = project(".v_proj", groups);
  Value attended =
      m.attention(query, key, value, 1.0 / std::sqrt(double(headWidth)),
                  training ? attnDrop : 0.0);
  Value joined = m.reshape(attended, {shape[0], shape[1], heads * headWidth});
  return linear(m, path + ".o_proj", joined, attnBias);
}

Value Llama::feedForward(ModelBuilder &m, int64_t layer, Value x) {
  ModelBuilder::Scope inMlp(m, "mlp");
  std::string path = "model.layers." + std::to_string(layer) + ".mlp";
  Value gate = linear(m, path + ".gate_proj", x, mlpBias);
  gate = buildActivation(m, activation, gate);
  Value up = linear(m, path + ".up_proj", x, mlpBias);
  Value product = m.create<MulOp>("mul", gate, up);
  return linear(m, path + ".down_proj", product, mlpBias);
}

Value Llama::block(ModelBuilder &m, int64_t layer, Value x, bool training) {
  std::string path = "model.layers." + std::to_string(layer);
  ModelBuilder::Scope inBlock(m, "layers." + llvm::Twine(layer));
  Value normed = norm(m, path + ".input_layernorm", x);
  x = m.add(x, attention(m, layer, normed, training));
  normed = norm(m, path + ".post_attention_layernorm", x);
  return m.add(x, feedForward(m, layer, normed));
}

Value Llama::embed(ModelBuilder &m, Value tokens, bool) {
  const int64_t seq = ModelBuilder::shapeOf(tokens)[1];
  Value x;
  {
    ModelBuilder::Scope inTable(m, "embed_tokens");
    x = m.embedding(m.read(tokenTable()), tokens);
  }
  ModelBuilder::Scope inRotary(m, "rotary_emb");
  RotaryTables tables = rotaryTables(rope, headWidth, seq);
  cosTable = m.constant({seq, headWidth / 2}, tables.cos);
  sinTable = m.constant({seq, headWidth / 2}, tables.sin);
  return x;
}

std::unique_ptr<ModelFamily> weft::makeLlama() {
  return std::make_unique<Llama>();
}
