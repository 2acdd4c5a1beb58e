//===- Safetensors.cpp - Checked reading of one .safetensors file ---------===//

#include "weft/Formats/Safetensors.h"

#include "weft/Formats/FileKind.h"
#include "weft/Formats/Half.h"
#include "weft/Formats/Json.h"

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
                       " in bytes is no whole number of 63 bits");
  if (*bytes != info.bytes())
    return entry.error("expects " + exactBytes(*bytes) + " for shape " +
                       shapeText(info.shape) + " of " + *type + ", but got " +
                       exactBytes(info.bytes()));
  return info;
}

static Expected<StringMap> readMetadata(const JsonCursor &field) {
  auto size = field.objectSize();
  if (!size)
    return size.takeError();
  StringMap result;
  for (size_t i = 0; i < *size; ++i) {
    auto value = field.member(i).asString();
    if (!value)
      return value.takeError();
    result.push_back({field.value().asObject()[i].name, *value});
  }
  return result;
}

/// The data must be covered from its first to its last byte, each byte once.
static Status checkCover(const std::vector<TensorInfo> &infos,
                         int64_t dataBytes, const std::string &file) {
  int64_t end = 0;
  for (const TensorInfo &info : infos) {
    if (info.begin != end)
      return inputError("tensor " + inQuotes(info.name) +
                        (info.begin < end ? " overlaps the one before it"
                                          : " leaves a hole before it") +
                        ": expects it to begin at byte " + std::to_string(end) +
                        ", but got " + std::to_string(info.begin))
          .at(file);
    end = info.end;
  }
  if (end != dataBytes)
    return inputError("expects " + exactBytes(end) +
                      " of tensor data, but the file has " +
                      exactBytes(dataBytes))
        .at(file)
        .hint(end > dataBytes ? "the file is truncated: copy it again" : "");
  return Status::success();
}

/// What a file is whose header makes no sense; the message if that is unknown.
static Error noHeader(const uint8_t *bytes, int64_t total,
                      const std::string &message, const char *hint = "") {
  FileKind kind = guessFileKind(bytes, total);
  if (!kind.isKnown() || kind.isSafetensors)
    return inputError(message).hint(hint);
  return inputError(std::string("expects a safetensors file, but got ") +
                    kind.name)
      .hint(kind.hint);
}

/// The header's text, once its length is known to fit.
static Expected<std::string_view>
headerText(const uint8_t *bytes, int64_t total, const std::string &file) {
  if (total < 8)
    return inputError("expects a safetensors header, but the file has only " +
                      exactBytes(total))
        .at(file);
  uint64_t length = 0;
  std::memcpy(&length, bytes, sizeof length);
  if (length > static_cast<uint64_t>(mostHeaderBytes))
    return noHeader(bytes, total,
                    "expects a safetensors header of at most " +
                        exactBytes(mostHeaderBytes) + ", but got " +
                        (length >> 63 ? std::to_string(length) + " bytes"
                                      : exactBytes(int64_t(length))))
        .at(file);
  if (length > static_cast<uint64_t>(total - 8))
    return noHeader(bytes, total,
                    "the safetensors header says it has " +
                        exactBytes(int64_t(length)) +
                        ", but the file ends after " + exactBytes(total - 8),
                    "the file is truncated: copy it again")
        .at(file);
  if (length == 0 || bytes[8] != '{')
    return noHeader(bytes, total,
                    "expects a safetensors header that starts with '{'")
        .at(file);
  return std::string_view(reinterpret_cast<const char *>(bytes + 8), length);
}

Status SafetensorsFile::readHeader(const uint8_t *bytes, int64_t total) {
  auto text = headerText(bytes, total, name);
  if (!text)
    return text.takeError();
  auto header = parseJson(*text, name);
  if (!header)
    return header.takeError();
  JsonCursor root(*header, name);
  auto size = root.objectSize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i) {
    const std::string &key = header->asObject()[i].name;
    if (key == "__metadata__") {
      auto map = readMetadata(root.member(i));
      if (!map)
        return map.takeError();
      strings = std::move(*map);
      continue;
    }
    auto info = readEntry(root.member(i), key);
    if (!info)
      return info.takeError();
    infos.push_back(std::move(*info));
  }
  // Empty tensors share their offset with the next one: the end breaks the tie.
  std::sort(infos.begin(), infos.end(),
            [](const TensorInfo &a, const TensorInfo &b) {
              return std::tie(a.begin, a.end, a.name) <
                     std::tie(b.begin, b.end, b.name);
            });
  int64_t headerEnd = 8 + static_cast<int64_t>(text->size());
  base = bytes + headerEnd;
  for (size_t i = 0; i < infos.size(); ++i)
    byName[infos[i].name] = i;
  return checkCover(infos, total - headerEnd, name);
}

//===----------------------------------------------------------------------===//
// File
//===----------------------------------------------------------------------===//

Expected<SafetensorsFile> SafetensorsFile::parse(const uint8_t *data,
                                                 int64_t bytes,
                                                 const std::string &name) {
  SafetensorsFile result;
  result.name = name;
  if (Status status = result.readHeader(data, bytes); !status)
    return status.takeError();
  return result;
}

Expected<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  auto result = parse(file->data(), file->size(), path);
  if (result)
    result->file = std::move(*file);
  return result;
}

const TensorInfo *SafetensorsFile::find(const std::string &name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &infos[found->second];
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

Status SafetensorsFile::readFloats(const TensorInfo &info, int64_t begin,
                                   int64_t count, float *out) const {
  int64_t elements = info.elements();
  if (begin < 0 || count < 0 || begin > elements || count > elements - begin)
    return inputError(
               "tensor " + inQuotes(info.name) + " has " +
               std::to_string(elements) + " elements, but got the range from " +
               std::to_string(begin) + " of length " + std::to_string(count))
        .at(name);
  const uint8_t *from = data(info) + begin * tensorTypeBits(info.type) / 8;
  switch (info.type) {
  case TensorType::F32:
    if (count)
      std::memcpy(out, from, static_cast<size_t>(count) * sizeof(float));
    return Status::success();
  case TensorType::F64:
    convert<double>(from, count, out,
                    [](double value) { return static_cast<float>(value); });
    return Status::success();
  case TensorType::F16:
    convert<uint16_t>(from, count, out, halfToFloat);
    return Status::success();
  case TensorType::BF16:
    convert<uint16_t>(from, count, out, bf16ToFloat);
    return Status::success();
  default:
    return inputError("tensor " + inQuotes(info.name) +
                      " expects dtype F16, BF16, F32 or F64, but got " +
                      tensorTypeName(info.type))
        .at(name);
  }
}

} // namespace weft
