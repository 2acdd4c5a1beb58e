//===- CheckpointShares.h - Distribution of checkpoint writes ---*- C++ -*-===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H
#define WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H

#include "weft/Runtime/Execute/StateSegments.h"

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

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H
