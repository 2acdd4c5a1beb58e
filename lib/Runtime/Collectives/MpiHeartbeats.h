//===- MpiHeartbeats.h - Heartbeats over MPI --------------------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_MPIHEARTBEATS_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_MPIHEARTBEATS_H

#include "weft/Runtime/Collectives/Heartbeats.h"

namespace weft {

/// The tag of heartbeats, which no transport uses.
constexpr int kMpiHeartbeatTag = 0;

/// Heartbeats of the ranks of MPI_COMM_WORLD. They are received when somebody
/// asks for their number.
std::shared_ptr<Heartbeats> makeMpiHeartbeats(int ranks);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_MPIHEARTBEATS_H
