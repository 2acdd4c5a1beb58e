//===- CheckpointShares.h - Who writes what of a checkpoint -----*- C++ -*-===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H
#define WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H

#include "weft/Runtime/Execute/StateSegments.h"

namespace weft {

/// Elements [begin, end) of a tensor, which the file of one rank has.
struct WrittenPiece {
  int64_t rank, begin, end;
};

/// The pieces of each tensor of `saved`, in order. Every element is in one
/// piece, of a rank that holds it; what several ranks hold is divided so that
/// all write about as many bytes. A function of the tensors and of the number
/// of ranks alone.
std::vector<std::vector<WrittenPiece>>
shareWrites(const std::vector<NamedTensor> &saved, int64_t ranks);

/// Where a piece lies in the memory of its rank.
HeldRange placeOf(const NamedTensor &tensor, const WrittenPiece &piece);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSHARES_H
