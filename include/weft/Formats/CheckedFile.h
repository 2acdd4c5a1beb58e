//===- CheckedFile.h - Ranges of a file, checked when read ------*- C++ -*-===//
//
// A file with a digest per block. Every block that a range touches is read as a
// whole, once, and its digest taken from the bytes that are handed out:
// straight in the caller's memory where the range covers the block, else in a
// buffer of one block. Files of one reader may share a buffer, so that however
// many there are, one block is in memory; of a block that was checked and has
// left it, only the range is read again, and readRest() checks the block anew.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_CHECKEDFILE_H
#define WEFT_FORMATS_CHECKEDFILE_H

#include "weft/Base/InputFile.h"
#include "weft/Formats/Digest.h"

namespace weft {

class CheckedFile;

/// The block that was read last of the files that share it.
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
  /// From now on ranges are read alone and are not checked. Whoever wants to
  /// know that the file is the right one checks its blocks afterwards, a change
  /// while ranges were read included (readRest()).
  void readRangesAlone();

  int64_t size() const override { return file->size(); }
  const std::string &path() const override { return file->path(); }
  /// A block with another digest is an input error that names it.
  Status read(int64_t offset, int64_t bytes, void *out) override;
  /// Reads the blocks that were not read yet, or not all at once, or of `parts`
  /// readers of one file those of number `part`: every parts-th, from block
  /// `part` on.
  Status readRest(int64_t part = 0, int64_t parts = 1);
  /// The digests that the blocks have or must have, "" of those that nobody
  /// knows yet.
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
