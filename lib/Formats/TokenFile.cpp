//===- TokenFile.cpp - Token files of four layouts ------------------------===//

#include "weft/Formats/TokenFile.h"

#include "weft/Formats/Digest.h"
#include "weft/Formats/FileKind.h"

#include <cstring>

namespace weft {

// llm.c: 256 int32 of header; magic, version, number of tokens, then zeros.
static constexpr int64_t headerBytes = 256 * 4;
static constexpr uint32_t magicU16 = 20240520; // version 1, GPT-2
static constexpr uint32_t magicU32 = 20240801; // version 7, Llama 3
static constexpr uint32_t magicEval = 20240522;

static uint32_t loadU32(const uint8_t *bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Expected<TokenFormat> parseTokenFormat(const std::string &text) {
  if (text == "auto")
    return TokenFormat::Auto;
  if (text == "text")
    return TokenFormat::Text;
  if (text == "u16")
    return TokenFormat::U16;
  if (text == "u32")
    return TokenFormat::U32;
  return usageError("expects auto, text, u16 or u32, but got " +
                    inQuotes(text));
}

/// Reads an llm.c header if there is one; `found` tells.
Status TokenFile::readHeader(const uint8_t *bytes, int64_t total,
                             TokenFormat format, bool &found) {
  uint32_t magic = total >= 4 ? loadU32(bytes) : 0;
  found = magic == magicU16 || magic == magicU32;
  if (magic == magicEval)
    return inputError("expects training tokens, but got an llm.c evaluation "
                      "file (magic 20240522)")
        .at(name);
  if (!found)
    return Status::success();
  if (total < headerBytes)
    return inputError("expects an llm.c header of 1024 bytes, but got a file "
                      "of " +
                      exactBytes(total))
        .at(name);
  tokenWidth = magic == magicU16 ? 2 : 4;
  uint32_t version = loadU32(bytes + 4), wanted = magic == magicU16 ? 1 : 7;
  if (version != wanted)
    return inputError("expects version " + std::to_string(wanted) +
                      " in the llm.c header, but got " +
                      std::to_string(version))
        .at(name);
  if ((format == TokenFormat::U16) != (tokenWidth == 2) &&
      format != TokenFormat::Auto)
    return inputError("the llm.c header says u" +
                      std::to_string(8 * tokenWidth) +
                      " tokens, but the format given is u" +
                      std::to_string(format == TokenFormat::U16 ? 16 : 32))
        .at(name)
        .hint("leave --data-format out");
  count = loadU32(bytes + 8);
  int64_t expected = headerBytes + count * tokenWidth;
  if (expected != total)
    return inputError("the llm.c header announces " + std::to_string(count) +
                      " tokens, " + exactBytes(expected) +
                      ", but the file has " + exactBytes(total))
        .at(name);
  return Status::success();
}

Expected<TokenFile> TokenFile::parse(const uint8_t *data, int64_t bytes,
                                     const std::string &name,
                                     TokenFormat format) {
  TokenFile result;
  result.name = name;
  if (bytes == 0)
    return inputError("expects tokens, but the file is empty").at(name);
  if (format != TokenFormat::Text)
    if (Status status =
            result.readHeader(data, bytes, format, result.hasHeader);
        !status)
      return status.takeError();
  result.tokens = result.hasHeader ? data + headerBytes : data;
  if (result.hasHeader) {
    if (result.count == 0)
      return inputError("expects tokens, but the llm.c header announces none")
          .at(name);
    return result;
  }
  FileKind kind = guessFileKind(data, bytes);
  if (format == TokenFormat::Auto && kind.isKnown() && !kind.isText)
    return inputError(std::string("expects text or tokens, but got ") +
                      kind.name)
        .at(name)
        .hint(std::string(kind.hint) + (*kind.hint ? "; " : "") +
              "--data-format=text reads its bytes as they are");
  if (format == TokenFormat::Auto && endsWith(name, ".bin"))
    return inputError("cannot tell the width of the tokens: no llm.c header")
        .at(name)
        .hint("pass --data-format=u16 (nanoGPT's GPT-2 files), u32 or text");
  if (format == TokenFormat::U16)
    result.tokenWidth = 2;
  if (format == TokenFormat::U32)
    result.tokenWidth = 4;
  if (bytes % result.tokenWidth)
    return inputError("expects a multiple of " +
                      std::to_string(result.tokenWidth) + " bytes, but got " +
                      exactBytes(bytes))
        .at(name);
  result.count = bytes / result.tokenWidth;
  return result;
}

Expected<TokenFile> TokenFile::open(const std::string &path,
                                    TokenFormat format) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  auto result = parse(file->data(), file->size(), path, format);
  if (result)
    result->file = std::move(*file);
  return result;
}

std::string TokenFile::description() const {
  if (tokenWidth == 1)
    return "text";
  std::string width = tokenWidth == 2 ? "u16" : "u32";
  return hasHeader ? "llm.c " + width : width;
}

uint32_t TokenFile::tokenAt(int64_t index) const {
  const uint8_t *bytes = tokens + index * tokenWidth;
  if (tokenWidth == 1)
    return *bytes;
  if (tokenWidth == 4)
    return loadU32(bytes);
  uint16_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Status TokenFile::read(int64_t begin, int64_t length, int32_t *out) const {
  if (begin < 0 || length < 0 || begin > count || length > count - begin)
    return inputError("expects token positions below " + std::to_string(count) +
                      ", but got [" + std::to_string(begin) + ", " +
                      std::to_string(begin) + " + " + std::to_string(length) +
                      ")")
        .at(name);
  for (int64_t i = 0; i < length; ++i) {
    uint32_t token = tokenAt(begin + i);
    if (token > 0x7fffffffu)
      return inputError("token " + std::to_string(token) + " at position " +
                        std::to_string(begin + i) + " is above 2147483647")
          .at(name);
    out[i] = static_cast<int32_t>(token);
  }
  return Status::success();
}

Expected<std::string> TokenFile::digest() const {
  return digest128(tokens, size_t(count * tokenWidth));
}

Status TokenFile::check(int64_t vocabulary) const {
  // Most files pass at once: every byte is below 256, every u16 below 65536.
  if (tokenWidth < 4 && vocabulary >= int64_t(1) << (8 * tokenWidth))
    return Status::success();
  for (int64_t i = 0; i < count; ++i)
    if (tokenAt(i) >= vocabulary)
      return inputError("token " + std::to_string(tokenAt(i)) +
                        " at position " + std::to_string(i) +
                        " is not below the vocabulary size " +
                        std::to_string(vocabulary))
          .at(name);
  return Status::success();
}

} // namespace weft
