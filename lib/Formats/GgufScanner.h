//===- GgufScanner.h - The header of a GGUF file ----------------*- C++ -*-===//
//
// Reads a header front to back. The first error stays; all later reads give 0.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FORMATS_GGUFSCANNER_H
#define WEFT_LIB_FORMATS_GGUFSCANNER_H

#include "weft/Formats/Gguf.h"

#include <cstring>

namespace weft {

class GgufScanner {
public:
  explicit GgufScanner(ByteSource &source) : source(source) {}

  /// The number behind "GGUF".
  uint32_t takeVersion();
  std::vector<GgufEntry> takeEntries(uint64_t count);
  /// Their offsets count from the start of the data.
  std::vector<GgufTensor> takeTensors(uint64_t count);

  /// The next number, a part of `what`.
  template <typename T> T take(const char *what) {
    T value = 0;
    if (const uint8_t *bytes = view(sizeof value, what))
      std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  bool ok() const { return status.ok(); }
  int64_t position() const { return at; }
  Status finish() { return std::move(status); }
  /// Keeps the first error, at byte `place`.
  void fail(int64_t place, const std::string &message, const char *hint = "");

private:
  int64_t left() const { return source.size() - at; }
  const uint8_t *view(int64_t bytes, const char *what);
  void skip(int64_t bytes, const char *what);
  /// Fails unless `count` elements of at least `least` bytes may follow.
  bool mayFollow(uint64_t count, int64_t least, const char *what);
  std::string takeName(const char *what);
  void skipText(const char *what);
  void skipBools(int64_t count, const char *what);
  GgufValueType takeType(const char *what);
  GgufEntry takeEntry();
  void skipValue(GgufValueType type, const char *what);
  void takeArray(GgufEntry &entry, int depth);
  GgufTensor takeTensor();
  void takeShape(GgufTensor &tensor);

  ByteSource &source;
  ByteWindow window;
  int64_t at = 0;
  Status status;
};

} // namespace weft

#endif // WEFT_LIB_FORMATS_GGUFSCANNER_H
