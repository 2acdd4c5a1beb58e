//===- CheckedFile.h - Ranges of a file, checked when read ------*- C++ -*-===//
//
// A file with a digest per block. Every block that a range touches is read as a
// whole, once, and its digest is computed from the bytes that are handed out. A
// block that the range covers is read straight into the caller's memory, any
// other into a buffer of one block. Files of one reader may share a buffer, so
// that only one block is in memory for any number of files. After a checked
// block has left the buffer, only the requested range is read again, and
// readRest() checks the block anew.
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_CHECKEDFILE_H
#define WEFT_FORMATS_CHECKEDFILE_H

#include "weft/Base/InputFile.h"
#include "weft/Formats/Digest.h"

namespace weft {

class CheckedFile;

/// The last block that one of the sharing files read.
struct BlockBuffer {
  std::unique_ptr<uint8_t[]> bytes;
  int64_t capacity = 0;
  const CheckedFile *file = nullptr; // whose block it is; null: nobody's
  int64_t block = -1;

  void reserve(int64_t size);
  /// Gives the memory back, until a block is read again.
  void drop() { *this = BlockBuffer(); }
};

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

  ~CheckedFile() override;

  /// Before anything is read.
  void share(std::shared_ptr<BlockBuffer> with) { buffer = std::move(with); }
  /// From now on only the ranges are read, unchecked. readRest() checks the
  /// blocks afterwards; it also finds a change of the file while ranges were
  /// read.
  void readRangesAlone();

  int64_t size() const override { return file->size(); }
  const std::string &path() const override { return file->path(); }
  /// A block with another digest is an input error that names it.
  Status read(int64_t offset, int64_t bytes, void *out) override;
  /// Reads the blocks that were not read yet, or not in one go. With `parts`
  /// readers of one file, reader `part` reads every parts-th block, from block
  /// `part` on.
  Status readRest(int64_t part = 0, int64_t parts = 1);
  /// The digests that the blocks have or must have; "" if not known yet.
  const std::vector<std::string> &blockDigests() const { return expected; }
  /// Of the whole file, all of which is read.
  Expected<FileDigest> digest();

private:
  int64_t blockBytes(int64_t block) const;
  /// Reads and checks a block; with null nothing is kept of it.
  Status readBlock(int64_t block, uint8_t *out);
  Status checkBlock(int64_t block, const std::string &digest);
  /// Reads a block into the buffer unless it is there.
  Status load(int64_t block);
  bool isLoaded(int64_t block) const {
    return buffer->file == this && buffer->block == block;
  }
  /// Bytes [at, at + bytes) of a block.
  Status readPart(int64_t block, int64_t at, int64_t bytes, uint8_t *out);

  std::unique_ptr<ByteSource> file;
  std::vector<std::string> expected; // an empty text: not known yet
  std::vector<bool> seen;  // checked with the bytes that were handed out
  std::vector<bool> again; // of which a range was read after that
  std::shared_ptr<BlockBuffer> buffer = std::make_shared<BlockBuffer>();
  bool rangesAlone = false;
};

} // namespace weft

#endif // WEFT_FORMATS_CHECKEDFILE_H
