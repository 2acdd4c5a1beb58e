//===- CommandStreams.h - Collectives that overlap computation ------------===//
//
// A stream is a thread that runs collectives of a rank in the order in which it
// gets them, over its own communicators. The thread of the rank is stream 0: it
// submits, records and waits in program order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_COMMANDSTREAMS_H
#define WEFT_RUNTIME_COLLECTIVES_COMMANDSTREAMS_H

#include "weft/Base/Results.h"
#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Execute/Context.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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

/// The streams of a rank. Only the thread of the rank calls, except for keep().
class CommandStreams {
public:
  using Groups = std::vector<std::unique_ptr<Communicator>>;

  /// The communicators of each stream, by its number from 1: first all ranks,
  /// then one for each axis (RankGroups.h).
  explicit CommandStreams(std::map<int64_t, Groups> groups);
  ~CommandStreams();
  CommandStreams(const CommandStreams &) = delete;
  CommandStreams &operator=(const CommandStreams &) = delete;

  /// Waits for the running jobs. No other job runs afterwards.
  void stop();

  /// The communicators of a stream; null if there is no such stream.
  const Groups *find(int64_t stream) const;
  std::vector<int64_t> numbers() const;

  /// Gives a job to a stream, which must exist.
  Status start(int64_t stream, CommunicationThread::Job job);
  /// The event covers all jobs that the stream got so far.
  void record(int64_t stream, int64_t event);
  /// Later jobs of the stream start after all jobs that the event covers.
  /// Stream 0 blocks until then and returns the error of a failed job.
  Status wait(int64_t stream, int64_t event);

  /// Nanoseconds that stream 0 has waited so far.
  int64_t waitedNs() const { return waited; }
  /// Adds the time of a stream's collective that stream 0 has run itself.
  void addWaited(int64_t nanoseconds) { waited += nanoseconds; }

  /// Stores the trace of a command of a stream, from any thread. take() moves
  /// the stored traces to the caller.
  void keep(const TraceEvent &event);
  std::vector<TraceEvent> take();

private:
  struct Stream {
    Groups groups;
    std::unique_ptr<CommunicationThread> thread;
    CommunicationThread::Ticket last = 0;
  };
  /// The last job that an event covers; ticket 0: none.
  struct Point {
    Stream *stream = nullptr;
    CommunicationThread::Ticket ticket = 0;
  };

  std::map<int64_t, Stream> streams;
  std::map<int64_t, Point> events;
  int64_t waited = 0;
  std::mutex mutex; // of `ended`
  std::vector<TraceEvent> ended;
};

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_COMMANDSTREAMS_H
