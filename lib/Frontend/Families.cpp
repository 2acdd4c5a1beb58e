//===- Families.cpp - Code shared by the model families -------------------===//

#include "Configs.h"

using namespace mlir;
using namespace weft;

void ModelFamily::declareParams(ModelBuilder &m) {
  declareTables(m);
  for (int64_t layer = 0; layer < layers; ++layer)
    declareBlock(m, layer);
  {
    ModelBuilder::Scope inNorm(m, lastNorm().rsplit('.').second);
    declareNorm(m, lastNorm());
  }
  ModelBuilder::Scope inHead(m, "lm_head");
  m.param("lm_head.weight", {vocabSize, width}, m.normal(initRange),
          tied ? tokenTable() : "");
}

Value ModelFamily::hidden(ModelBuilder &m, Value tokens, bool training) {
  Value x = embed(m, tokens, training);
  for (int64_t layer = 0; layer < layers; ++layer)
    x = block(m, layer, x, training);
  ModelBuilder::Scope inNorm(m, lastNorm().rsplit('.').second);
  return norm(m, lastNorm(), x);
}

LogicalResult ModelFamily::build(ModelBuilder &m,
                                 const LanguageModelSizes &sizes) {
  declareParams(m);
  // Ops that read an invalid parameter would have no type.
  if (failed(m.verifyParams()))
    return failure();
  auto head = [&](Value x) {
    ModelBuilder::Scope inHead(m, "lm_head");
    return m.linear(x, "lm_head.weight", /*transposed=*/true);
  };
  m.lossProgram(sizes,
                [&](Value tokens) { return head(hidden(m, tokens, true)); });
  m.logitsProgram(
      sizes, [&](Value tokens) { return hidden(m, tokens, false); }, head);
  return success();
}

llvm::ArrayRef<llvm::StringRef> weft::commonHarmlessFields() {
  static const llvm::StringRef fields[] = {
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
  return fields;
}

void weft::readInertFields(ConfigFields &fields) {
  fields.expectFalse("add_cross_attention", "cross attention");
  fields.expectFalse("is_encoder_decoder", "encoder-decoder models");
  fields.expectFalse("tie_encoder_decoder", "encoder-decoder models");
  fields.expectFalse("use_sliding_window", "sliding windows of attention");
}

namespace {
enum class Activation { Gelu, GeluTanh, Relu, Silu, Tanh, Sigmoid };
struct ActivationName {
  llvm::StringRef name;
  Activation kind;
};
} // namespace

static const ActivationName kActivations[] = {
    {"gelu", Activation::Gelu},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"silu", Activation::Silu},
    {"swish", Activation::Silu},
    {"tanh", Activation::Tanh},
    {"sigmoid", Activation::Sigmoid}};

static const ActivationName *findActivation(llvm::StringRef name) {
  for (const ActivationName &entry : kActivations)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::string weft::readActivation(ConfigFields &fields, llvm::StringRef name,
                                 llvm::StringRef fallback) {
  std::string value = fields.text(name, fallback);
  if (findActivation(value))
    return value;
  InFlightDiagnostic diag = fields.valueError(name);
  diag << "expects one of";
  for (const ActivationName &entry : kActivations)
    diag << " " << entry.name;
  diag << ", but got '" << printable(value, 80) << "'";
  return fallback.str();
}

Value weft::buildActivation(ModelBuilder &m, llvm::StringRef name, Value x) {
  MLIRContext *context = m.builder().getContext();
  switch (findActivation(name)->kind) {
  case Activation::Gelu:
    return m.create<GeluOp>("gelu", x,
                            GeluKindAttr::get(context, GeluKind::None));
  case Activation::GeluTanh:
    return m.create<GeluOp>("gelu", x,
                            GeluKindAttr::get(context, GeluKind::Tanh));
  case Activation::Relu:
    return m.create<ReluOp>("relu", x);
  case Activation::Silu:
    return m.create<SiluOp>("silu", x);
  case Activation::Tanh:
    return m.create<TanhOp>("tanh", x);
  case Activation::Sigmoid:
    return m.create<SigmoidOp>("sigmoid", x);
  }
  llvm_unreachable("every activation has a case");
}
