//===- Safetensors.h - Reader and writer of .safetensors --------*- C++ -*-===//
//
// A file is an 8-byte little-endian header length, a JSON header, and the bytes
// of all tensors without holes. The reader checks every rule of the header
// before it hands out a byte, and reads tensors into the caller's memory; the
// writer streams one tensor after the other.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_SAFETENSORS_H
#define WEFT_FORMATS_SAFETENSORS_H

#include "weft/Base/OutputFile.h"
#include "weft/Formats/CheckedFile.h"
#include "weft/Formats/Json.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace weft {

/// Element types of the format, in its own order.
enum class TensorType {
  Bool,
  F4,
  F6E2M3,
  F6E3M2,
  U8,
  I8,
  F8E5M2,
  F8E4M3,
  F8E8M0,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64,
};

/// "F32", "BF16", ...: the spelling in the file.
const char *tensorTypeName(TensorType type);
std::optional<TensorType> parseTensorType(std::string_view name);
int tensorTypeBits(TensorType type);

/// The number of elements of `shape`, or nothing if it overflows 63 bits or a
/// dimension is negative.
std::optional<int64_t> countElements(const std::vector<int64_t> &shape);
/// The bytes of a tensor, or nothing if they overflow 63 bits or end inside a
/// byte (elements of 4 or 6 bits).
std::optional<int64_t> countBytes(TensorType type,
                                  const std::vector<int64_t> &shape);
/// "[2, 3]".
std::string shapeText(const std::vector<int64_t> &shape);

/// One tensor of a file. Offsets are bytes from the start of the data part.
struct TensorInfo {
  std::string name;
  TensorType type = TensorType::F32;
  std::vector<int64_t> shape;
  int64_t begin = 0;
  int64_t end = 0;

  int64_t bytes() const { return end - begin; }
  /// Cannot overflow once the file is open.
  int64_t elements() const { return *countElements(shape); }
};

/// Reads the tensors of a file by their description.
class TensorReader {
public:
  virtual ~TensorReader() = default;

  virtual const std::string &path() const = 0;
  /// Bytes [begin, begin + bytes) of a tensor of the type `info.type`.
  virtual Status read(const TensorInfo &info, int64_t begin, int64_t bytes,
                      void *out) const = 0;
  Status read(const TensorInfo &info, void *out) const {
    return read(info, 0, info.bytes(), out);
  }
  /// Elements [begin, begin + count) as f32.
  virtual Status readFloats(const TensorInfo &info, int64_t begin,
                            int64_t count, float *out) const = 0;
};

class SafetensorsFile : public TensorReader {
public:
  static Expected<SafetensorsFile> open(const std::string &path);
  static Expected<SafetensorsFile> open(std::unique_ptr<ByteSource> source);

  /// In the order of their bytes in the file.
  const std::vector<TensorInfo> &tensors() const { return infos; }
  const TensorInfo *find(const std::string &name) const;
  /// The `__metadata__` strings in file order.
  const StringMap &metadata() const { return strings; }
  const std::string &path() const override { return source->path(); }
  ByteSource &bytes() const { return *source; }

  /// Where the bytes of a tensor begin in the file. They are little endian, row
  /// major, and not always aligned for its type.
  int64_t offset(const TensorInfo &info) const { return base + info.begin; }
  /// Bytes [begin, begin + bytes) of a tensor.
  Status read(const TensorInfo &info, int64_t begin, int64_t bytes,
              void *out) const override;
  using TensorReader::read;
  /// Elements [begin, begin + count) of an F16, BF16, F32 or F64 tensor as f32
  /// (F64 rounds to nearest even).
  Status readFloats(const TensorInfo &info, int64_t begin, int64_t count,
                    float *out) const override;
  Status readFloats(const TensorInfo &info, float *out) const {
    return readFloats(info, 0, info.elements(), out);
  }

private:
  Status readHeader();
  Status readEntries(std::string_view text);
  Status outOfRange(const TensorInfo &info, const char *unit, int64_t size,
                    int64_t begin, int64_t count) const;

  std::unique_ptr<ByteSource> source;
  int64_t base = 0; // where the tensors begin
  std::vector<TensorInfo> infos;
  std::map<std::string, size_t> byName;
  StringMap strings;
};

/// A tensor to be written.
struct TensorSpec {
  std::string name;
  TensorType type = TensorType::F32;
  std::vector<int64_t> shape;
};

/// Writes a file front to back: all specs first, then the bytes of each tensor
/// in that order. Tensors keep the given order and the header is padded with
/// spaces to 8 bytes, so the bytes depend on the arguments alone.
class SafetensorsWriter {
public:
  static Expected<SafetensorsWriter> create(const std::string &path,
                                            std::vector<TensorSpec> specs,
                                            const StringMap &metadata = {});

  /// The next bytes; a tensor may come in several pieces.
  Status write(const void *data, int64_t bytes);
  /// The whole next tensor; its name and size must be the ones announced.
  Status writeTensor(const std::string &name, const void *data, int64_t bytes);
  /// Checks that every announced byte came, flushes to the disk and renames.
  Status finish(IfTaken ifTaken = IfTaken::Replace);

  /// Of the whole file, known after finish() without reading it again.
  const FileDigest &digest() const { return result; }

private:
  SafetensorsWriter() = default;
  Status put(std::string_view bytes);

  OutputFile out;
  BlockDigest running;
  FileDigest result;
  std::vector<TensorSpec> specs;
  std::vector<int64_t> sizes;
  size_t next = 0;  // tensor being written
  int64_t done = 0; // its bytes so far
  int64_t left = 0; // bytes of all tensors still to come
};

/// Writes a file whose tensors have one entry for each row, along their first
/// dimension, some rows of a tensor at a time. Memory does not grow with the
/// rows.
class SafetensorsRowWriter {
public:
  /// Tensors of `specs` have at least one dimension and equally many rows. The
  /// path is no device and no pipe: rows of several tensors are written at
  /// their places.
  static Expected<SafetensorsRowWriter> create(const std::string &path,
                                               std::vector<TensorSpec> specs,
                                               const StringMap &metadata = {});

  /// The next `rows` rows of tensor `index` of the specs.
  Status write(size_t index, int64_t rows, const void *data);
  /// Checks that every announced row came, flushes to the disk and renames.
  Status finish();

private:
  struct Column {
    std::string name;
    int64_t begin = 0; // in the file
    int64_t rowBytes = 0;
    int64_t rows = 0; // to come
    int64_t done = 0;
  };

  SafetensorsRowWriter() = default;

  OutputFile out;
  std::vector<Column> columns;
};

} // namespace weft

#endif // WEFT_FORMATS_SAFETENSORS_H
