//===- Processes.h - Processes that a launcher has started ------*- C++ -*-===//
//
// A program with a mesh runs as threads of one process or as processes that a
// launcher has started, one for each rank: mpirun, srun, torchrun, weft launch.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_PROCESSES_H
#define WEFT_RUNTIME_COLLECTIVES_PROCESSES_H

#include "weft/Runtime/Collectives/Transport.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

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

/// Of the library WeftRuntimeMpi, for programs with a mesh alone: no other one
/// links MPI. Joins the processes that mpirun or srun has started. MPI itself
/// ends the process where that fails.
Expected<std::unique_ptr<RankProcess>> joinMpi();

//===- Heartbeats for `weft launch` ---------------------------------------===//

// MPI_Init and MPI_Finalize wait for all ranks without a deadline, and ranks
// cannot send each other heartbeats while they are in there. `weft launch`
// watches them instead: a rank writes heartbeats to its standard error, which
// mpirun forwards from every machine, and the launcher takes them out.

/// The environment variable by which `weft launch` asks for heartbeats. Its
/// value is the word that begins the lines, one that no other line begins with.
inline constexpr char kLaunchVariable[] = "WEFT_LAUNCH";

/// Where a rank is, in order. Unsaved: it runs steps that nothing saves, and a
/// signal loses them.
enum class RankStage { Absent, Starting, Running, Unsaved, Ending, Ended };

struct LaunchHeartbeatLine {
  int rank = 0;
  RankStage stage = RankStage::Absent;
};

/// The heartbeat that a line of standard error is; none for other lines.
std::optional<LaunchHeartbeatLine> parseHeartbeat(const std::string &line,
                                                  const std::string &word);
std::string formatHeartbeat(const LaunchHeartbeatLine &heartbeat,
                            const std::string &word);

/// Tells `weft launch`, if that has started this process, where it is.
void sendLaunchHeartbeat(RankStage stage);

/// The --timeout of a command line, which is read before it is parsed. What is
/// not right there is refused later.
double readTimeout(const std::vector<std::string> &args);

/// Seconds between heartbeats.
double heartbeatPause(double timeout);

/// Seconds that a call of MPI may take while all ranks send heartbeats: a slow
/// start has not failed.
double longestCall(double timeout);

/// Watches a call of MPI, named `call`, that takes this rank from `during` to
/// `after`: sends heartbeats to `weft launch`, and ends the process with 7 when
/// the call takes longer than longestCall().
class LaunchHeartbeat {
public:
  LaunchHeartbeat(RankStage during, RankStage after, std::string call,
                  double timeout);
  ~LaunchHeartbeat();
  LaunchHeartbeat(const LaunchHeartbeat &) = delete;
  LaunchHeartbeat &operator=(const LaunchHeartbeat &) = delete;

private:
  void run();
  [[noreturn]] void giveUp() const;

  const int rank;
  const RankStage during, after;
  const std::string call;
  const double timeout;
  std::mutex mutex;
  std::condition_variable changed;
  bool isOver = false;
  std::thread thread; // starts last: it uses the others
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_PROCESSES_H
