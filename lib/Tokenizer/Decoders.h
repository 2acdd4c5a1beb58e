//===- Decoders.h - From tokens back to text --------------------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_DECODERS_H
#define WEFT_LIB_TOKENIZER_DECODERS_H

#include "Normalizers.h"

#include <memory>
#include <vector>

namespace weft {

/// The texts of tokens; joined, they are the text.
using TokenTexts = std::vector<std::string>;

class Decoder {
public:
  virtual ~Decoder() = default;
  virtual Status apply(TokenTexts &texts, RegexMatch &match) const = 0;
};
using DecoderList = std::vector<std::shared_ptr<const Decoder>>;

/// Characters become the bytes that they spell; malformed UTF-8 is repaired.
class ByteLevelDecoder : public Decoder {
public:
  Status apply(TokenTexts &texts, RegexMatch &) const override;
};

/// Tokens `<0x0A>` become bytes. A run of them that is malformed becomes one
/// U+FFFD for each.
class ByteFallbackDecoder : public Decoder {
public:
  Status apply(TokenTexts &texts, RegexMatch &) const override;
};

class FuseDecoder : public Decoder {
public:
  Status apply(TokenTexts &texts, RegexMatch &) const override;
};

/// Takes up to `start` and `stop` characters off the ends of each text.
class StripDecoder : public Decoder {
public:
  StripDecoder(std::string content, int64_t start, int64_t stop)
      : content(std::move(content)), start(start), stop(stop) {}
  Status apply(TokenTexts &texts, RegexMatch &) const override;

private:
  std::string content; // one character
  int64_t start, stop;
};

class ReplaceDecoder : public Decoder {
public:
  ReplaceDecoder(Pattern pattern, std::string content)
      : pattern(std::move(pattern)), content(std::move(content)) {}
  Status apply(TokenTexts &texts, RegexMatch &match) const override;

private:
  Pattern pattern;
  std::string content;
};

/// Marks become spaces. The first token loses its marks if one was added.
class MetaspaceDecoder : public Decoder {
public:
  MetaspaceDecoder(std::string mark, bool dropsFirst)
      : mark(std::move(mark)), dropsFirst(dropsFirst) {}
  Status apply(TokenTexts &texts, RegexMatch &) const override;

private:
  std::string mark;
  bool dropsFirst;
};

class WordPieceDecoder : public Decoder {
public:
  WordPieceDecoder(std::string prefix, bool cleansUp)
      : prefix(std::move(prefix)), cleansUp(cleansUp) {}
  Status apply(TokenTexts &texts, RegexMatch &) const override;

private:
  std::string prefix;
  bool cleansUp;
};

/// The suffix of words becomes a space, behind the last word nothing.
class WordSuffixDecoder : public Decoder {
public:
  explicit WordSuffixDecoder(std::string suffix) : suffix(std::move(suffix)) {}
  Status apply(TokenTexts &texts, RegexMatch &) const override;

private:
  std::string suffix;
};

/// Spaces between tokens, where a file names no decoder.
class SpacingDecoder : public Decoder {
public:
  Status apply(TokenTexts &texts, RegexMatch &) const override;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_DECODERS_H
