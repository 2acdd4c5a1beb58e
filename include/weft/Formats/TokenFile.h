//===- TokenFile.h - Training text as token numbers -------------*- C++ -*-===//
//
// One file of tokens, read where they are asked for: text (a byte is a token;
// a byte-order mark is left out),
// llm.c `.bin` (known by its magic number) and headerless nanoGPT `.bin` (the
// width must be told).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_TOKENFILE_H
#define WEFT_FORMATS_TOKENFILE_H

#include "weft/Base/InputFile.h"

#include <optional>

namespace weft {

/// The magic numbers of llm.c headers for tokens of 16 and of 32 bits.
constexpr uint32_t kTokenMagicU16 = 20240520, kTokenMagicU32 = 20240801;
/// In a file that weft wrote, the digest of the tokens, as hexadecimal digits
/// in bytes of the header that llm.c leaves 0.
constexpr int64_t kTokenDigestAt = 16, kTokenDigestChars = 32;

/// Whether a file has an llm.c header.
bool isTokenFile(const std::string &path);

/// Whether the tokens of a file have the digest in its header; nothing where
/// the header has none, so weft did not write the file.
std::optional<bool> checkTokenDigest(const std::string &path);

enum class TokenFormat { Auto, Text, U16, U32 };

/// "auto", "text", "u16" or "u32".
Expected<TokenFormat> parseTokenFormat(const std::string &text);

class TokenFile {
public:
  /// Auto: an llm.c header decides; else a name that ends in `.bin` is an error
  /// (its width is unknown), so is what must become plain text first
  /// (FileKind.h), and anything else is text. Text: the bytes, whatever they
  /// are.
  static Expected<TokenFile> open(const std::string &path, TokenFormat format);
  static Expected<TokenFile> open(std::unique_ptr<ByteSource> source,
                                  TokenFormat format);

  int64_t size() const { return count; }
  /// Bytes per token: 1, 2 or 4.
  int width() const { return tokenWidth; }
  /// "text", "llm.c u16", "llm.c u32", "u16" or "u32".
  std::string description() const;
  const std::string &path() const { return source->path(); }

  /// Every token must be below `vocabulary`, now and when it is read; names the
  /// first that is not.
  Status check(int64_t vocabulary);
  /// Warnings about a file that is valid, but may be meant otherwise.
  Expected<std::vector<std::string>> doubts(int64_t vocabulary);
  /// Copies tokens [begin, begin + count) to `out`.
  Status read(int64_t begin, int64_t count, int32_t *out);
  /// Asks for tokens [begin, end) of each range, which are read soon.
  void willNeed(ByteRanges ranges);
  /// XXH3 of all tokens, without a header.
  Expected<std::string> digest();

private:
  Status readHeader(TokenFormat format);
  Status readCount(const uint8_t *header);
  Status readPlain(TokenFormat format);
  Expected<bool> looksHalved();
  Error wrongToken(uint32_t token, int64_t position) const;

  std::unique_ptr<ByteSource> source;
  ByteWindow window;
  int64_t base = 0; // where the tokens begin, behind a header or a mark
  int64_t count = 0;
  uint32_t most = 0x7fffffff; // the largest token
  int tokenWidth = 1;
  bool hasHeader = false;
};

} // namespace weft

#endif // WEFT_FORMATS_TOKENFILE_H
