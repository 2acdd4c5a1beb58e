//===- BlockShares.h - Block digests shared by processes --------*- C++ -*-===//
//
// Each process has read some blocks of the same files. Processes exchange the
// digests of these blocks as a text: one line per file with the digests of its
// blocks, each followed by a comma. The digest of an unread block is empty.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H
#define WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The digests of the blocks of a file; "" for a block that was not read.
using BlockDigests = std::vector<std::string>;

std::string shareText(const std::vector<BlockDigests> &files);

struct JoinedShares {
  std::vector<BlockDigests> files;
  /// The index of the first file whose digests differ between processes.
  std::optional<size_t> different;
};

/// Merges the texts of all processes.
JoinedShares joinShares(const std::vector<std::string> &shares);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H
