//===- Processes.h - Processes that a launcher has started ------*- C++ -*-===//
//
// A program with a mesh runs as threads of one process or as processes that a
// launcher has started, one for each rank: mpirun, srun, torchrun, weft launch.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_PROCESSES_H
#define WEFT_RUNTIME_COLLECTIVES_PROCESSES_H

#include "weft/Runtime/Collectives/Transport.h"

#include <optional>
#include <string>

namespace weft {

/// This process as a rank of a run. A process has one such object, which
/// outlives its transports.
class RankProcess {
public:
  /// Without finish() this process skips the common shutdown, which waits for
  /// all processes: after a failure some never arrive. The launcher then ends
  /// the run.
  virtual ~RankProcess();

  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// The connection of all ranks, once. Further ones come from its split(), one
  /// at a time in a process.
  virtual std::unique_ptr<Transport> connect() = 0;
  /// Ends this process together with all others, after its transports.
  virtual Status finish() = 0;
};

/// Joins the processes of a run through MPI; null in programs without it.
using JoinProcesses = Expected<std::unique_ptr<RankProcess>> (*)();

/// The launcher that has started this process, as the environment says.
struct Launcher {
  std::string name;    // "mpirun"
  int processes = 0;   // 0: it does not say
  int rank = 0;        // of this process
  int localCount = 0;  // processes on this machine; 0: it does not say
  int localRank = 0;   // of this process among them
  bool hasMpi = false; // MPI can join the processes
};

/// None where the process was started alone.
///
/// Of several, the innermost counts: a job of Slurm may start torchrun.
///   torchrun      RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT; so does
///                 `weft launch`
///   mpirun        OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE
///   PMI, PMIx     PMI_RANK or PMIX_RANK
///   srun          SLURM_PROCID, SLURM_STEP_NUM_TASKS
std::optional<Launcher> findLauncher();

/// The number of this process in the run, as the launcher says; 0
/// where it does not.
int findRankNumber();

/// Processes of the run on this machine, as the launcher says.
int countLocal();

/// The number of this process among them; 0 where the launcher does not say.
int findLocalRank();

/// Processes of the run that use the same processors as this one: 1 where the
/// launcher has bound it to some of the machine's.
int countUnbound();

/// Whether a variable has a value that is not empty.
bool hasVariable(const char *name);
/// Its value; "" if there is none.
std::string variableText(const char *name);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_PROCESSES_H
