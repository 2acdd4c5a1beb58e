//===- GgufValues.cpp - Typed metadata of a GGUF file ---------------------===//

#include "weft/Base/Text.h"
#include "weft/Formats/Gguf.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace weft {

namespace {
struct ValueTypeRow {
  const char *name;
  int64_t bytes;
};
} // namespace

/// By number.
static const ValueTypeRow kValueTypes[] = {
    {"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2},    {"u32", 4},
    {"i32", 4}, {"f32", 4}, {"bool", 1}, {"string", 0}, {"array", 0},
    {"u64", 8}, {"i64", 8}, {"f64", 8},
};

const char *ggufTypeName(GgufValueType type) {
  return kValueTypes[static_cast<size_t>(type)].name;
}

int64_t ggufTypeBytes(GgufValueType type) {
  return kValueTypes[static_cast<size_t>(type)].bytes;
}

Error GgufFile::valueError(const GgufEntry &entry,
                           const std::string &message) const {
  return inputError("key " + inQuotes(entry.key) + " at byte " +
                    std::to_string(entry.begin) + ": " + message)
      .at(path());
}

Expected<std::string> GgufFile::rawValue(const GgufEntry &entry) const {
  std::string raw(static_cast<size_t>(entry.end - entry.begin), '\0');
  if (Status status =
          source->read(entry.begin, entry.end - entry.begin, raw.data());
      !status)
    return status.takeError();
  return raw;
}

//===----------------------------------------------------------------------===//
// Numbers in bytes
//===----------------------------------------------------------------------===//

static bool isInteger(GgufValueType type) {
  return ggufTypeBytes(type) > 0 && type != GgufValueType::F32 &&
         type != GgufValueType::F64 && type != GgufValueType::Bool;
}

template <typename T> static T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Nothing if the integer has more than 63 bits.
static std::optional<int64_t> loadInteger(GgufValueType type,
                                          const char *from) {
  switch (type) {
  case GgufValueType::U8:
    return load<uint8_t>(from);
  case GgufValueType::I8:
    return load<int8_t>(from);
  case GgufValueType::U16:
    return load<uint16_t>(from);
  case GgufValueType::I16:
    return load<int16_t>(from);
  case GgufValueType::U32:
    return load<uint32_t>(from);
  case GgufValueType::I32:
    return load<int32_t>(from);
  case GgufValueType::I64:
    return load<int64_t>(from);
  default:
    break;
  }
  const auto value = load<uint64_t>(from);
  if (value > static_cast<uint64_t>(INT64_MAX))
    return std::nullopt;
  return static_cast<int64_t>(value);
}

double widenDecimal(float value) {
  char text[32];
  char *end = std::to_chars(text, text + sizeof text - 1, value).ptr;
  *end = '\0';
  return std::strtod(text, nullptr);
}

//===----------------------------------------------------------------------===//
// Single values
//===----------------------------------------------------------------------===//

Expected<std::optional<int64_t>> GgufFile::integer(std::string_view key) const {
  const GgufEntry *entry = findEntry(key);
  if (!entry)
    return std::optional<int64_t>();
  if (!isInteger(entry->type))
    return valueError(*entry, std::string("expects an integer, but got ") +
                                  ggufTypeName(entry->type));
  auto raw = rawValue(*entry);
  if (!raw)
    return raw.takeError();
  std::optional<int64_t> value = loadInteger(entry->type, raw->data());
  if (!value)
    return valueError(*entry, "expects an integer of at most 63 bits");
  return value;
}

Expected<std::optional<double>> GgufFile::number(std::string_view key) const {
  const GgufEntry *entry = findEntry(key);
  if (!entry)
    return std::optional<double>();
  if (isInteger(entry->type)) {
    auto value = integer(key);
    if (!value)
      return value.takeError();
    return std::optional<double>(static_cast<double>(**value));
  }
  if (entry->type != GgufValueType::F32 && entry->type != GgufValueType::F64)
    return valueError(*entry, std::string("expects a number, but got ") +
                                  ggufTypeName(entry->type));
  auto raw = rawValue(*entry);
  if (!raw)
    return raw.takeError();
  const double value = entry->type == GgufValueType::F64
                           ? load<double>(raw->data())
                           : widenDecimal(load<float>(raw->data()));
  if (!std::isfinite(value))
    return valueError(*entry, "expects a finite number");
  return std::optional<double>(value);
}

Expected<std::optional<bool>> GgufFile::boolean(std::string_view key) const {
  const GgufEntry *entry = findEntry(key);
  if (!entry)
    return std::optional<bool>();
  if (entry->type != GgufValueType::Bool)
    return valueError(*entry, std::string("expects a bool, but got ") +
                                  ggufTypeName(entry->type));
  auto raw = rawValue(*entry);
  if (!raw)
    return raw.takeError();
  return std::optional<bool>((*raw)[0] != 0);
}

/// The text whose length is at `at`; the file was checked when it was opened,
/// but it may have changed since.
static std::optional<std::string> textAt(const std::string &raw, size_t &at) {
  if (raw.size() - at < 8)
    return std::nullopt;
  const auto length = load<uint64_t>(raw.data() + at);
  at += 8;
  if (length > raw.size() - at)
    return std::nullopt;
  std::string text = raw.substr(at, length);
  at += length;
  return text;
}

static constexpr char kChanged[] =
    "expects the value that the file had when it was opened";

Expected<std::optional<std::string>>
GgufFile::text(std::string_view key) const {
  const GgufEntry *entry = findEntry(key);
  if (!entry)
    return std::optional<std::string>();
  if (entry->type != GgufValueType::String)
    return valueError(*entry, std::string("expects a string, but got ") +
                                  ggufTypeName(entry->type));
  auto raw = rawValue(*entry);
  if (!raw)
    return raw.takeError();
  size_t at = 0;
  std::optional<std::string> text = textAt(*raw, at);
  if (!text)
    return valueError(*entry, kChanged);
  return text;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Bytes before the elements of an array.
static constexpr size_t kArrayHead = 12;

static std::string kindOf(const GgufEntry &entry) {
  return entry.isArray()
             ? std::string("an array of ") + ggufTypeName(entry.elementType)
             : std::string(ggufTypeName(entry.type));
}

Expected<std::optional<std::vector<std::string>>>
GgufFile::texts(std::string_view key) const {
  std::vector<std::string> result;
  const GgufEntry *entry = findEntry(key);
  if (!entry)
    return std::optional<std::vector<std::string>>();
  if (!entry->isArray() || entry->elementType != GgufValueType::String)
    return valueError(*entry,
                      "expects an array of strings, but got " + kindOf(*entry));
  auto raw = rawValue(*entry);
  if (!raw)
    return raw.takeError();
  size_t at = kArrayHead;
  result.reserve(static_cast<size_t>(entry->count));
  for (int64_t i = 0; i < entry->count; ++i) {
    std::optional<std::string> text = textAt(*raw, at);
    if (!text)
      return valueError(*entry, kChanged);
    result.push_back(std::move(*text));
  }
  return std::optional(std::move(result));
}

Expected<std::optional<std::vector<int64_t>>>
GgufFile::integers(std::string_view key) const {
  const GgufEntry *entry = findEntry(key);
  if (!entry)
    return std::optional<std::vector<int64_t>>();
  if (!entry->isArray() || !isInteger(entry->elementType))
    return valueError(*entry, "expects an array of integers, but got " +
                                  kindOf(*entry));
  auto raw = rawValue(*entry);
  if (!raw)
    return raw.takeError();
  std::vector<int64_t> result;
  for (int64_t i = 0; i < entry->count; ++i) {
    auto value = loadInteger(entry->elementType,
                             raw->data() + kArrayHead +
                                 i * ggufTypeBytes(entry->elementType));
    if (!value)
      return valueError(*entry, "expects integers of at most 63 bits");
    result.push_back(*value);
  }
  return std::optional(std::move(result));
}

Expected<std::optional<std::vector<bool>>>
GgufFile::booleans(std::string_view key) const {
  const GgufEntry *entry = findEntry(key);
  if (!entry)
    return std::optional<std::vector<bool>>();
  if (!entry->isArray() || entry->elementType != GgufValueType::Bool)
    return valueError(*entry,
                      "expects an array of bool, but got " + kindOf(*entry));
  auto raw = rawValue(*entry);
  if (!raw)
    return raw.takeError();
  std::vector<bool> result;
  for (int64_t i = 0; i < entry->count; ++i)
    result.push_back((*raw)[kArrayHead + size_t(i)] != 0);
  return std::optional(std::move(result));
}

Expected<std::optional<std::vector<float>>>
GgufFile::floats(std::string_view key) const {
  const GgufEntry *entry = findEntry(key);
  if (!entry)
    return std::optional<std::vector<float>>();
  if (!entry->isArray() || entry->elementType != GgufValueType::F32)
    return valueError(*entry,
                      "expects an array of f32, but got " + kindOf(*entry));
  auto raw = rawValue(*entry);
  if (!raw)
    return raw.takeError();
  std::vector<float> result(static_cast<size_t>(entry->count));
  if (!result.empty())
    std::memcpy(result.data(), raw->data() + kArrayHead,
                result.size() * sizeof(float));
  return std::optional(std::move(result));
}

} // namespace weft
