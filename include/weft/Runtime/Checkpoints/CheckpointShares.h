//===- CheckpointShares.h - Distribution of checkpoint writes ---*- C++ -*-===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H
#define WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H

#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Elements [begin, end) of a tensor, which the file of one rank has.
struct WrittenPiece {
  int64_t rank, begin, end;
};

/// The pieces of each tensor of `saved`, in order. Every element is in one
/// piece of a rank that holds it. Replicas are divided so that all ranks write
/// about as many bytes. The result depends only on the tensors and on the
/// number of ranks.
std::vector<std::vector<WrittenPiece>>
shareWrites(const std::vector<NamedTensor> &saved, int64_t ranks);

/// The arena range of a piece on its rank.
HeldRange placeOf(const NamedTensor &tensor, const WrittenPiece &piece);

//===- Shares of digests --------------------------------------------------===//

// Each process has read some blocks of the same files. Processes exchange the
// digests of these blocks as a text: one line per file with the digests of its
// blocks, each followed by a comma. The digest of an unread block is empty.

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

//===- Replicas -----------------------------------------------------------===//

/// The tensors of a rank, without gradients, and how many of them have
/// replicas. compareReplicas() can find a difference only in replicas.
struct ReplicaCount {
  int64_t all = 0;     // tensors
  int64_t shared = 0;  // tensors or slices that other ranks hold, too
  int64_t weights = 0; // the parameters among the shared tensors
  int64_t bytes = 0;   // of the shared tensors on a rank
};
ReplicaCount countReplicas(const WeftExecutable &executable, int64_t ranks,
                           int64_t rank);

/// Compares digests of replicas after `step`, without gradients. A whole tensor
/// is compared on all ranks, a slice on the ranks that hold it. All ranks call
/// it and get the same result: exit 7 with the name of the first tensor that
/// differs.
Status compareReplicas(const WeftContext &context, Consensus &consensus,
                       int64_t step);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H
