//===- Beats.h - Signs of life of ranks -------------------------*- C++ -*-===//
//
// A rank that loads or saves comes to no exchange for as long as its disk
// takes. It beats meanwhile, and ranks that wait for it know that it is alive.
// A process that is stopped does not beat.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_BEATS_H
#define WEFT_RUNTIME_COLLECTIVES_BEATS_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace weft {

/// Of all ranks of a run, by their numbers there. Any thread may call it.
class Beats {
public:
  virtual ~Beats();
  /// Says that `rank`, one of this process, is alive.
  virtual void beat(int rank) = 0;
  /// How many signs of `rank` have come here.
  virtual int64_t heard(int rank) = 0;
  /// Whether the process of `rank` was ended: it has sent no
  /// FailureNotice::Ended. False where that is not known.
  virtual bool hasEnded(int /*rank*/) { return false; }
  /// Whether it has ended or says that it does.
  virtual bool hasLeft(int /*rank*/) { return false; }
};

/// Ranks that are threads of one process.
std::shared_ptr<Beats> makeThreadBeats(int ranks);

/// While it lives, a rank beats.
class Beating {
public:
  /// At once, and then each second or, where ranks wait for less than four,
  /// four times in `timeout` seconds.
  Beating(std::shared_ptr<Beats> beats, int rank, double timeout);
  ~Beating();
  Beating(const Beating &) = delete;
  Beating &operator=(const Beating &) = delete;

private:
  void run();

  const std::shared_ptr<Beats> beats;
  const int rank;
  const std::chrono::duration<double> pause;
  std::mutex mutex;
  std::condition_variable ended;
  bool isOver = false;
  std::thread thread; // the last, since it uses the others
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_BEATS_H
