//===- Safetensors.cpp - Checked reading of one .safetensors file ---------===//

#include "weft/Formats/Safetensors.h"

#include "weft/Base/Half.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/JsonFields.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace weft {

//===----------------------------------------------------------------------===//
// Element types and shapes
//===----------------------------------------------------------------------===//

namespace {
struct TypeRow {
  TensorType type;
  const char *name;
  int bits;
};
} // namespace

static const TypeRow typeRows[] = {
    {TensorType::Bool, "BOOL", 8},
    {TensorType::F4, "F4", 4},
    {TensorType::F6E2M3, "F6_E2M3", 6},
    {TensorType::F6E3M2, "F6_E3M2", 6},
    {TensorType::U8, "U8", 8},
    {TensorType::I8, "I8", 8},
    {TensorType::F8E5M2, "F8_E5M2", 8},
    {TensorType::F8E4M3, "F8_E4M3", 8},
    {TensorType::F8E8M0, "F8_E8M0", 8},
    {TensorType::F8E4M3FNUZ, "F8_E4M3FNUZ", 8},
    {TensorType::F8E5M2FNUZ, "F8_E5M2FNUZ", 8},
    {TensorType::I16, "I16", 16},
    {TensorType::U16, "U16", 16},
    {TensorType::F16, "F16", 16},
    {TensorType::BF16, "BF16", 16},
    {TensorType::I32, "I32", 32},
    {TensorType::U32, "U32", 32},
    {TensorType::F32, "F32", 32},
    {TensorType::C64, "C64", 64},
    {TensorType::F64, "F64", 64},
    {TensorType::I64, "I64", 64},
    {TensorType::U64, "U64", 64},
};

const char *tensorTypeName(TensorType type) {
  return typeRows[static_cast<size_t>(type)].name;
}

int tensorTypeBits(TensorType type) {
  return typeRows[static_cast<size_t>(type)].bits;
}

std::optional<TensorType> parseTensorType(std::string_view name) {
  for (const TypeRow &row : typeRows)
    if (name == row.name)
      return row.type;
  return std::nullopt;
}

std::optional<int64_t> countElements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return std::nullopt;
  return count;
}

std::optional<int64_t> countBytes(TensorType type,
                                  const std::vector<int64_t> &shape) {
  auto elements = countElements(shape);
  int64_t bits = 0;
  if (!elements ||
      __builtin_mul_overflow(*elements, tensorTypeBits(type), &bits) ||
      bits % 8)
    return std::nullopt;
  return bits / 8;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string result = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    result += (i ? ", " : "") + std::to_string(shape[i]);
  return result + "]";
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

static constexpr int64_t mostHeaderBytes = 100'000'000;

/// One entry of the header; its bytes are checked against its shape, not yet
/// against its neighbours.
static Expected<TensorInfo> readEntry(const JsonCursor &entry,
                                      const std::string &name) {
  TensorInfo info;
  info.name = name;
  auto type = entry.getString("dtype");
  if (!type)
    return type.takeError();
  auto parsed = parseTensorType(*type);
  if (!parsed)
    return entry.error("unknown dtype " + inQuotes(*type));
  info.type = *parsed;
  auto shape = entry.getIntArray("shape", /*least=*/0);
  if (!shape)
    return shape.takeError();
  info.shape = std::move(*shape);
  auto offsets = entry.getIntArray("data_offsets", /*least=*/0);
  if (!offsets)
    return offsets.takeError();
  if (offsets->size() != 2 || (*offsets)[0] > (*offsets)[1])
    return entry.error("expects two ascending data_offsets, but got " +
                       shapeText(*offsets));
  info.begin = (*offsets)[0];
  info.end = (*offsets)[1];
  auto bytes = countBytes(info.type, info.shape);
  if (!bytes)
    return entry.error("the size of shape " + shapeText(info.shape) +
                       " in bytes is no whole number below 2^63");
  if (*bytes != info.bytes())
    return entry.error("expects " + exactBytes(*bytes) + " for shape " +
                       shapeText(info.shape) + " of " + *type + ", but got " +
                       exactBytes(info.bytes()));
  return info;
}

/// The data must be covered from its first to its last byte, each byte once.
static Status checkCover(const std::vector<TensorInfo> &infos,
                         int64_t dataBytes) {
  int64_t end = 0;
  for (const TensorInfo &info : infos) {
    if (info.begin != end)
      return inputError("tensor " + inQuotes(info.name) +
                        (info.begin < end ? " overlaps the one before it"
                                          : " leaves a hole before it") +
                        ": expects it to begin at byte " + std::to_string(end) +
                        ", but got " + std::to_string(info.begin));
    end = info.end;
  }
  if (end != dataBytes)
    return inputError("expects " + exactBytes(end) +
                      " of tensor data, but the file has " +
                      exactBytes(dataBytes))
        .hint(end > dataBytes ? "the file is truncated: copy it again" : "");
  return Status::success();
}

/// An error that names the kind of a file with an invalid header; `message` if
/// the kind is unknown.
static Error noHeader(ByteSource &source, const std::string &message,
                      const char *hint = "") {
  uint8_t head[4096];
  const int64_t bytes = std::min<int64_t>(sizeof head, source.size());
  if (Status status = source.read(0, bytes, head); !status)
    return status.takeError();
  FileKind kind = guessFileKind(head, bytes, source.size());
  if (!kind.isKnown() || kind.isSafetensors)
    return inputError(message).hint(hint);
  return inputError(std::string("expects a safetensors file, but got ") +
                    kind.name)
      .hint(kind.hint);
}

/// The header's text, once its length is known to fit.
static Expected<std::string> headerText(ByteSource &source) {
  if (source.size() < 8)
    return inputError("expects a safetensors header, but the file has only " +
                      exactBytes(source.size()));
  uint64_t length = 0;
  if (Status status = source.read(0, sizeof length, &length); !status)
    return status.takeError();
  if (length > static_cast<uint64_t>(mostHeaderBytes))
    return noHeader(source,
                    "expects a safetensors header of at most " +
                        exactBytes(mostHeaderBytes) + ", but got " +
                        (length >> 63 ? std::to_string(length) + " bytes"
                                      : exactBytes(int64_t(length))));
  if (length > static_cast<uint64_t>(source.size() - 8))
    return noHeader(
        source,
        "the safetensors header says it has " + exactBytes(int64_t(length)) +
            ", but the file ends after " + exactBytes(source.size() - 8),
        "the file is truncated: copy it again");
  std::string text(length, '\0');
  if (Status status = source.read(8, static_cast<int64_t>(length), text.data());
      !status)
    return status.takeError();
  if (text.empty() || text[0] != '{')
    return noHeader(source,
                    "expects a safetensors header that starts with '{'");
  return text;
}

Status SafetensorsFile::readEntries(std::string_view text) {
  auto header = parseJson(text, path());
  if (!header)
    return header.takeError();
  JsonCursor root(*header, path());
  return forMembers(
      root, [&](const std::string &key, const JsonCursor &member) -> Status {
        // Some writers put null where they have no metadata.
        if (key == "__metadata__")
          return member.value().isNull() ? Status()
                                         : readStrings(member, strings);
        auto info = readEntry(member, key);
        if (!info)
          return info.takeError();
        infos.push_back(std::move(*info));
        return Status::success();
      });
}

Status SafetensorsFile::readHeader() {
  auto text = headerText(*source);
  if (!text)
    return text.takeError().at(path());
  if (Status status = readEntries(*text); !status)
    return status;
  // Empty tensors share their offset with the next one: the end breaks the tie.
  std::sort(infos.begin(), infos.end(),
            [](const TensorInfo &a, const TensorInfo &b) {
              return std::tie(a.begin, a.end, a.name) <
                     std::tie(b.begin, b.end, b.name);
            });
  base = 8 + static_cast<int64_t>(text->size());
  for (size_t i = 0; i < infos.size(); ++i)
    byName[infos[i].name] = i;
  Status status = checkCover(infos, source->size() - base);
  return status ? std::move(status) : status.takeError().at(path());
}

//===----------------------------------------------------------------------===//
// File
//===----------------------------------------------------------------------===//

Expected<SafetensorsFile>
SafetensorsFile::open(std::unique_ptr<ByteSource> source) {
  SafetensorsFile result;
  result.source = std::move(source);
  if (Status status = result.readHeader(); !status)
    return status.takeError();
  return result;
}

Expected<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  return open(std::move(*file));
}

