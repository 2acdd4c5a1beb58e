//===- GgufFamilies.cpp - The table of GGUF architectures -----------------===//

#include "weft/Formats/GgufFamilies.h"

#include "GgufRope.h"
#include "weft/Base/Text.h"

namespace weft {

//===----------------------------------------------------------------------===//
// Fields beside the keys
//===----------------------------------------------------------------------===//

/// The value of a field that has a default.
static void setDefault(Json &config, const char *field, Json value) {
  const Json *given = config.find(field);
  if (!given || given->isNull())
    config.set(field, std::move(value));
}

static int64_t integerOf(const Json &config, const char *field) {
  const Json *value = config.find(field);
  return value && value->isInt() ? value->asInt() : 0;
}

/// An error unless the field is absent or one of `accepted`.
static Status expectField(const Json &config, const char *field,
                          std::initializer_list<Json> accepted) {
  const Json *value = config.find(field);
  if (!value || value->isNull())
    return Status::success();
  for (const Json &known : accepted)
    if (*value == known)
      return Status::success();
  return inputError(std::string("field '") + field + "': expects " +
                    accepted.begin()->compact() +
                    ", the only value that a GGUF file of the architecture "
                    "stands for, but got " +
                    printable(value->compact(), 80));
}

/// Biases are fields of the configuration, and tensors of the file.
static Status addLlamaFields(const GgufFile &file, Json &config) {
  for (auto [tensor, field] : {std::pair("blk.0.attn_q.bias", "attention_bias"),
                               std::pair("blk.0.ffn_gate.bias", "mlp_bias")})
    if (file.find(tensor))
      config.set(field, true);
  return addRopeScaling(file, "llama", config);
}

static Status prepareLlamaKeys(Json &config) {
  const int64_t heads = integerOf(config, "num_attention_heads");
  setDefault(config, "num_key_value_heads", heads);
  setDefault(config, "head_dim",
             integerOf(config, "hidden_size") / (heads ? heads : 1));
  setDefault(config, "rms_norm_eps", 1e-6);
  setDefault(config, "rope_theta", 10000.0);
  if (const Json *object = config.find("rope_parameters"))
    if (const Json *theta = object->find("rope_theta"))
      config.set("rope_theta", Json(*theta));
  return expectField(config, "hidden_act", {"silu", "swish"});
}

static Status prepareGpt2Keys(Json &config) {
  setDefault(config, "n_inner", 4 * integerOf(config, "n_embd"));
  setDefault(config, "layer_norm_epsilon", 1e-5);
  if (Status status = expectField(config, "scale_attn_weights", {true});
      !status)
    return status;
  if (Status status =
          expectField(config, "scale_attn_by_inverse_layer_idx", {false});
      !status)
    return status;
  return expectField(config, "activation_function",
                     {"gelu_new", "gelu_pytorch_tanh"});
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static GgufFamily makeLlamaRow() {
  using Use = GgufKeyUse;
  GgufFamily row;
  row.architecture = row.modelType = "llama";
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
      {"blk.{}.attn_q", "model.layers.{}.self_attn.q_proj",
       GgufLayout::QueryHeads},
      {"blk.{}.attn_k", "model.layers.{}.self_attn.k_proj",
       GgufLayout::KeyHeads},
      {"blk.{}.attn_v", "model.layers.{}.self_attn.v_proj"},
      {"blk.{}.attn_output", "model.layers.{}.self_attn.o_proj"},
      {"blk.{}.ffn_norm", "model.layers.{}.post_attention_layernorm"},
      {"blk.{}.ffn_gate", "model.layers.{}.mlp.gate_proj"},
      {"blk.{}.ffn_up", "model.layers.{}.mlp.up_proj"},
      {"blk.{}.ffn_down", "model.layers.{}.mlp.down_proj"},
      {"output_norm", "model.norm"},
      {"output", "lm_head"},
  };
  row.tables = {kRopeFactors};
  row.queryHeads = "num_attention_heads";
  row.keyHeads = "num_key_value_heads";
  row.addFields = addLlamaFields;
  row.prepareKeys = prepareLlamaKeys;
  return row;
}

static GgufFamily makeGpt2Row() {
  using Use = GgufKeyUse;
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
  row.queryHeads = row.keyHeads = "n_head";
  // Older converters stored the tied head a second time.
  row.tiesEqualHead = true;
  row.prepareKeys = prepareGpt2Keys;
  return row;
}

static const std::vector<GgufFamily> &families() {
  static const std::vector<GgufFamily> rows = {makeGpt2Row(), makeLlamaRow()};
  return rows;
}

const GgufFamily *findGgufFamily(std::string_view architecture) {
  for (const GgufFamily &family : families())
    if (architecture == family.architecture)
      return &family;
  return nullptr;
}

const GgufFamily *familyOfModelType(std::string_view modelType) {
  for (const GgufFamily &family : families())
    if (modelType == family.modelType)
      return &family;
  return nullptr;
}

std::string ggufArchitectures() {
  std::string text;
  const std::vector<GgufFamily> &all = families();
  for (size_t i = 0; i < all.size(); ++i)
    text += (i == 0                ? ""
             : i + 1 == all.size() ? " or "
                                   : ", ") +
            std::string(all[i].architecture);
  return text;
}

Expected<const GgufFamily *> familyOf(const GgufFile &file) {
  static constexpr char kKey[] = "general.architecture";
  auto name = file.text(kKey);
  if (!name)
    return name.takeError();
  if (!*name)
    return inputError(std::string("expects key '") + kKey + "', " +
                      ggufArchitectures() + ", but there is none")
        .at(file.path());
  const GgufFamily *family = findGgufFamily(**name);
  if (!family) {
    Error error = file.valueError(*file.findEntry(kKey),
                                  "expects " + ggufArchitectures() +
                                      ", but got " + inQuotes(**name));
    return error.hint(
        "weft reads other families from a folder with config.json "
        "and safetensors");
  }
  return family;
}

int64_t ggufHeads(const GgufFamily &family, const Json &config,
                  GgufLayout layout) {
  const Json *heads = config.find(family.queryHeads);
  if (layout == GgufLayout::KeyHeads)
    if (const Json *own = config.find(family.keyHeads); own && !own->isNull())
      heads = own;
  return heads && heads->isInt() ? heads->asInt() : 1;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The number of the block in a name of the form `pattern`; "" for a pattern
/// without one, nothing if the name has another form.
static std::optional<std::string> matchName(std::string_view pattern,
                                            std::string_view name) {
  const size_t hole = pattern.find("{}");
  if (hole == pattern.npos)
    return name == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string_view front = pattern.substr(0, hole);
  const std::string_view back = pattern.substr(hole + 2);
  if (name.size() <= front.size() + back.size() ||
      name.substr(0, hole) != front || !endsWith(name, back))
    return std::nullopt;
  const std::string_view number =
      name.substr(hole, name.size() - front.size() - back.size());
  // One spelling for each number.
  if (number.size() > 9 ||
      number.find_first_not_of("0123456789") != number.npos ||
      (number.size() > 1 && number[0] == '0'))
    return std::nullopt;
  return std::string(number);
}

static std::optional<GgufName> translate(const GgufFamily &family,
                                         std::string_view name,
                                         const char *GgufTensorRow::*from,
                                         const char *GgufTensorRow::*to) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos)
    return std::nullopt;
  const std::string_view ending = name.substr(dot);
  if (ending != ".weight" && ending != ".bias")
    return std::nullopt;
  for (const GgufTensorRow &row : family.tensors)
    if (auto number = matchName(row.*from, name.substr(0, dot))) {
      std::string other = row.*to;
      if (const size_t hole = other.find("{}"); hole != other.npos)
        other.replace(hole, 2, *number);
      return GgufName{other + std::string(ending), &row};
    }
  return std::nullopt;
}

std::optional<GgufName> toModelName(const GgufFamily &family,
                                    std::string_view gguf) {
  return translate(family, gguf, &GgufTensorRow::gguf, &GgufTensorRow::model);
}

std::optional<GgufName> toGgufName(const GgufFamily &family,
                                   std::string_view model) {
  return translate(family, model, &GgufTensorRow::model, &GgufTensorRow::gguf);
}

} // namespace weft
