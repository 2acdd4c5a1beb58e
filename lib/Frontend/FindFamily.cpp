//===- FindFamily.cpp - The family of a configuration ---------------------===//

#include "FamilyReader.h"
#include "RefusedModels.h"

#include "weft/Base/Text.h"

#include <tuple>

using namespace mlir;
using namespace weft;

namespace {
/// How well a family fits the fields of a file.
struct Fit {
  const Family *family = nullptr;
  /// Fields of the file that the family does not have.
  std::vector<std::string> unknown;
  int errors = 0;
  size_t commonPrefix = 0;

  /// Smaller is nearer. A common beginning of the names, "gemma", tells more
  /// than fields do.
  std::tuple<size_t, size_t> distance() const {
    const size_t prefix = commonPrefix >= 4 ? commonPrefix : 0;
    return {~prefix, unknown.size() + errors};
  }
};
} // namespace

std::vector<llvm::StringRef> weft::harmlessFields(const Family &family) {
  std::vector<llvm::StringRef> fields = {
      // Metadata of the file.
      "_name_or_path", "architectures", "auto_map", "model_type",
      "transformers_version", "torchscript", "use_bfloat16", "name_or_path",
      "_commit_hash", "_attn_implementation", "_attn_implementation_autoset",
      "attn_implementation", "finetuning_task", "tokenizer_class", "prefix",
      // Tokens: training sees token numbers only.
      "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id",
      "unk_token_id", "decoder_start_token_id", "vocab_file",
      // Classification heads and outputs that are not built.
      "id2label", "label2id", "num_labels", "_num_labels", "problem_type",
      "output_attentions", "output_hidden_states", "return_dict",
      "return_dict_in_generate", "output_scores", "task_specific_params",
      "use_cache", "gradient_checkpointing", "chunk_size_feed_forward",
      "is_decoder", "pruned_heads", "tf_legacy_loss", "remove_invalid_values",
      // Generation.
      "bad_words_ids", "begin_suppress_tokens", "diversity_penalty",
      "do_sample", "early_stopping", "encoder_no_repeat_ngram_size",
      "exponential_decay_length_penalty", "forced_bos_token_id",
      "forced_eos_token_id", "length_penalty", "max_length", "min_length",
      "max_new_tokens", "no_repeat_ngram_size", "num_beam_groups", "num_beams",
      "num_return_sequences", "repetition_penalty", "suppress_tokens",
      "temperature", "top_k", "top_p", "typical_p",
      // Notes of other tools, and an old name of use_cache.
      "is_llama_config", "output_past", "transformers.js_config", "unsloth_*"};
  llvm::append_range(fields, family.harmless);
  return fields;
}

/// Reads the file as one of `family`, and counts the rules that it breaks.
static Fit fitOf(const Family &family, llvm::StringRef type, const Json &config,
                 const std::string &file, MLIRContext &context) {
  Fit fit;
  fit.family = &family;
  ScopedDiagnosticHandler count(&context, [&](Diagnostic &diag) {
    fit.errors += diag.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  ConfigFields fields(config, file, /*ignored=*/{}, context);
  (void)readFamily(family, fields);
  fit.unknown = fields.unknownFields(harmlessFields(family));
  while (fit.commonPrefix < std::min(type.size(), family.name.size()) &&
         type[fit.commonPrefix] == family.name[fit.commonPrefix])
    ++fit.commonPrefix;
  return fit;
}

static std::string describeNearest(llvm::StringRef type, const Json &config,
                                   const std::string &file,
                                   MLIRContext &context) {
  Fit best;
  for (const Family &family : families()) {
    Fit fit = fitOf(family, type, config, file, context);
    if (!best.family || fit.distance() < best.distance())
      best = std::move(fit);
  }
  std::string text = "the nearest family is " + best.family->name.str();
  text += best.unknown.empty()
              ? ", which has all fields of this file"
              : ", which does not have " + listInQuotes(best.unknown);
  return text + "; a model of another family can be written as an .mlir file";
}

/// The hint for a `model_type` that names no family.
static std::string wayOn(llvm::StringRef type, const Json &config,
                         const std::string &file, MLIRContext &context) {
  std::string hint = hintOfModel(type, config, file);
  return hint.empty() ? describeNearest(type, config, file, context) : hint;
}

/// A head that is not built would be missing in the model without a word.
static void checkHead(ConfigFields &fields, const Json &config,
                      const Family &family) {
  const std::string head = otherHead(config);
  if (head.empty())
    return;
  InFlightDiagnostic diag = fields.valueError("architectures");
  diag << "expects a language model, but got " << inQuotes(head);
  diag.attachNote() << "without the field, the file is a language model of "
                       "family "
                    << family.name;
}

const Family *weft::findFamily(ConfigFields &fields, const Json &config,
                               const std::string &file, MLIRContext &context) {
  std::string names;
  for (const Family &family : families())
    names += (names.empty() ? "" : " ") + family.name.str();
  if (!fields.has("model_type")) {
    const std::string hint = wayOn("", config, file, context);
    InFlightDiagnostic diag = fields.error("model_type");
    diag << "expects field 'model_type', one of " << names;
    diag.attachNote() << hint;
    return nullptr;
  }
  const std::string type = fields.text("model_type", "");
  for (const Family &family : families())
    if (family.name == type) {
      checkHead(fields, config, family);
      return &family;
    }
  if (fields.failed())
    return nullptr;
  const std::string hint = wayOn(type, config, file, context);
  InFlightDiagnostic diag = fields.valueError("model_type");
  diag << "expects one of " << names << ", but got '" << printable(type, 80)
       << "'";
  diag.attachNote() << hint;
  return nullptr;
}
