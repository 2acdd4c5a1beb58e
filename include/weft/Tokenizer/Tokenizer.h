//===- Tokenizer.h - Text to token numbers and back -------------*- C++ -*-===//
//
// A tokenizer comes from `tokenizer.json` of the package tokenizers, from
// `tokenizer.model` of SentencePiece, from `vocab.json` and `merges.txt`, or
// from the vocabulary inside a GGUF file. It does not change after it is
// loaded: threads share it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOKENIZER_TOKENIZER_H
#define WEFT_TOKENIZER_TOKENIZER_H

#include "weft/Base/Error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct GgufVocabulary;

/// The value of --tokenizer for a token per byte.
inline constexpr std::string_view kByteTokenizer = "bytes";

struct EncodeOptions {
  /// Adds the tokens of the post-processor: beginning and end of text.
  bool addsSpecialTokens = true;
  /// Text such as `<|endoftext|>` becomes the special token of this name.
  bool findsSpecialTokens = true;
};

/// Losses of an encoding.
struct EncodeLosses {
  /// Malformed parts of the text, which became U+FFFD.
  int64_t malformed = 0;
  /// Characters without a token, in a model without an unknown token.
  int64_t unencodable = 0;
};

/// Special tokens by role, as far as the files name them.
struct SpecialIds {
  std::optional<int32_t> beginning, end, unknown, padding;
};

/// The special tokens that the post-processor puts around the ids of a text.
struct TextFrame {
  std::vector<int32_t> before, behind;
};

class Tokenizer {
public:
  struct Parts;

  /// Takes ids, some at a time.
  using IdSink = std::function<Status(const int32_t *ids, size_t count)>;

  /// A file `tokenizer.json` or `tokenizer.model`, a GGUF file, or a folder
  /// with one of the first two or with `vocab.json` and `merges.txt`. A
  /// folder's `tokenizer_config.json` names the roles of special tokens.
  static Expected<Tokenizer> load(const std::string &path);
  /// The text of a `tokenizer.json`; `file` is for messages.
  static Expected<Tokenizer> parseJson(std::string_view text,
                                       const std::string &file);
  /// The bytes of a `tokenizer.model`.
  static Expected<Tokenizer> parseSentencePiece(std::string_view bytes,
                                                const std::string &file);
  static Expected<Tokenizer> fromGguf(const GgufVocabulary &vocabulary,
                                      const std::string &file);
  /// 256 tokens, one for each byte, and no special ones.
  static Tokenizer ofBytes();
  /// ofBytes() by the name `bytes`, else load() of a path.
  static Expected<Tokenizer> find(const std::string &name);

  Tokenizer(Tokenizer &&) noexcept;
  Tokenizer &operator=(Tokenizer &&) noexcept;
  ~Tokenizer();

  /// The ids of one document, which may be any bytes.
  Expected<std::vector<int32_t>> encode(std::string_view text,
                                        const EncodeOptions &options = {},
                                        EncodeLosses *losses = nullptr) const;
  /// The same, handed out while the text is read: memory for ids is bounded.
  Status encode(std::string_view text, const EncodeOptions &options,
                const IdSink &sink, EncodeLosses *losses = nullptr) const;

  /// The text of ids; an id without a token is an error.
  Expected<std::string> decode(const int32_t *ids, size_t count,
                               bool skipsSpecialTokens = true) const;
  Expected<std::string> decode(const std::vector<int32_t> &ids,
                               bool skipsSpecialTokens = true) const {
    return decode(ids.data(), ids.size(), skipsSpecialTokens);
  }

  /// One more than the largest id, added tokens included.
  int64_t vocabularySize() const;
  /// The text of a token as its file spells it; nothing for an unknown id.
  std::optional<std::string> tokenText(int32_t id) const;
  std::optional<int32_t> findToken(std::string_view text) const;
  bool isSpecial(int32_t id) const;
  const SpecialIds &specialIds() const;
  /// The tokens that EncodeOptions::addsSpecialTokens adds to every text.
  const TextFrame &frame() const;
  /// "BPE", "Unigram", ...: the kind of model.
  const std::string &modelName() const;

private:
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  friend class TokenizerBuilder;
  friend class StreamDecoder;

  std::unique_ptr<Parts> parts;
};

/// Text of ids that arrive one by one. Bytes of an incomplete character wait
/// for the rest of it. The pieces together are Tokenizer::decode() of all ids,
/// but for ids of malformed text.
class StreamDecoder {
public:
  /// The tokenizer must outlive it.
  explicit StreamDecoder(const Tokenizer &tokenizer,
                         bool skipsSpecialTokens = true)
      : tokenizer(tokenizer), skipsSpecialTokens(skipsSpecialTokens) {}

  /// The text that is complete with this id; often empty.
  Expected<std::string> add(int32_t id);
  /// The rest: an incomplete character becomes U+FFFD.
  Expected<std::string> finish();

private:
  /// The text of the first ids of the window.
  Expected<std::string> decode(size_t count) const;

  const Tokenizer &tokenizer;
  bool skipsSpecialTokens;
  /// Ids whose text is not all handed out, behind some that give context.
  std::vector<int32_t> window;
  size_t contextIds = 0;
  /// Text of the window that is handed out.
  std::string done;
};

} // namespace weft

#endif // WEFT_TOKENIZER_TOKENIZER_H
