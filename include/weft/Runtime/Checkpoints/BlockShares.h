//===- BlockShares.h - Digests that processes find together -----*- C++ -*-===//
//
// Each process has read some blocks of the same files. What they found goes
// from one to another as a text: a line for each file, the digests of its
// blocks with commas between them, nothing where a block was not read.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H
#define WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H

#include <string>
#include <vector>

namespace weft {

/// Of the blocks of a file; "" of one that was not read.
using BlockDigests = std::vector<std::string>;

std::string shareText(const std::vector<BlockDigests> &files);

/// The digests that the texts of all processes give together. A block for which
/// they differ gets one that no file has.
std::vector<BlockDigests> joinShares(const std::vector<std::string> &shares);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_BLOCKSHARES_H
