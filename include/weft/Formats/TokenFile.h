//===- TokenFile.h - Training text as token numbers -------------*- C++ -*-===//
//
// One file of tokens, mapped: text (a byte is a token), llm.c `.bin` (known by
// its magic number) and headerless nanoGPT `.bin` (the width must be told).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_TOKENFILE_H
#define WEFT_FORMATS_TOKENFILE_H

#include "weft/Formats/MappedFile.h"

namespace weft {

enum class TokenFormat { Auto, Text, U16, U32 };

/// "auto", "text", "u16" or "u32".
Expected<TokenFormat> parseTokenFormat(const std::string &text);

class TokenFile {
public:
  /// Auto: an llm.c header decides; else a name that ends in `.bin` is an error
  /// (its width is unknown) and anything else is text.
  static Expected<TokenFile> open(const std::string &path, TokenFormat format);
  /// The same over bytes in memory, which must outlive the result.
  static Expected<TokenFile> parse(const uint8_t *data, int64_t bytes,
                                   const std::string &name, TokenFormat format);

  int64_t size() const { return count; }
  /// Bytes per token: 1, 2 or 4.
  int width() const { return tokenWidth; }
  /// "text", "llm.c u16", "llm.c u32", "u16" or "u32".
  std::string description() const;
  const std::string &path() const { return name; }

  /// Copies tokens [begin, begin + count) to `out`.
  Status read(int64_t begin, int64_t count, int32_t *out) const;
  /// XXH3 of all tokens, without a header.
  Expected<std::string> digest() const;
  /// Every token must be below `vocabulary`; names the first that is not.
  Status check(int64_t vocabulary) const;

private:
  uint32_t tokenAt(int64_t index) const;
  Status readHeader(const uint8_t *bytes, int64_t total, TokenFormat format,
                    bool &found);

  MappedFile file;
  std::string name;
  const uint8_t *tokens = nullptr;
  int64_t count = 0;
  int tokenWidth = 1;
  bool hasHeader = false;
};

} // namespace weft

#endif // WEFT_FORMATS_TOKENFILE_H
