//===- Rendezvous.h - The address at which ranks meet -----------*- C++ -*-===//
//
// Ranks that are started without MPI meet over TCP: rank 0 listens, the others
// join it there. Each launcher says where in variables of its own:
//
//   torchrun, weft launch   RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT. Where
//                           torchrun itself listens at MASTER_PORT, the ranks
//                           take the first free one of the eight behind it.
//   srun                    SLURM_PROCID, SLURM_STEP_NUM_TASKS; the host is the
//                           first of SLURM_STEP_NODELIST
//   mpirun, PMI             OMPI_COMM_WORLD_RANK, PMI_RANK, ...; the host is
//                           this machine where all ranks run on it
//
// MASTER_ADDR and MASTER_PORT count with every launcher; srun and mpirun have
// a port that follows from the number of the job otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_RENDEZVOUS_H
#define WEFT_RUNTIME_COLLECTIVES_RENDEZVOUS_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Results.h"
#include "weft/Runtime/Collectives/Processes.h"

#include <string>
#include <vector>

namespace weft {

/// Beside the variables of launchers. The secret is compared when ranks join,
/// with the identity of the run; all ranks have the same one.
inline constexpr char kSecretVariable[] = "WEFT_SECRET";
/// The network interface that ranks listen at ("eth0"), in place of the one
/// that leads to rank 0.
inline constexpr char kInterfaceVariable[] = "WEFT_INTERFACE";
/// A socket that rank 0 inherits and that listens already: its number.
inline constexpr char kListenerVariable[] = "WEFT_LISTENER";

struct Rendezvous {
  int rank = 0, ranks = 1;
  bool isOneMachine = false; // all ranks run here, for sure
  std::string host;          // of rank 0: a name or an address
  std::vector<int> ports;    // rank 0 listens at the first that is free
  std::string key;           // what only processes of the run know
  std::string interface;     // "": any
  int listener = -1;         // of rank 0; -1: none is inherited
};

/// Reads the environment. An error (exit 2) names the variable that is
/// missing or wrong.
Expected<Rendezvous> findRendezvous();

/// The first of a list as Slurm writes it: "node07" of "node[07-09],other".
std::string firstHost(const std::string &list);

/// Joins the processes of a run that torchrun, srun or weft launch has started
/// without MPI, with the system's libraries only. It waits `timeout` seconds.
/// An error names the absent ranks (exit 7) or the settings that differ (exit
/// 2).
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

#endif // WEFT_RUNTIME_COLLECTIVES_RENDEZVOUS_H
