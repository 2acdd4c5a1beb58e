//===- CommunicationThread.h - Collectives beside the commands --*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVES_COMMUNICATIONTHREAD_H
#define WEFT_RUNTIME_COLLECTIVES_COMMUNICATIONTHREAD_H

#include "weft/Base/Error.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace weft {

/// A thread that runs the jobs of one communicator in the order in which they
/// were started. It sleeps while it has none.
class CommunicationThread {
public:
  using Job = std::function<Status()>;
  /// The number of a job, from 1.
  using Ticket = int64_t;

  CommunicationThread();
  /// Ends after the job that runs. Those that wait behind it are never run.
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread &) = delete;
  CommunicationThread &operator=(const CommunicationThread &) = delete;

  /// What the job reads and writes belongs to it until wait() has returned.
  Ticket start(Job job);
  /// Returns when that job and all before it are done. After a job that failed
  /// none is run: its waiters, and those of all later ones, get its error.
  Status wait(Ticket ticket);
  /// No further job begins, and nobody waits any more: what is waited for and
  /// has not begun has failed.
  void stop();
  /// stop(), and returns when the job that runs has ended.
  void join();

private:
  void run();

  std::mutex mutex;
  std::condition_variable started, ended;
  std::deque<Job> jobs;
  Ticket last = 0, done = 0;
  Ticket failedAt = 0; // 0: none has failed
  Status failure;
  bool isOver = false;
  std::thread thread; // the last, since it uses the others
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_COMMUNICATIONTHREAD_H
