//===- Gguf.h - Reader of GGUF files ----------------------------*- C++ -*-===//
//
// A GGUF file is a header, metadata (typed values by key), descriptions of the
// tensors, and their bytes at aligned offsets. The reader takes versions 2 and
// 3 in little endian. It checks every size and offset against the file before
// it hands out a byte. Keys and names are in memory; values and tensors stay in
// the file until they are asked for.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_GGUF_H
#define WEFT_FORMATS_GGUF_H

#include "weft/Base/InputFile.h"
#include "weft/Formats/GgufBlocks.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Types of metadata values, by their number in a file.
enum class GgufValueType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64,
};

/// "u32", "string", ...
const char *ggufTypeName(GgufValueType type);
/// Bytes of a number or a bool; 0 for strings and arrays.
int64_t ggufTypeBytes(GgufValueType type);

/// One value of the metadata.
struct GgufEntry {
  std::string key;
  GgufValueType type = GgufValueType::U8;
  /// Of an array: the type and the number of its elements.
  GgufValueType elementType = GgufValueType::U8;
  int64_t count = 1;
  /// Bytes [begin, end) of the file: the value, without its type. An array
  /// begins with the type and the number of its elements.
  int64_t begin = 0, end = 0;

  bool isArray() const { return type == GgufValueType::Array; }
};

/// One tensor of a file.
struct GgufTensor {
  std::string name;
  const GgmlTypeRow *type = nullptr;
  /// Outermost dimension first, which is the reverse of the file's order.
  std::vector<int64_t> shape;
  /// Bytes [begin, end) of the file.
  int64_t begin = 0, end = 0;

  /// Cannot overflow once the file is open.
  int64_t elements() const;
};

/// The double with the shortest decimal of an f32, which metadata has rounded
/// from the decimal of a configuration.
double widenDecimal(float value);

class GgufFile {
public:
  static Expected<GgufFile> open(const std::string &path);
  static Expected<GgufFile> open(std::unique_ptr<ByteSource> source);

  uint32_t version() const { return versionNumber; }
  /// In the order of the file.
  const std::vector<GgufEntry> &entries() const { return values; }
  const std::vector<GgufTensor> &tensors() const { return infos; }
  const GgufEntry *findEntry(std::string_view key) const;
  const GgufTensor *find(std::string_view name) const;
  const std::string &path() const { return source->path(); }
  ByteSource &bytes() const { return *source; }

  /// Values by key; nothing if the key is absent. A value of another type is an
  /// error that names the key.
  Expected<std::optional<int64_t>> integer(std::string_view key) const;
  /// Integers too. An f32 becomes the double with the same shortest decimal:
  /// 1e-5, not 9.99999975e-06.
  Expected<std::optional<double>> number(std::string_view key) const;
  Expected<std::optional<bool>> boolean(std::string_view key) const;
  Expected<std::optional<std::string>> text(std::string_view key) const;
  Expected<std::optional<std::vector<std::string>>>
  texts(std::string_view key) const;
  Expected<std::optional<std::vector<int64_t>>>
  integers(std::string_view key) const;
  Expected<std::optional<std::vector<bool>>>
  booleans(std::string_view key) const;
  Expected<std::optional<std::vector<float>>>
  floats(std::string_view key) const;
  /// The bytes of a value: [entry.begin, entry.end).
  Expected<std::string> rawValue(const GgufEntry &entry) const;
  /// An error at a value: "key 'K' at byte N: MESSAGE".
  Error valueError(const GgufEntry &entry, const std::string &message) const;

  /// Elements [begin, begin + count) of a tensor as f32. A type that weft does
  /// not read is an error.
  Status readFloats(const GgufTensor &tensor, int64_t begin, int64_t count,
                    float *out) const;

private:
  std::unique_ptr<ByteSource> source;
  uint32_t versionNumber = 0;
  std::vector<GgufEntry> values;
  std::vector<GgufTensor> infos;
  std::map<std::string, size_t, std::less<>> entriesByKey, tensorsByName;
};

} // namespace weft

#endif // WEFT_FORMATS_GGUF_H
