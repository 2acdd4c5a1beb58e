//===- GgufScanner.cpp - The header of a GGUF file ------------------------===//

#include "GgufScanner.h"

#include "weft/Base/Text.h"

#include <algorithm>

namespace weft {

/// Limits that no real file comes near.
static constexpr uint64_t kMostNameBytes = 65535;
static constexpr int kMostArrayDepth = 8;
static constexpr uint32_t kMostDimensions = 4;

void GgufScanner::fail(int64_t place, const std::string &message,
                       const char *hint) {
  if (!ok())
    return;
  Error error = inputError("byte " + std::to_string(place) + ": " + message);
  error.at(source.path()).hint(hint);
  status = std::move(error);
}

const uint8_t *GgufScanner::view(int64_t bytes, const char *what) {
  if (!ok())
    return nullptr;
  if (bytes > left()) {
    fail(at,
         "expects " + exactBytes(bytes) + " of " + what +
             ", but the file ends at byte " + std::to_string(source.size()),
         "the file is truncated or damaged: copy it again");
    return nullptr;
  }
  auto found = window.view(source, at, bytes);
  if (!found) {
    status = found.takeError();
    return nullptr;
  }
  at += bytes;
  return *found;
}

void GgufScanner::skip(int64_t bytes, const char *what) {
  if (bytes > left())
    (void)view(bytes, what);
  else if (ok())
    at += bytes;
}

bool GgufScanner::mayFollow(uint64_t count, int64_t least, const char *what) {
  if (!ok())
    return false;
  if (count <= static_cast<uint64_t>(left() / least))
    return true;
  fail(at,
       "expects at most " + std::to_string(left() / least) + " " + what +
           " in the rest of the file, but got " + std::to_string(count),
       "the file is truncated or damaged: copy it again");
  return false;
}

uint32_t GgufScanner::takeVersion() {
  const int64_t place = at;
  const auto version = take<uint32_t>("the version");
  if (ok() && version != 0 && (version & 0xffff) == 0)
    fail(place, "does not support GGUF files in big endian yet",
         "convert the model again for little endian");
  else if (ok() && version != 2 && version != 3)
    fail(place,
         "expects GGUF version 2 or 3, but got " + std::to_string(version));
  return version;
}

/// A key or the name of a tensor.
std::string GgufScanner::takeName(const char *what) {
  const int64_t place = at;
  const auto length = take<uint64_t>(what);
  if (ok() && (length == 0 || length > kMostNameBytes)) {
    fail(place, std::string("expects ") + what +
                    " of 1 to 65535 bytes, but got " + std::to_string(length));
    return "";
  }
  const uint8_t *bytes = view(static_cast<int64_t>(length), what);
  return bytes ? std::string(reinterpret_cast<const char *>(bytes), length)
               : "";
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

void GgufScanner::skipText(const char *what) {
  const auto length = take<uint64_t>(what);
  // Views without gaps let the window read ahead.
  if (mayFollow(length, 1, "bytes of text"))
    (void)view(static_cast<int64_t>(length), what);
}

void GgufScanner::skipBools(int64_t count, const char *what) {
  while (ok() && count > 0) {
    const int64_t place = at, part = std::min<int64_t>(count, 1 << 16);
    const uint8_t *bytes = view(part, what);
    if (!bytes)
      return;
    for (int64_t i = 0; i < part; ++i)
      if (bytes[i] > 1)
        return fail(place + i, "expects a bool of 0 or 1, but got " +
                                   std::to_string(bytes[i]));
    count -= part;
  }
}

GgufValueType GgufScanner::takeType(const char *what) {
  const int64_t place = at;
  const auto number = take<uint32_t>(what);
  if (number > static_cast<uint32_t>(GgufValueType::F64)) {
    fail(place, std::string("expects a ") + what + " from 0 to 12, but got " +
                    std::to_string(number));
    return GgufValueType::U8;
  }
  return static_cast<GgufValueType>(number);
}

void GgufScanner::skipValue(GgufValueType type, const char *what) {
  if (type == GgufValueType::String)
    skipText(what);
  else if (type == GgufValueType::Bool)
    skipBools(1, what);
  else
    skip(ggufTypeBytes(type), what);
}

/// Checks an array down to its innermost elements.
void GgufScanner::takeArray(GgufEntry &entry, int depth) {
  const int64_t place = at;
  entry.elementType = takeType("type of array elements");
  const auto count = take<uint64_t>("an array's length");
  const bool isNested = entry.elementType == GgufValueType::Array;
  const int64_t width = ggufTypeBytes(entry.elementType);
  // A string has a length, an array a type and a length.
  const int64_t least = isNested ? 12 : width > 0 ? width : 8;
  if (!mayFollow(count, least, "array elements"))
    return;
  entry.count = static_cast<int64_t>(count);
  if (isNested && depth == kMostArrayDepth)
    return fail(place, "expects arrays nested to a depth of at most 8");
  if (entry.elementType == GgufValueType::Bool)
    return skipBools(entry.count, "an array of bools");
  if (width > 0)
    return skip(entry.count * width, "an array");
  for (int64_t i = 0; i < entry.count && ok(); ++i) {
    GgufEntry element;
    if (isNested)
      takeArray(element, depth + 1);
    else
      skipText("an array of strings");
  }
}

GgufEntry GgufScanner::takeEntry() {
  GgufEntry entry;
  entry.key = takeName("a key");
  entry.type = takeType("type of a value");
  entry.begin = at;
  if (entry.isArray())
    takeArray(entry, /*depth=*/1);
  else
    skipValue(entry.type, "a value");
  entry.end = at;
  return entry;
}

std::vector<GgufEntry> GgufScanner::takeEntries(uint64_t count) {
  std::vector<GgufEntry> entries;
  // A key of one byte, a type and a value of one byte.
  if (!mayFollow(count, 14, "values of metadata"))
    return entries;
  for (uint64_t i = 0; i < count && ok(); ++i)
    entries.push_back(takeEntry());
  return entries;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

void GgufScanner::takeShape(GgufTensor &tensor) {
  int64_t place = at;
  const auto dims = take<uint32_t>("a number of dimensions");
  if (dims > kMostDimensions)
    return fail(place, "tensor " + inQuotes(tensor.name) +
                           ": expects at most 4 dimensions, but got " +
                           std::to_string(dims));
  int64_t elements = 1;
  for (uint32_t i = 0; i < dims && ok(); ++i) {
    place = at;
    const auto size = take<uint64_t>("a dimension");
    if (ok() && (size == 0 || size > uint64_t(INT64_MAX) ||
                 __builtin_mul_overflow(elements, int64_t(size), &elements)))
      return fail(place,
                  "tensor " + inQuotes(tensor.name) +
                      ": expects dimensions of at least 1 with a product "
                      "of at most 63 bits, but got " +
                      std::to_string(size));
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(size));
  }
}

GgufTensor GgufScanner::takeTensor() {
  GgufTensor tensor;
  tensor.name = takeName("the name of a tensor");
  takeShape(tensor);
  int64_t place = at;
  const auto number = take<uint32_t>("the type of a tensor");
  tensor.type = findGgmlType(number);
  if (!ok())
    return tensor;
  if (!tensor.type) {
    fail(place, "tensor " + inQuotes(tensor.name) +
                    ": expects a known type, but got number " +
                    std::to_string(number));
    return tensor;
  }
  const int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  int64_t bytes = 0;
  if (row % tensor.type->blockElements != 0)
    fail(place, "tensor " + inQuotes(tensor.name) +
                    ": expects rows of a "
                    "multiple of " +
                    std::to_string(tensor.type->blockElements) +
                    " elements for type " + tensor.type->name + ", but got " +
                    std::to_string(row));
  else if (__builtin_mul_overflow(tensor.elements() /
                                      tensor.type->blockElements,
                                  tensor.type->blockBytes, &bytes))
    fail(place, "tensor " + inQuotes(tensor.name) +
                    ": expects a size in bytes of at most 63 bits");
  place = at;
  const auto offset = take<uint64_t>("the offset of a tensor");
  if (!ok())
    return tensor;
  if (offset > uint64_t(source.size()) ||
      bytes > source.size() - int64_t(offset))
    fail(place,
         "tensor " + inQuotes(tensor.name) + ": expects " + exactBytes(bytes) +
             " at offset " + std::to_string(offset) + ", but the file has " +
             exactBytes(source.size()),
         "the file is truncated or damaged: copy it again");
  else {
    tensor.begin = static_cast<int64_t>(offset);
    tensor.end = tensor.begin + bytes;
  }
  return tensor;
}

std::vector<GgufTensor> GgufScanner::takeTensors(uint64_t count) {
  std::vector<GgufTensor> tensors;
  // A name of one byte, no dimensions, a type and an offset.
  if (!mayFollow(count, 25, "tensors"))
    return tensors;
  for (uint64_t i = 0; i < count && ok(); ++i)
    tensors.push_back(takeTensor());
  return tensors;
}

} // namespace weft
