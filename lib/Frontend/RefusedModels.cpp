//===- RefusedModels.cpp - Models that weft does not import ---------------===//

#include "RefusedModels.h"

#include "FamilyTable.h"
#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"

#include "llvm/ADT/StringExtras.h"

using namespace weft;

namespace {
/// A field that shows a feature of a model.
struct Trait {
  llvm::StringRef field, feature;
  /// The field tells nothing if it is false, 0 or an empty list.
  bool mustBeSet = false;
};
} // namespace

static constexpr llvm::StringLiteral kExperts = "mixtures of experts";
static constexpr llvm::StringLiteral kEncoderDecoder =
    "an encoder beside the decoder";
static constexpr llvm::StringLiteral kEncoder = "an encoder";
static constexpr llvm::StringLiteral kImages = "images or sound";
static constexpr llvm::StringLiteral kStateSpace = "state-space layers";
static constexpr llvm::StringLiteral kAlibi = "ALiBi positions";

/// The first trait of a file decides; traits that change a model most come
/// first.
static const Trait kTraits[] = {
    {"is_encoder_decoder", kEncoderDecoder, /*mustBeSet=*/true},
    {"relative_attention_num_buckets", kEncoderDecoder},
    {"vision_config", kImages},
    {"audio_config", kImages},
    {"image_size", kImages},
    {"patch_size", kImages},
    {"num_mel_bins", kImages},
    {"num_local_experts", kExperts, /*mustBeSet=*/true},
    {"num_experts", kExperts, /*mustBeSet=*/true},
    {"n_routed_experts", kExperts, /*mustBeSet=*/true},
    {"moe_num_experts", kExperts, /*mustBeSet=*/true},
    {"num_experts_per_tok", kExperts, /*mustBeSet=*/true},
    {"state_size", kStateSpace},
    {"ssm_cfg", kStateSpace},
    {"mamba_d_state", kStateSpace},
    {"kv_lora_rank", "latent attention", /*mustBeSet=*/true},
    {"type_vocab_size", kEncoder},
    {"alibi", kAlibi, /*mustBeSet=*/true},
    {"offset_alibi", kAlibi},
    {"rotary_dim", "interleaved rotary positions", /*mustBeSet=*/true}};

static bool isSet(const Json &value) {
  if (value.isBool())
    return value.asBool();
  if (value.isInt())
    return value.asInt() != 0;
  return !value.isNull() && !(value.isArray() && value.asArray().empty());
}

static const Trait *traitOf(llvm::StringRef name, const Json &value) {
  for (const Trait &trait : kTraits)
    if (trait.field == name && !value.isNull() &&
        (!trait.mustBeSet || isSet(value)))
      return &trait;
  return nullptr;
}

/// The ops of the dialect suffice for the other features.
static bool canBeText(const Trait &trait) {
  return trait.feature != kExperts && trait.feature != kStateSpace;
}

static std::string describeTrait(const Trait &trait) {
  return inQuotes(trait.field) + " asks for " + trait.feature.str() +
         ", which no family has; take a model of one of the families" +
         (canBeText(trait) ? ", or write this one as an .mlir file" : "");
}

/// The first trait of the table that the configuration has, if any.
static std::string hintOfTraits(const Json &config) {
  for (const Trait &trait : kTraits)
    if (const Json *value = config.find(trait.field.str()))
      if (traitOf(trait.field, *value) == &trait)
        return describeTrait(trait);
  const Json *attention = config.find("attn_config"); // MPT
  const Json *alibi =
      attention && attention->isObject() ? attention->find("alibi") : nullptr;
  const Trait *trait = alibi ? traitOf("alibi", *alibi) : nullptr;
  return trait ? describeTrait(*trait) : "";
}

/// A name without case, hyphens and underscores.
static std::string foldedName(llvm::StringRef name) {
  std::string folded;
  for (char c : name)
    if (c != '-' && c != '_' && c != ' ')
      folded += llvm::toLower(c);
  return folded;
}

static const Family *familyOf(const Json &config) {
  const Json *type = config.isObject() ? config.find("model_type") : nullptr;
  for (const Family &family : families())
    if (type && type->isString() && family.name == type->asString())
      return &family;
  return nullptr;
}

std::string weft::completeConfigCommand(const std::string &file) {
  return "python3 -c \"import sys, transformers as t; "
         "t.AutoConfig.from_pretrained(sys.argv[1]).get_text_config()"
         ".save_pretrained('text')\" " +
         shellWord(file);
}

std::string weft::hintOfModel(llvm::StringRef modelType, const Json &config,
                              const std::string &file) {
  for (const Family &family : families())
    if (foldedName(family.name) == foldedName(modelType))
      return "write it as " + inQuotes(family.name);
  const Json *text = config.find("text_config");
  if (text && text->isObject()) {
    if (const Family *family = familyOf(*text))
      return "its text_config is a model of family " + family->name.str() +
             "; " + completeConfigCommand(file) +
             " writes that one's config.json into the folder text";
    if (std::string hint = hintOfTraits(*text); !hint.empty())
      return hint;
  }
  return hintOfTraits(config);
}

std::string weft::hintOfField(llvm::StringRef name, const Json &value) {
  if (name == "quantization_config" || name == "compression_config") {
    const Json *method =
        value.isObject() ? value.find("quant_method") : nullptr;
    const bool isNamed = method && method->isString();
    return "the weights are quantized" +
           (isNamed ? " (" + printable(method->asString(), 40) + ")" : "") +
           ", which weft does not read; take the folder of the model before "
           "its quantization";
  }
  for (llvm::StringRef length :
       {"max_sequence_length", "max_seq_len", "max_seq_length", "seq_length"})
    if (name == length)
      return "the longest row is 'max_position_embeddings', or 'n_positions' "
             "of gpt2";
  const Trait *trait = traitOf(name, value);
  return trait ? describeTrait(*trait) : "";
}

std::string weft::otherHead(const Json &config) {
  const Json *classes = config.find("architectures");
  if (!classes || !classes->isArray())
    return "";
  for (const Json &name : classes->asArray())
    if (name.isString())
      for (llvm::StringRef head :
           {"ForSequenceClassification", "ForTokenClassification",
            "ForQuestionAnswering", "RewardModel"})
        if (llvm::StringRef(name.asString()).ends_with(head))
          return name.asString();
  return "";
}

std::string weft::listInQuotes(const std::vector<std::string> &names) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + inQuotes(names[i]);
  if (names.size() > kShown)
    text += " and " + std::to_string(names.size() - kShown) +
            (names.size() > kShown + 1 ? " others" : " other");
  return text;
}
