//===- FileKind.h - Kinds of files that weft does not read ------*- C++ -*-===//

#ifndef WEFT_FORMATS_FILEKIND_H
#define WEFT_FORMATS_FILEKIND_H

#include <cstdint>
#include <string>

namespace weft {

/// A kind of file that people hand over by mistake.
struct FileKind {
  const char *name = ""; // "a PyTorch pickle"; "" if nothing is known of it
  const char *hint = ""; // how to get what weft reads
  bool isText = false;   // may well be meant as text to train on
  bool isSafetensors = false;
  bool isTorch = false;

  bool isKnown() const { return *name != 0; }
};

/// The kind that the first bytes of a file of `wholeSize` bytes indicate; 4 KiB
/// of them are enough.
FileKind guessFileKind(const uint8_t *bytes, int64_t size, int64_t wholeSize);
/// The same of a file on disk; unknown if it cannot be read.
FileKind guessFileKind(const std::string &path);

} // namespace weft

#endif // WEFT_FORMATS_FILEKIND_H
