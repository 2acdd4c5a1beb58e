//===- GgufVocabulary.cpp - The tokenizer of a GGUF file ------------------===//

#include "weft/Formats/GgufVocabulary.h"

#include "weft/Base/Text.h"

namespace weft {

static std::string keyOf(const char *name) {
  return std::string("tokenizer.ggml.") + name;
}

/// Stores the value of a key if it is there.
template <typename T, typename Target>
static Status take(Expected<std::optional<T>> value, Target &out) {
  if (!value)
    return value.takeError();
  if (*value)
    out = std::move(**value);
  return Status::success();
}

/// An array has an element for each token.
static Status checkCount(const GgufFile &file, const char *name, size_t count,
                         size_t tokens) {
  const GgufEntry *entry = file.findEntry(keyOf(name));
  if (!entry || count == tokens)
    return Status::success();
  return file.valueError(
      *entry, "expects an element for each of " + std::to_string(tokens) +
                  " tokens, but got " + std::to_string(count));
}

static Status takeToken(const GgufFile &file, const char *name, size_t tokens,
                        std::optional<int64_t> &out) {
  const std::string key = keyOf(name);
  if (Status status = take(file.integer(key), out); !status)
    return status;
  if (out && (*out < 0 || *out >= static_cast<int64_t>(tokens)))
    return file.valueError(*file.findEntry(key),
                           "expects a token from 0 to " +
                               std::to_string(int64_t(tokens) - 1) +
                               ", but got " + std::to_string(*out));
  return Status::success();
}

static Status takeArrays(const GgufFile &file, GgufVocabulary &out) {
  if (Status s = take(file.texts(kGgufTokens), out.tokens); !s)
    return s;
  if (Status s = take(file.floats(keyOf("scores")), out.scores); !s)
    return s;
  if (Status s = take(file.integers(keyOf("token_type")), out.types); !s)
    return s;
  if (Status s = take(file.texts(keyOf("merges")), out.merges); !s)
    return s;
  const size_t tokens = out.tokens.size();
  if (Status s = checkCount(file, "scores", out.scores.size(), tokens); !s)
    return s;
  return checkCount(file, "token_type", out.types.size(), tokens);
}

static Status takeTokens(const GgufFile &file, GgufVocabulary &out) {
  const std::pair<const char *, std::optional<int64_t> *> tokens[] = {
      {"bos_token_id", &out.bos},
      {"eos_token_id", &out.eos},
      {"eot_token_id", &out.eot},
      {"unknown_token_id", &out.unknown},
      {"seperator_token_id", &out.separator}, // as llama.cpp spells it
      {"padding_token_id", &out.padding},
      {"mask_token_id", &out.mask}};
  for (auto [name, token] : tokens)
    if (Status s = takeToken(file, name, out.tokens.size(), *token); !s)
      return s;
  return Status::success();
}

static Status takeSwitches(const GgufFile &file, GgufVocabulary &out) {
  if (Status s = take(file.boolean(keyOf("add_bos_token")), out.addBos); !s)
    return s;
  if (Status s = take(file.boolean(keyOf("add_eos_token")), out.addEos); !s)
    return s;
  if (Status s =
          take(file.boolean(keyOf("add_space_prefix")), out.addSpacePrefix);
      !s)
    return s;
  return take(file.boolean(keyOf("remove_extra_whitespaces")),
              out.removeExtraSpaces);
}

static Status takeCharsmap(const GgufFile &file, GgufVocabulary &out) {
  const std::string key = keyOf("precompiled_charsmap");
  std::vector<int64_t> bytes;
  if (Status s = take(file.integers(key), bytes); !s)
    return s;
  for (int64_t byte : bytes) {
    if (byte < -128 || byte > 255)
      return file.valueError(*file.findEntry(key),
                             "expects bytes, but got " + std::to_string(byte));
    out.charsmap.push_back(static_cast<char>(byte));
  }
  return Status::success();
}

Expected<std::optional<GgufVocabulary>> readVocabulary(const GgufFile &file) {
  if (!file.findEntry(kGgufTokens))
    return std::optional<GgufVocabulary>();
  GgufVocabulary result;
  Status status = take(file.text(keyOf("model")), result.model);
  if (status)
    status = take(file.text(keyOf("pre")), result.pre);
  if (status)
    status = takeArrays(file, result);
  if (status)
    status = takeTokens(file, result);
  if (status)
    status = takeSwitches(file, result);
  if (status)
    status = takeCharsmap(file, result);
  if (status)
    status = take(file.text("tokenizer.chat_template"), result.chatTemplate);
  if (!status)
    return status.takeError();
  return std::optional(std::move(result));
}

} // namespace weft
