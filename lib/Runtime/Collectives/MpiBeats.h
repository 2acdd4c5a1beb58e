//===- MpiBeats.h - Signs of life of processes of MPI -----------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_MPIBEATS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_MPIBEATS_H

#include "weft/Runtime/Collectives/Beats.h"

namespace weft {

/// A beat is a message with this tag, which no transport has.
constexpr int kMpiBeatTag = 0;

/// Of the ranks of MPI_COMM_WORLD. Nobody has to receive them: those that have
/// come are read when somebody asks.
std::shared_ptr<Beats> makeMpiBeats(int ranks);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_MPIBEATS_H
