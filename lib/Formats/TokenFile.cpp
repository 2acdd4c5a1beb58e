//===- TokenFile.cpp - Token files of four layouts ------------------------===//

#include "weft/Formats/TokenFile.h"

#include "weft/Base/ReadProgress.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/JsonLines.h"

#include <algorithm>
#include <cstring>

using namespace weft;

// llm.c: 256 int32 of header; magic, version (1 for GPT-2, 7 for Llama 3),
// number of tokens, then zeros.
static constexpr int64_t headerBytes = 256 * 4;
static constexpr uint32_t magicEval = 20240522;

static constexpr char byteOrderMark[] = "\xef\xbb\xbf"; // of UTF-8

static uint32_t loadU32(const uint8_t *bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

Expected<TokenFormat> weft::parseTokenFormat(const std::string &text) {
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
                      std::to_string(version));
  count = loadU32(header + 8);
  int64_t expected = headerBytes + count * tokenWidth;
  if (expected != source->size())
    return inputError("the llm.c header announces " + std::to_string(count) +
                      " tokens, " + exactBytes(expected) +
                      ", but the file has " + exactBytes(source->size()));
  if (count == 0)
    return inputError("expects tokens, but the llm.c header announces none");
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
                      "file (magic 20240522)");
  hasHeader = magic == kTokenMagicU16 || magic == kTokenMagicU32;
  if (!hasHeader)
    return Status::success();
  if (bytes < headerBytes)
    return inputError("expects an llm.c header of 1024 bytes, but got a file "
                      "of " +
                      exactBytes(bytes));
  tokenWidth = magic == kTokenMagicU16 ? 2 : 4;
  if (format != TokenFormat::Auto &&
      (format == TokenFormat::U16) != (tokenWidth == 2))
    return inputError("the llm.c header says u" +
                      std::to_string(8 * tokenWidth) +
                      " tokens, but the format given is u" +
                      std::to_string(format == TokenFormat::U16 ? 16 : 32))
        .hint("leave --data-format out");
  return readCount(header);
}

/// Fewer bytes of tokens may happen to be letters.
static constexpr size_t kFewestLetters = 256;

static constexpr char kAsText[] =
    "--data-format=text reads its bytes as they are";

/// How the tokens of an array become a file that is read.
static std::string tokensHint(std::string_view head, const std::string &path,
                              bool isNumpy) {
  if (!isNumpy)
    return "write only its tokens, "
           "ARRAY.astype('uint16').tofile('tokens.bin'), and give "
           "--data-format=u16";
  const std::string_view header = head.substr(0, 128);
  const bool isNarrow = header.find("u2'") != header.npos ||
                        header.find("u1'") != header.npos ||
                        header.find("i1'") != header.npos;
  const std::string bits = isNarrow ? "16" : "32";
  return "python3 -c \"import numpy,sys; numpy.load(sys.argv[1]).astype('uint" +
         bits + "').tofile(sys.argv[2])\" " + shellWord(path) + " " +
         shellWord(path + ".bin") + ", then --data-format=u" + bits;
}

/// The way from a file of that kind to tokens.
static std::string kindHint(const FileKind &kind, std::string_view head,
                            const std::string &path) {
  const bool isNumpy = head.substr(0, 6) == "\x93NUMPY";
  if (isNumpy || kind.isSafetensors || kind.isTorch ||
      head.substr(0, 4) == "\x89HDF")
    return tokensHint(head, path, isNumpy);
  return kind.hint;
}

static std::string joinHints(const std::string &first,
                             const std::string &second) {
  return first.empty() || second.empty() ? first + second
                                         : first + "; " + second;
}

static FileKind kindOf(std::string_view head, int64_t wholeSize) {
  return guessFileKind(reinterpret_cast<const uint8_t *>(head.data()),
                       static_cast<int64_t>(head.size()), wholeSize);
}

/// Whether a file that begins with `head` may be read as text.
static Status checkText(std::string_view head, int64_t wholeSize,
                        const std::string &path) {
  if (FileKind kind = kindOf(head, wholeSize); kind.isKnown() && !kind.isText)
    return inputError(std::string("expects text or tokens, but got ") +
                      kind.name)
        .hint(joinHints(kindHint(kind, head, path), kAsText));
  if (endsWith(path, ".bin"))
    return inputError("cannot tell the width of the tokens: no llm.c header")
        .hint("pass --data-format=u16 (nanoGPT's GPT-2 files), u32 or text");
  const TextForm form = guessTextForm(head, wholeSize, path);
  if (form == TextForm::Plain)
    return Status::success();
  if (beginsWithQuestion(head))
    return inputError("expects text or tokens, but got questions (JSON lines "
                      "with a field 'choices')")
        .hint(kQuestionsHint);
  return inputError(std::string("expects text or tokens, but got ") +
                    textFormName(form))
      .hint(joinHints(textCommand(form, head, path), kAsText));
}

/// Whether it may be read as tokens of `width` bytes without a header.
static Status checkTokens(std::string_view head, int64_t wholeSize, int width,
                          const std::string &path) {
  FileKind kind = kindOf(head, wholeSize);
  // Tokens may begin like a pickle, of which two bytes are known.
  const bool isChance = (kind.isTorch && head[0] == '\x80') ||
                        (kind.isText && head.size() < kFewestLetters);
  if (!kind.isKnown() || isChance)
    return Status::success();
  Error error = inputError("expects u" + std::to_string(8 * width) +
                           " tokens, but got " + kind.name);
  return error.hint(kind.isText ? "leave --data-format out to read it as text"
                                : kindHint(kind, head, path));
}

