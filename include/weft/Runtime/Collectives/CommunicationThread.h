//===- CommunicationThread.h - Thread for collectives -----------*- C++ -*-===//

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
  /// Ends after the running job. Queued jobs never run.
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread &) = delete;
  CommunicationThread &operator=(const CommunicationThread &) = delete;

  /// The caller must not touch the job's memory until wait() has returned.
  Ticket start(Job job);
  /// Returns when that job and all earlier jobs are done. No job runs after a
  /// failed one: a wait for it or for a later job returns its error.
  Status wait(Ticket ticket);
  /// Starts no further job and wakes all waiters. A wait for a job that is not
  /// done fails with exit 7.
  void stop();
  /// stop(), then waits for the running job.
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
