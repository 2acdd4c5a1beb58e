//===- BlockShares.h - Digests that processes find together -----*- C++ -*-===//
//
// Each process has read some blocks of the same files. What they found goes
// from one to another as a text: a line for each file, the digests of its
// blocks with commas between them, nothing where a block was not read.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H
#define WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Of the blocks of a file; "" of one that was not read.
using BlockDigests = std::vector<std::string>;

std::string shareText(const std::vector<BlockDigests> &files);

struct JoinedShares {
  std::vector<BlockDigests> files;
  /// The number of the first file that is not the same for all processes.
  std::optional<size_t> different;
};

/// What the texts of all processes give together.
JoinedShares joinShares(const std::vector<std::string> &shares);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H
