//===- Heartbeats.h - Heartbeats between ranks ------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVES_HEARTBEATS_H
#define WEFT_RUNTIME_COLLECTIVES_HEARTBEATS_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace weft {

/// Heartbeats of all ranks of a run, by global rank. A rank that loads or saves
/// reaches no exchange for as long as its disk takes. It sends heartbeats
/// meanwhile, so that ranks that wait for it know that it is alive. A process
/// that is stopped sends none. Any thread may call it.
class Heartbeats {
public:
  virtual ~Heartbeats();
  /// Sends a heartbeat of `rank`, one of this process, to all others.
  virtual void send(int rank) = 0;
  /// How many heartbeats of `rank` have arrived.
  virtual int64_t count(int rank) = 0;
  /// Whether the process of `rank` was ended: it has sent no
  /// FailureNotice::Ended. False where that is not known.
  virtual bool hasEnded(int /*rank*/) { return false; }
  /// Whether it has ended or says that it does.
  virtual bool hasLeft(int /*rank*/) { return false; }
};

/// Ranks that are threads of one process.
std::shared_ptr<Heartbeats> makeThreadHeartbeats(int ranks);

/// A thread that sends the heartbeats of a rank while the object lives.
class HeartbeatSender {
public:
  /// At once, and then each second or, where ranks wait for less than four,
  /// four times in `timeout` seconds.
  HeartbeatSender(std::shared_ptr<Heartbeats> heartbeats, int rank,
                  double timeout);
  ~HeartbeatSender();
  HeartbeatSender(const HeartbeatSender &) = delete;
  HeartbeatSender &operator=(const HeartbeatSender &) = delete;

private:
  void run();

  const std::shared_ptr<Heartbeats> heartbeats;
  const int rank;
  const std::chrono::duration<double> pause;
  std::mutex mutex;
  std::condition_variable ended;
  bool isOver = false;
  std::thread thread; // the last, since it uses the others
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_HEARTBEATS_H