/// Sets the width, and where the text or the tokens begin.
Status TokenFile::readPlain(TokenFormat format) {
  const int64_t bytes = source->size();
  std::string head(size_t(std::min(kTextFormBytes, bytes)), '\0');
  if (Status status = source->read(0, int64_t(head.size()), head.data());
      !status)
    return status;
  if (format == TokenFormat::U16)
    tokenWidth = 2;
  if (format == TokenFormat::U32)
    tokenWidth = 4;
  Status kind = format == TokenFormat::Text ? Status::success()
                : format == TokenFormat::Auto
                    ? checkText(head, bytes, path())
                    : checkTokens(head, bytes, tokenWidth, path());
  if (!kind)
    return kind;
  if (format == TokenFormat::Auto && head.compare(0, 3, byteOrderMark) == 0)
    base = 3;
  if (bytes == base)
    return inputError(
        "expects tokens, but the file has only a byte-order mark");
  if (bytes % tokenWidth)
    return inputError("expects a multiple of " + std::to_string(tokenWidth) +
                      " bytes, but got " + exactBytes(bytes));
  count = (bytes - base) / tokenWidth;
  return Status::success();
}

Expected<TokenFile> TokenFile::open(std::unique_ptr<ByteSource> source,
                                    TokenFormat format) {
  TokenFile result;
  result.source = std::move(source);
  const std::string &name = result.path();
  if (result.source->size() == 0)
    return inputError("expects tokens, but the file is empty").at(name);
  if (format != TokenFormat::Text)
    if (Status status = result.readHeader(format); !status)
      return status.takeError().at(name);
  if (result.hasHeader)
    return result;
  if (Status status = result.readPlain(format); !status)
    return status.takeError().at(name);
  return result;
}

Expected<TokenFile> TokenFile::open(const std::string &path,
                                    TokenFormat format) {
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  return open(std::move(*file), format);
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
  ReadProgress progress(path(), count * tokenWidth);
  for (int64_t at = 0, size = count * tokenWidth; at < size; at += part) {
    const int64_t bytes = std::min(part, size - at);
    auto view = window.view(*source, base + at, bytes);
    if (!view)
      return view.takeError();
    all.update(*view, static_cast<size_t>(bytes));
    progress.advance(bytes);
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
  ReadProgress progress(path(), count * tokenWidth);
  for (int64_t i = 0; i < count; i += part) {
    const int64_t length = std::min(part, count - i);
    if (Status status = read(i, length, tokens.data()); !status)
      return status;
    progress.advance(length * tokenWidth);
  }
  return Status::success();
}

/// Whether the tokens look like the halves of numbers twice as wide, which are
/// small: every second one is 0.
Expected<bool> TokenFile::looksHalved() {
  const int64_t length = std::min<int64_t>(count, 4096);
  std::vector<int32_t> tokens(static_cast<size_t>(length));
  if (Status status = read(0, length, tokens.data()); !status)
    return status.takeError();
  bool hasLow = false, hasHigh = false;
  for (int64_t i = 0; i < length; ++i)
    (i % 2 ? hasHigh : hasLow) |= tokens[size_t(i)] != 0;
  return length >= 16 && hasLow && !hasHigh;
}

/// Whether the tokens of 16 bits look like small numbers of 64 bits: three of
/// four are 0.
static Expected<bool> looksQuartered(TokenFile &file) {
  const int64_t length = std::min<int64_t>(file.size(), 4096);
  std::vector<int32_t> tokens(static_cast<size_t>(length));
  if (Status status = file.read(0, length, tokens.data()); !status)
    return status.takeError();
  bool hasOthers = false;
  for (int64_t i = 0; i < length; ++i)
    hasOthers |= i % 4 != 0 && tokens[size_t(i)] != 0;
  return file.width() == 2 && !hasOthers;
}

/// The warning about a file of which every second token is 0.
static Expected<std::string> halvedText(TokenFile &file) {
  auto isQuartered = looksQuartered(file);
  if (!isQuartered)
    return isQuartered.takeError();
  if (*isQuartered)
    return std::string("three of four tokens are 0, as in a file of numbers of "
                       "64 bits; write its tokens as u16 or u32");
  return "every second token is 0, as in a file of numbers of " +
         std::to_string(16 * file.width()) + " bits" +
         (file.width() == 2 ? "; --data-format=u32 reads those"
                            : "; write its tokens as u32 first");
}

Expected<std::vector<std::string>> TokenFile::doubts(int64_t vocabulary) {
  std::vector<std::string> texts;
  if (tokenWidth == 1 && base > 0)
    texts.push_back(path() + ": begins with a byte-order mark, which is left "
                             "out");
  if (tokenWidth == 1)
    return texts;
  auto isHalved = looksHalved();
  if (!isHalved)
    return isHalved.takeError();
  if (*isHalved) {
    auto text = halvedText(*this);
    if (!text)
      return text.takeError();
    texts.push_back(path() + ": " + *text);
  } else if (tokenWidth == 2 && vocabulary > 65536)
    texts.push_back(path() +
                    ": tokens of 16 bits are below 65536, but the "
                    "model has " +
                    std::to_string(vocabulary) +
                    " tokens; write tokens of such a vocabulary as u32");
  return texts;
}

void TokenFile::willNeed(ByteRanges ranges) {
  for (auto &[begin, end] : ranges) {
    begin = base + begin * tokenWidth;
    end = base + end * tokenWidth;
  }
  askFor(*source, std::move(ranges));
}
