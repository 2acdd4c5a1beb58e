//===- Loopback.h - Ranks that are threads of one process -------*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVES_LOOPBACK_H
#define WEFT_RUNTIME_COLLECTIVES_LOOPBACK_H

#include "weft/Runtime/Collectives/Transport.h"

namespace weft {

/// Connections of `ranks` ranks with each other, by rank; each goes to the
/// thread of its rank. Pieces are copied out of the memory of the peer. Who
/// waits sleeps on a condition variable.
std::vector<std::unique_ptr<Transport>> connectLoopback(int ranks);
/// The same of some ranks of a run, which have these numbers there.
std::vector<std::unique_ptr<Transport>>
connectLoopback(const std::vector<int> &members);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_LOOPBACK_H
