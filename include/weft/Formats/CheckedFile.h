//===- CheckedFile.h - Ranges of a file, checked when read ------*- C++ -*-===//
//
// A file with a digest per block. Every block that a range touches is read as a
// whole, once for ranges that ascend, and its digest taken from the bytes that
// are handed out: straight in the caller's memory where the range covers the
// block, else in a buffer of one block.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_CHECKEDFILE_H
#define WEFT_FORMATS_CHECKEDFILE_H

#include "weft/Formats/Digest.h"
#include "weft/Formats/InputFile.h"

namespace weft {

class CheckedFile : public ByteSource {
public:
  /// Blocks get the digests they have when they are read first.
  explicit CheckedFile(std::unique_ptr<ByteSource> file);
  /// Blocks must have the digests of `expected`, which is of this size; see
  /// open().
  CheckedFile(std::unique_ptr<ByteSource> file, FileDigest expected);
  /// A file that must have the size and the digests of `expected`.
  static Expected<std::unique_ptr<CheckedFile>> open(const std::string &path,
                                                     FileDigest expected);

  int64_t size() const override { return file->size(); }
  const std::string &path() const override { return file->path(); }
  /// A block with another digest is an input error that names it.
  Status read(int64_t offset, int64_t bytes, void *out) override;
  /// Reads the blocks that were not read yet.
  Status readRest();
  /// Of the whole file, all of which is read.
  Expected<FileDigest> digest();

private:
  int64_t blockBytes(int64_t block) const;
  Status readBlock(int64_t block, uint8_t *out);
  Status checkBlock(int64_t block, const std::string &digest);
  /// Reads a block into the buffer unless it is there.
  Status load(int64_t block);

  std::unique_ptr<ByteSource> file;
  std::vector<std::string> expected; // an empty text: not known yet
  std::vector<bool> seen;
  std::unique_ptr<uint8_t[]> buffer;
  int64_t loaded = -1; // the block in `buffer`
};

} // namespace weft

#endif // WEFT_FORMATS_CHECKEDFILE_H
