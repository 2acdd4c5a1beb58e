//===- MappedFile.h - A whole file, read-only, in memory --------*- C++ -*-===//
//
// Maps a regular file. The file must not be cut while it is mapped.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_MAPPEDFILE_H
#define WEFT_FORMATS_MAPPEDFILE_H

#include "weft/Formats/Error.h"

#include <cstdint>

namespace weft {

class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// A missing file, a directory or anything else that is no regular file is
  /// an input error. An empty file gives size() == 0.
  static Expected<MappedFile> open(const std::string &path);

  const uint8_t *data() const { return bytes; }
  int64_t size() const { return length; }
  const std::string &path() const { return name; }

private:
  const uint8_t *bytes = nullptr;
  int64_t length = 0;
  std::string name;
};

} // namespace weft

#endif // WEFT_FORMATS_MAPPEDFILE_H
