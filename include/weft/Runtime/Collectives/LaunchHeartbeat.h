//===- LaunchHeartbeat.h - Heartbeats outside of MPI ------------*- C++ -*-===//
//
// MPI_Init and MPI_Finalize wait for all ranks without a deadline, and ranks
// cannot send each other heartbeats while they are in there. `weft launch`
// watches them instead: a rank writes heartbeats to its standard error, which
// mpirun forwards from every machine, and the launcher takes them out.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_LAUNCHHEARTBEAT_H
#define WEFT_RUNTIME_COLLECTIVES_LAUNCHHEARTBEAT_H

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft {

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

#endif // WEFT_RUNTIME_COLLECTIVES_LAUNCHHEARTBEAT_H
