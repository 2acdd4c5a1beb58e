//===- Transport.h - Byte exchange between ranks ----------------*- C++ -*-===//
//
// The connection of one rank to the ranks of one communicator. Its only
// operation exchanges pieces of equal size between all ranks. Collectives,
// votes and everything else are built on it. There are three transports:
// threads of one process, processes of MPI (joinMpi), and processes that
// communicate over TCP (Rendezvous.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_TRANSPORT_H
#define WEFT_RUNTIME_COLLECTIVES_TRANSPORT_H

#include "weft/Base/Results.h"
#include "weft/Runtime/Collectives/Heartbeats.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft {

/// Ranks that did not reach an exchange, as global rank numbers.
struct Absence {
  std::vector<int> ranks;
  /// They have left the run and reported the reason themselves. Otherwise they
  /// have timed out.
  bool haveLeft = false;
};

/// A rank whose run fails sends notices to all others of a communicator. It
/// takes part in no exchange of it afterwards. Over TCP a process has one set
/// of notices, and Ended says that the process ends.
enum class FailureNotice : uint8_t {
  Failed,  ///< it has found a failure, and may report it
  Follows, ///< it fails because another rank has left
  Reports, ///< it reports the failure
  Ended,   ///< it has left the communicator
};
constexpr int kFailureNotices = int(FailureNotice::Ended) + 1;

class ExchangeTimer;

/// One thread at a time uses a transport. To leave is to destroy it: ranks that
/// wait for this one learn of it at once.
class Transport {
public:
  /// Bytes of a title; a longer one is cut.
  static constexpr int kTitleBytes = 192;
  static constexpr double kDefaultTimeout = 60;

  virtual ~Transport();
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  /// Number of this rank in the communicator, from 0.
  int rank() const { return number; }
  int ranks() const { return int(names.size()); }
  /// The global rank number of a rank of the communicator.
  int nameOf(int rank) const { return names[size_t(rank)]; }

  /// Seconds without progress, and without a heartbeat of a missing rank, after
  /// which an exchange fails with exit 7. Time in which the process itself was
  /// stopped hardly counts.
  double timeout() const { return seconds; }
  void setTimeout(double newSeconds) { seconds = newSeconds; }

  /// Heartbeats of the ranks of the run; null: there are none. A split() uses
  /// the same object.
  const std::shared_ptr<Heartbeats> &heartbeats() const {
    return runHeartbeats;
  }
  void setHeartbeats(std::shared_ptr<Heartbeats> newHeartbeats) {
    runHeartbeats = std::move(newHeartbeats);
  }

  /// Sends `bytes` at send[r] to each rank r and receives as many from it in
  /// receive[r], the own piece included (both may be one address). All ranks
  /// must pass the same `bytes` and title, a name for messages; ranks that
  /// differ fail with exit 7. When it returns, peers have read this rank's
  /// pieces. After an error every call fails with it.
  Status exchange(const char *const *send, char *const *receive, int64_t bytes,
                  std::string_view title = "an exchange");

  /// The value of each rank.
  template <typename T>
  Expected<std::vector<T>> gather(const T &own, std::string_view title) {
    static_assert(std::is_trivially_copyable_v<T>, "expects plain bytes");
    std::vector<T> all(names.size());
    if (Status s = gatherBytes(&own, all.data(), sizeof(T), title); !s)
      return s.takeError();
    return all;
  }

  /// A connection of the ranks that call with one color, in their order. All
  /// ranks call. A mesh replica:R,shard:S has two: rank / S numbers the shard
  /// groups, of consecutive ranks, and rank % S the replica groups.
  Expected<std::unique_ptr<Transport>> split(int color);

  /// Sends a notice to all other ranks. Ranks that are threads of one process
  /// need none.
  virtual void notify(FailureNotice /*notice*/) {}
  /// Whether a notice of the rank has come. Does not wait.
  virtual bool hasNotified(int /*rank*/, FailureNotice /*notice*/) {
    return false;
  }

  /// The ranks that the failed exchange has waited for; empty if it failed for
  /// another reason.
  const Absence &absence() const { return absent; }
  const std::vector<int> &missing() const { return absent.ranks; }

protected:
  /// `members` are global rank numbers, by rank.
  Transport(int rank, std::vector<int> members);