const TensorInfo *SafetensorsFile::find(const std::string &name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &infos[found->second];
}

Status SafetensorsFile::outOfRange(const TensorInfo &info, const char *unit,
                                   int64_t size, int64_t begin,
                                   int64_t count) const {
  return inputError("tensor " + inQuotes(info.name) + " has " +
                    std::to_string(size) + " " + unit +
                    ", but got the range from " + std::to_string(begin) +
                    " of length " + std::to_string(count))
      .at(path());
}

Status SafetensorsFile::read(const TensorInfo &info, int64_t begin,
                             int64_t bytes, void *out) const {
  if (begin < 0 || bytes < 0 || begin > info.bytes() ||
      bytes > info.bytes() - begin)
    return outOfRange(info, "bytes", info.bytes(), begin, bytes);
  return source->read(offset(info) + begin, bytes, out);
}

template <typename Stored, typename Convert>
static void convert(const uint8_t *from, int64_t count, float *out,
                    Convert toFloat) {
  for (int64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
    out[i] = toFloat(value);
  }
}

static void convertAll(TensorType type, const uint8_t *from, int64_t count,
                       float *out) {
  if (type == TensorType::F64)
    return convert<double>(from, count, out, [](double value) {
      return static_cast<float>(value);
    });
  if (type == TensorType::F16)
    return convert<uint16_t>(from, count, out, halfToFloat);
  convert<uint16_t>(from, count, out, bf16ToFloat);
}

Status SafetensorsFile::readFloats(const TensorInfo &info, int64_t begin,
                                   int64_t count, float *out) const {
  const int64_t elements = info.elements();
  if (begin < 0 || count < 0 || begin > elements || count > elements - begin)
    return outOfRange(info, "elements", elements, begin, count);
  const int64_t width = tensorTypeBits(info.type) / 8;
  if (info.type == TensorType::F32)
    return read(info, begin * width, count * width, out);
  if (info.type != TensorType::F64 && info.type != TensorType::F16 &&
      info.type != TensorType::BF16)
    return inputError("tensor " + inQuotes(info.name) +
                      " expects dtype F16, BF16, F32 or F64, but got " +
                      tensorTypeName(info.type))
        .at(path());
  constexpr int64_t most = int64_t(1) << 16;
  std::vector<uint8_t> piece(
      static_cast<size_t>(std::min(count, most) * width));
  for (int64_t done = 0; done < count; done += most) {
    const int64_t part = std::min(most, count - done);
    if (Status status =
            read(info, (begin + done) * width, part * width, piece.data());
        !status)
      return status;
    convertAll(info.type, piece.data(), part, out + done);
  }
  return Status::success();
}

} // namespace weft
