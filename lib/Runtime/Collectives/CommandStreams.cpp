//===- CommandStreams.cpp - Collectives beside what a program computes ----===//

#include "weft/Runtime/Collectives/CommandStreams.h"

#include "weft/Runtime/Execute/Collectives.h"
#include "weft/Runtime/Execute/Transfers.h"

#include <chrono>
#include <set>

using namespace weft;

CommandStreams::CommandStreams(std::map<int64_t, Groups> groups) {
  for (auto &[number, each] : groups)
    streams[number].groups = std::move(each);
}

CommandStreams::~CommandStreams() { stop(); }

/// Jobs wait for those of other streams.
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

/// A thread begins with its first job.
void CommandStreams::start(int64_t number, CommunicationThread::Job job) {
  Stream &stream = streams.at(number);
  if (!stream.thread)
    stream.thread = std::make_unique<CommunicationThread>();
  stream.last = stream.thread->start(std::move(job));
}

void CommandStreams::record(int64_t number, int64_t event) {
  auto found = streams.find(number);
  Stream *stream = found == streams.end() ? nullptr : &found->second;
  events[event] = {stream, stream ? stream->last : 0};
}

/// What stream 0 was given before is done.
Status CommandStreams::wait(int64_t number, int64_t event) {
  const Point point = events[event];
  auto waiter = streams.find(number);
  if (point.ticket == 0)
    return Status::success();
  CommunicationThread &thread = *point.stream->thread;
  if (waiter != streams.end()) {
    if (&waiter->second != point.stream)
      start(number,
            [&thread, ticket = point.ticket] { return thread.wait(ticket); });
    return Status::success();
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

std::vector<int64_t> weft::streamsOf(const WeftExecutable &executable) {
  std::set<int64_t> found;
  for (int32_t p = 0; p < executable.numPrograms; ++p)
    for (int32_t i = 0; i < executable.programs[p].numCommands; ++i) {
      const WeftCommand &command = executable.programs[p].commands[i];
      if (command.library == weft_host_record &&
          command.recordBytes == sizeof(WeftTransferRecord))
        found.insert(
            static_cast<const WeftTransferRecord *>(command.record)->stream);
    }
  found.erase(0);
  return {found.begin(), found.end()};
}
