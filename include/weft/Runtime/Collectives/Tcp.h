//===- Tcp.h - Ranks that are processes and talk over TCP -------*- C++ -*-===//
//
// Ranks that torchrun, srun or weft launch has started without MPI. They need
// the system's libraries only.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_TCP_H
#define WEFT_RUNTIME_COLLECTIVES_TCP_H

#include "weft/Base/Descriptor.h"
#include "weft/Runtime/Collectives/Processes.h"
#include "weft/Runtime/Collectives/Rendezvous.h"

namespace weft {

/// Joins the processes of a run, for which it waits `timeout` seconds. An error
/// names the absent ranks (exit 7) or the settings that differ (exit 2).
Expected<std::unique_ptr<RankProcess>> joinTcp(const Rendezvous &rendezvous,
                                               double timeout);

/// Where ranks of this machine meet whom one process starts: it listens before
/// they run, and rank 0 inherits the socket (kListenerVariable).
struct LocalRendezvous {
  Descriptor listener;
  std::string host; // "127.0.0.1"
  int port = 0;
};
Expected<LocalRendezvous> listenLocally();

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_TCP_H
