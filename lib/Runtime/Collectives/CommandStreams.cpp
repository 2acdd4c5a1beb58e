//===- CommandStreams.cpp - Collectives that overlap computation ----------===//

#include "weft/Runtime/Collectives/CommandStreams.h"

#include "weft/Base/OutOfMemory.h"

#include <chrono>
#include <cstdint>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace weft;

CommandStreams::CommandStreams(std::map<int64_t, Groups> groups) {
  for (auto &[number, each] : groups)
    streams[number].groups = std::move(each);
}

CommandStreams::~CommandStreams() { stop(); }

/// A job may wait for another stream: all streams stop before one is joined.
void CommandStreams::stop() {
  for (auto &[number, stream] : streams)
    if (stream.thread)
      stream.thread->stop();
  for (auto &[number, stream] : streams)
    if (stream.thread)
      stream.thread->join();
}

const CommandStreams::Groups *CommandStreams::find(int64_t stream) const {
  auto found = streams.find(stream);
  return found == streams.end() ? nullptr : &found->second.groups;
}

std::vector<int64_t> CommandStreams::numbers() const {
  std::vector<int64_t> found;
  for (const auto &[number, stream] : streams)
    found.push_back(number);
  return found;
}

/// The thread of a stream is created for its first job.
Status CommandStreams::start(int64_t number, CommunicationThread::Job job) {
  Stream &stream = streams.at(number);
  try {
    if (!stream.thread)
      stream.thread = std::make_unique<CommunicationThread>();
  } catch (const std::exception &failure) {
    return errorOf(failure).during("a thread for collectives");
  }
  stream.last = stream.thread->start(std::move(job));
  return Status::success();
}

void CommandStreams::record(int64_t number, int64_t event) {
  auto found = streams.find(number);
  Stream *stream = found == streams.end() ? nullptr : &found->second;
  events[event] = {stream, stream ? stream->last : 0};
}

/// Ticket 0 needs no wait: stream 0 runs its commands synchronously.
Status CommandStreams::wait(int64_t number, int64_t event) {
  const Point point = events[event];
  auto waiter = streams.find(number);
  if (point.ticket == 0)
    return Status::success();
  CommunicationThread &thread = *point.stream->thread;
  if (waiter != streams.end()) {
    if (&waiter->second == point.stream)
      return Status::success();
    return start(number, [&thread, ticket = point.ticket] {
      return thread.wait(ticket);
    });
  }
  const auto begin = std::chrono::steady_clock::now();
  Status done = thread.wait(point.ticket);
  waited += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin)
                .count();
  return done;
}

void CommandStreams::keep(const TraceEvent &event) {
  std::lock_guard<std::mutex> lock(mutex);
  ended.push_back(event);
}

std::vector<TraceEvent> CommandStreams::take() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(ended, {});
}

//===- CommunicationThread ------------------------------------------------===//

CommunicationThread::CommunicationThread() : thread([this] { run(); }) {}

CommunicationThread::~CommunicationThread() { join(); }

void CommunicationThread::stop() {
  std::lock_guard<std::mutex> lock(mutex);
  isOver = true;
  started.notify_one();
  ended.notify_all();
}

void CommunicationThread::join() {
  stop();
  if (thread.joinable())
    thread.join();
}

CommunicationThread::Ticket CommunicationThread::start(Job job) {
  Ticket ticket;
  {
    std::lock_guard<std::mutex> lock(mutex);
    jobs.push_back(std::move(job));
    ticket = ++last;
  }
  started.notify_one();
  return ticket;
}

Status CommunicationThread::wait(Ticket ticket) {
  std::unique_lock<std::mutex> lock(mutex);
  ended.wait(lock, [&] { return done >= ticket || isOver; });
  if (done < ticket)
    return communicationError("the rank has left its stream");
  if (failedAt != 0 && ticket >= failedAt)
    return failure.error();
  return Status::success();
}

/// No exception leaves the thread.
static Status guarded(const CommunicationThread::Job &job) {
  try {
    return job();
  } catch (const std::exception &failure) {
    return errorOf(failure);
  }
}

/// Computation holds a processor for milliseconds, and the messages of all
/// ranks would wait for it. This thread works little at a time, so it requests
/// short scheduler slices. Linux before 6.12 ignores the request; nothing
/// depends on it.
static void askForShortSlices() {
  // struct sched_attr of linux/sched/types.h up to its first version.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } attributes = {};
  attributes.size = sizeof attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER)
    return;
  attributes.size = sizeof attributes;
  attributes.runtime = 100'000; // ns: the shortest
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void CommunicationThread::run() {
  askForShortSlices();
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    started.wait(lock, [&] { return isOver || !jobs.empty(); });
    if (isOver)
      return;
    Job job = std::move(jobs.front());
    jobs.pop_front();
    if (failedAt == 0) {
      lock.unlock();
      Status status = guarded(job);
      job = nullptr; // frees its captures before its waiter resumes
      lock.lock();
      if (!status) {
        failure = std::move(status);
        failedAt = done + 1;
      }
    }
    ++done;
    ended.notify_all();
  }
}
