//===- CommandStreams.h - Collectives beside what a program computes ------===//
//
// A stream is a thread that runs the collectives of a rank which are given to
// it in their order, among communicators of its own. The thread of the rank is
// stream 0: it gives, records and waits in the order of the program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_COMMANDSTREAMS_H
#define WEFT_RUNTIME_COLLECTIVES_COMMANDSTREAMS_H

#include "weft/Runtime/Collectives/CommunicationThread.h"
#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Execute/Context.h"

#include <map>
#include <mutex>

namespace weft {

/// Those of a rank. One thread, that of the rank, calls.
class CommandStreams {
public:
  using Groups = std::vector<std::unique_ptr<Communicator>>;

  /// The communicators of each stream, by its number from 1: of all ranks, then
  /// along each axis (RankGroups.h).
  explicit CommandStreams(std::map<int64_t, Groups> groups);
  ~CommandStreams();
  CommandStreams(const CommandStreams &) = delete;
  CommandStreams &operator=(const CommandStreams &) = delete;

  /// Returns when the jobs that run have ended; no other one is run.
  void stop();

  /// Those of a stream; null if there is no such stream.
  const Groups *find(int64_t stream) const;
  std::vector<int64_t> numbers() const;

  /// Gives a job to a stream, which must exist.
  Status start(int64_t stream, CommunicationThread::Job job);
  /// The event stands for all that the stream was given so far.
  void record(int64_t stream, int64_t event);
  /// What the stream is given later begins when that is done. Stream 0 returns
  /// then, with the error of a job that has failed.
  Status wait(int64_t stream, int64_t event);

  /// How long stream 0 has waited so far.
  int64_t waitedNs() const { return waited; }
  /// Of a collective of a stream that stream 0 has run itself.
  void addWaited(int64_t nanoseconds) { waited += nanoseconds; }

  /// Keeps the trace of a command of a stream, from any thread; take() moves
  /// what was kept to the caller.
  void keep(const TraceEvent &event);
  std::vector<TraceEvent> take();

private:
  struct Stream {
    Groups groups;
    std::unique_ptr<CommunicationThread> thread;
    CommunicationThread::Ticket last = 0;
  };
  /// Of an event: what it stands for.
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
