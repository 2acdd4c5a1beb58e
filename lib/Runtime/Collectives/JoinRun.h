//===- JoinRun.h - How ranks come together at rank 0 ------------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_JOINRUN_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_JOINRUN_H

#include "Callers.h"
#include "weft/Runtime/Collectives/Rendezvous.h"

namespace weft {

/// The result of joining, on one rank.
struct JoinedRun {
  Callers callers;                   // connections to this rank
  std::vector<SocketAddress> places; // where the ranks before it listen
};

Expected<JoinedRun> joinRun(const Rendezvous &rendezvous, double timeout);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_JOINRUN_H
