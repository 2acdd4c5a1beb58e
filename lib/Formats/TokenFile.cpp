//===- TokenFile.cpp - Token files of four layouts ------------------------===//

#include "weft/Formats/TokenFile.h"

#include "weft/Formats/Digest.h"

#include <algorithm>
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

/// Takes width and number of tokens from an llm.c header.
Status TokenFile::readCount(const uint8_t *header) {
  const uint32_t version = loadU32(header + 4);
  const uint32_t wanted = tokenWidth == 2 ? 1 : 7;
  if (version != wanted)
    return inputError("expects version " + std::to_string(wanted) +
                      " in the llm.c header, but got " +
                      std::to_string(version))
        .at(path());
  count = loadU32(header + 8);
  int64_t expected = headerBytes + count * tokenWidth;
  if (expected != source->size())
    return inputError("the llm.c header announces " + std::to_string(count) +
                      " tokens, " + exactBytes(expected) +
                      ", but the file has " + exactBytes(source->size()))
        .at(path());
  if (count == 0)
    return inputError("expects tokens, but the llm.c header announces none")
        .at(path());
  base = headerBytes;
  return Status::success();
}

/// Reads an llm.c header if there is one.
Status TokenFile::readHeader(TokenFormat format) {
  uint8_t header[headerBytes];
  const int64_t bytes = std::min(headerBytes, source->size());
  if (Status status = source->read(0, bytes, header); !status)
    return status;
  const uint32_t magic = bytes >= 4 ? loadU32(header) : 0;
  if (magic == magicEval)
    return inputError("expects training tokens, but got an llm.c evaluation "
                      "file (magic 20240522)")
        .at(path());
  hasHeader = magic == magicU16 || magic == magicU32;
  if (!hasHeader)
    return Status::success();
  if (bytes < headerBytes)
    return inputError("expects an llm.c header of 1024 bytes, but got a file "
                      "of " +
                      exactBytes(bytes))
        .at(path());
  tokenWidth = magic == magicU16 ? 2 : 4;
  if (format != TokenFormat::Auto &&
      (format == TokenFormat::U16) != (tokenWidth == 2))
    return inputError("the llm.c header says u" +
                      std::to_string(8 * tokenWidth) +
                      " tokens, but the format given is u" +
                      std::to_string(format == TokenFormat::U16 ? 16 : 32))
        .at(path())
        .hint("leave --data-format out");
  return readCount(header);
}

/// What the file is by its first bytes.
Status TokenFile::guessKind(FileKind &kind) {
  uint8_t head[4096];
  const int64_t bytes = std::min<int64_t>(sizeof head, source->size());
  if (Status status = source->read(0, bytes, head); !status)
    return status;
  kind = guessFileKind(head, bytes, source->size());
  return Status::success();
}

Expected<TokenFile> TokenFile::open(std::unique_ptr<ByteSource> source,
                                    TokenFormat format) {
  TokenFile result;
  result.source = std::move(source);
  const std::string &name = result.path();
  const int64_t bytes = result.source->size();
  if (bytes == 0)
    return inputError("expects tokens, but the file is empty").at(name);
  if (format != TokenFormat::Text)
    if (Status status = result.readHeader(format); !status)
      return status.takeError();
  if (result.hasHeader)
    return result;
  FileKind kind;
  if (Status status = result.guessKind(kind); !status)
    return status.takeError();
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
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  return open(std::move(*file), format);
}

Expected<TokenFile> TokenFile::parse(const uint8_t *data, int64_t bytes,
                                     const std::string &name,
                                     TokenFormat format) {
  return open(std::make_unique<MemoryBytes>(data, bytes, name), format);
}

std::string TokenFile::description() const {
  if (tokenWidth == 1)
    return "text";
  std::string width = tokenWidth == 2 ? "u16" : "u32";
  return hasHeader ? "llm.c " + width : width;
}

static uint32_t tokenAt(const uint8_t *bytes, int width) {
  if (width == 1)
    return *bytes;
  if (width == 4)
    return loadU32(bytes);
  uint16_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Error TokenFile::wrongToken(uint32_t token, int64_t position) const {
  const std::string text = "token " + std::to_string(token) + " at position " +
                           std::to_string(position) + " is ";
  if (most == 0x7fffffff)
    return inputError(text + "above 2147483647").at(path());
  return inputError(text + "not below the vocabulary size " +
                    std::to_string(int64_t(most) + 1))
      .at(path());
}

Status TokenFile::read(int64_t begin, int64_t length, int32_t *out) {
  if (begin < 0 || length < 0 || begin > count || length > count - begin)
    return inputError("expects token positions below " + std::to_string(count) +
                      ", but got [" + std::to_string(begin) + ", " +
                      std::to_string(begin) + " + " + std::to_string(length) +
                      ")")
        .at(path());
  auto bytes =
      window.view(*source, base + begin * tokenWidth, length * tokenWidth);
  if (!bytes)
    return bytes.takeError();
  for (int64_t i = 0; i < length; ++i) {
    uint32_t token = tokenAt(*bytes + i * tokenWidth, tokenWidth);
    // The file may have changed since it was checked.
    if (token > most)
      return wrongToken(token, begin + i);
    out[i] = static_cast<int32_t>(token);
  }
  return Status::success();
}

Expected<std::string> TokenFile::digest() {
  constexpr int64_t part = int64_t(1) << 20;
  Digest all;
  for (int64_t at = 0, size = count * tokenWidth; at < size; at += part) {
    const int64_t bytes = std::min(part, size - at);
    auto view = window.view(*source, base + at, bytes);
    if (!view)
      return view.takeError();
    all.update(*view, static_cast<size_t>(bytes));
  }
  return all.value128();
}

Status TokenFile::check(int64_t vocabulary) {
  most =
      static_cast<uint32_t>(std::clamp<int64_t>(vocabulary - 1, 0, 0x7fffffff));
  // Most files pass at once: every byte is below 256, every u16 below 65536.
  if (tokenWidth < 4 && vocabulary >= int64_t(1) << (8 * tokenWidth))
    return Status::success();
  constexpr int64_t part = int64_t(1) << 16;
  std::vector<int32_t> tokens(static_cast<size_t>(std::min(part, count)));
  for (int64_t i = 0; i < count; i += part)
    if (Status status = read(i, std::min(part, count - i), tokens.data());
        !status)
      return status;
  return Status::success();
}

void TokenFile::willNeed(ByteRanges ranges) {
  for (auto &[begin, end] : ranges) {
    begin = base + begin * tokenWidth;
    end = base + end * tokenWidth;
  }
  askFor(*source, std::move(ranges));
}

} // namespace weft
