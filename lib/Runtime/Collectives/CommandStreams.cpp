//===- CommandStreams.cpp - Collectives that overlap computation ----------===//

#include "weft/Runtime/Collectives/CommandStreams.h"

#include "weft/Base/OutOfMemory.h"

#include <chrono>
#include <system_error>

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