  /// Whether a heartbeat of `peer` has arrived since the last call.
  bool hasHeartbeat(int peer);

  /// exchange() of several ranks, with checked arguments.
  virtual Status exchangeAll(const char *const *send, char *const *receive,
                             int64_t bytes, std::string_view title) = 0;
  /// split() into one group for each of `colors` (by rank). All ranks call.
  virtual Expected<std::unique_ptr<Transport>>
  splitBy(const std::vector<int> &colors) = 0;

  /// Fails if ranks that `isAwaited` holds for have given no sign for too long.
  Status checkTimeouts(ExchangeTimer &timer, std::string_view title,
                       const std::function<bool(int peer)> &isAwaited);
  /// Records the missing ranks of the communicator.
  void setAbsent(const std::vector<int> &ranks, bool haveLeft);
  /// The global numbers of the ranks with the color of this one, and its index
  /// among them.
  std::pair<std::vector<int>, int>
  membersOf(const std::vector<int> &colors) const;

private:
  Absence absent;
  Status gatherBytes(const void *own, void *all, int64_t bytes,
                     std::string_view title);

  const int number;
  const std::vector<int> names;
  double seconds = kDefaultTimeout;
  std::shared_ptr<Heartbeats> runHeartbeats;
  std::vector<int64_t> heartbeatCounts; // of each rank, when last asked
  std::unique_ptr<Error> failure;
};

/// "rank 1", "ranks 0, 2 and 3".
std::string rankList(const std::vector<int> &ranks);
/// "expects rank 1 in TITLE, but it has left the run".
Error leftError(int rank, std::string_view title);
/// "rank 0 expects ranks 1 and 3 in TITLE, but they have not come for 60 s".
Error missingError(int rank, const std::vector<int> &missing,
                   std::string_view title, double seconds);
/// "rank 0 expects rank 2 in TITLE, but its process has ended".
Error endedError(int rank, const std::vector<int> &ended,
                 std::string_view title);
/// Two ranks take part in different exchanges.
Error collectiveMismatchError(int rank, std::string_view title, int64_t bytes,
                              int other, std::string_view otherTitle,
                              int64_t otherBytes);

/// Connections of `ranks` ranks with each other, by rank; each goes to the
/// thread of its rank. Pieces are copied out of the memory of the peer. Who
/// waits sleeps on a condition variable.
std::vector<std::unique_ptr<Transport>> connectLoopback(int ranks);
/// The same of some ranks of a run, which have these numbers there.
std::vector<std::unique_ptr<Transport>>
connectLoopback(const std::vector<int> &members);

/// Measures the time without progress. It advances by at most one slice a call,
/// so that time in which this process was stopped, and its peers with it,
/// hardly counts. A heartbeat restarts the timeout of its peer.
class ExchangeTimer {
public:
  using Clock = std::chrono::steady_clock;

  ExchangeTimer(double seconds, int peers)
      : most(seconds), slice(std::min(seconds / 4, 1.0)), last(Clock::now()),
        restartedAt(size_t(peers)) {}

  /// The longest to wait before pass() is called again.
  std::chrono::duration<double> longestWait() const {
    return std::chrono::duration<double>(slice);
  }
  /// There was progress.
  void restart() {
    waited = lookedAt = 0;
    std::fill(restartedAt.begin(), restartedAt.end(), 0);
    last = Clock::now();
  }
  /// Takes the time.
  void pass() {
    const Clock::time_point now = Clock::now();
    waited +=
        std::min(std::chrono::duration<double>(now - last).count(), slice);
    last = now;
  }
  /// Whether to look for heartbeats: about once a slice, since it costs.
  bool isLookDue() {
    if (waited - lookedAt < 0.9 * slice)
      return false;
    lookedAt = waited;
    return true;
  }
  void restart(int peer) { restartedAt[size_t(peer)] = waited; }
  bool isTimedOut(int peer) const {
    return waited - restartedAt[size_t(peer)] >= most;
  }

private:
  double most, slice, waited = 0, lookedAt = 0;
  Clock::time_point last;
  std::vector<double> restartedAt; // of `waited`, by peer
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_TRANSPORT_H
