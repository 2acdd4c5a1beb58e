//===- DeviceWatch.cpp - Watches exchanges between devices ----------------===//

#include "weft/Runtime/Devices/DeviceWatch.h"

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <chrono>

using namespace weft;

/// Between looks.
static constexpr std::chrono::milliseconds kPause(100);
/// Seconds between looks that count: this process may have been stopped.
static constexpr double kMostPassed = 1;
/// In which ranks that are alive come to find out together what has failed.
static constexpr double kTogetherSeconds = 2;

//===----------------------------------------------------------------------===//
// Starting
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<DeviceWatch>>
DeviceWatch::start(const CudaCalls &cuda, const WeftExecutable &executable,
                   int streams, std::shared_ptr<RankMeetings> meetings,
                   DeviceRanks &ranks, double timeout) {
  std::unique_ptr<DeviceWatch> watch(
      new DeviceWatch(std::move(meetings), ranks, timeout));
  watch->cuda.emplace(cuda);
  for (const WeftProgram &program : programsOf(executable))
    for (const WeftCommand &command : commandsOf(program))
      if (isCollective(command)) {
        watch->numbers[&command] = uint32_t(watch->commands.size());
        watch->commands.push_back(&command);
      }
  const size_t bytes = size_t(streams) * sizeof(uint32_t);
  void *host = nullptr;
  if (Status s = cuda.cuMemAllocHost_v2(&host, bytes); !s)
    return s.takeError();
  watch->memory = CudaHostMemory(cuda.driver(), host);
  watch->marks = static_cast<uint32_t *>(host);
  std::fill_n(watch->marks, streams, 0u);
  watch->seenMarks.resize(size_t(streams));
  watch->thread = std::thread([&own = *watch] { own.run(); });
  return watch;
}

DeviceWatch::~DeviceWatch() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  changed.notify_one();
  if (thread.joinable())
    thread.join();
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

/// Numbers of a mark: 0 is none, odd marks stand for an exchange in flight.
static uint32_t markOf(uint32_t number, bool isDone) {
  return 2 * number + 1 + isDone;
}

Status DeviceWatch::mark(CUstream stream, int number, uint32_t value) const {
  const auto place =
      reinterpret_cast<CUdeviceptr>(const_cast<uint32_t *>(marks + number));
  return cuda->cuStreamWriteValue32_v2(stream, place, value, 0u);
}

Status DeviceWatch::exchange(const WeftCommand &command, int number,
                             CUstream stream,
                             const std::function<Status()> &give) {
  const auto found = numbers.find(&command);
  if (found == numbers.end())
    return internalError("expects a command of the program");
  // The mark comes behind the wait: a waiting exchange is not in flight.
  if (Status s = ranks.waitForLast(stream); !s)
    return s;
  if (Status s = mark(stream, number, markOf(found->second, false)); !s)
    return s;
  if (Status s = give(); !s) {
    // Not while a stream is captured: the exchanges end in explain().
    const auto failed = ranks.findFailure();
    note({&command, s.error(), failed ? failed->cause : FailureCause::Own});
    return s;
  }
  return mark(stream, number, markOf(found->second, true));
}

/// The exchange that a stream is in; null if none is in one.
const WeftCommand *DeviceWatch::findWaiting() const {
  for (uint32_t mark : seenMarks)
    if (mark % 2 == 1)
      return commands[mark / 2];
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Watching
//===----------------------------------------------------------------------===//

/// Since it was asked last: streams, the host, or another rank's heartbeats.
bool DeviceWatch::hasMoved() {
  bool moved = false;
  for (size_t stream = 0; stream < seenMarks.size(); ++stream) {
    const uint32_t mark = marks[stream];
    moved |= mark != seenMarks[stream];
    seenMarks[stream] = mark;
  }
  const int64_t progress = numProgress,
                heartbeats = meetings->countHeartbeats();
  moved |= progress != seenProgress || heartbeats != seenHeartbeats;
  seenProgress = progress;
  seenHeartbeats = heartbeats;
  return moved;
}

/// The failure, if there is one.
std::optional<DeviceWatch::Failure> DeviceWatch::look() {
  const bool moved = hasMoved();
  const WeftCommand *waiting = findWaiting();
  if (auto failed = ranks.findFailure())
    return Failure{waiting, failed->error, failed->cause};
  if (waiting && meetings->hasOneLeft())
    return Failure{waiting, communicationError("another process has ended"),
                   FailureCause::OtherRank};
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> passed = now - lastLook;
  lastLook = now;
  if (moved || !waiting)
    stillFor = 0;
  else
    stillFor += std::min(passed.count(), kMostPassed);
  if (stillFor < timeout)
    return std::nullopt;
  return Failure{
      waiting,
      communicationError("has not moved for ", numberText(timeout, 4), " s"),
      FailureCause::Standstill};
}

void DeviceWatch::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!changed.wait_for(lock, kPause, [&] { return isOver; })) {
    lock.unlock();
    std::optional<Failure> found = look();
    lock.lock();
    if (!found)
      continue;
    lock.unlock();
    note(std::move(*found));
    // The host that waits for the device continues.
    return ranks.abort();
  }
}

void DeviceWatch::note(Failure found) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure)
    failure = std::move(found);
}

//===----------------------------------------------------------------------===//
// Finding out
//===----------------------------------------------------------------------===//

/// The error of an exchange: ranks that part end with 7, but a device without
/// memory with 4.
static Error reported(const Error &error) {
  const bool isMemory = error.code() == ExitCode::DoesNotFit;
  return Error(isMemory ? ExitCode::DoesNotFit : ExitCode::Communication,
               error.message())
      .hint(error.hintText());
}

Status DeviceWatch::explain(Status status) {
  if (auto failed = ranks.findFailure())
    note({nullptr, failed->error, failed->cause});
  std::unique_lock<std::mutex> lock(mutex);
  if (!failure)
    return status;
  if (!explained) {
    ranks.abort();
    Error own = failTogether(*meetings, reported(failure->error),
                             failure->cause, kTogetherSeconds);
    explained = failure->command
                    ? Error(own.code(),
                            placeOf(*failure->command) + ": " + own.message())
                          .hint(own.hintText())
                    : std::move(own);
  }
  return *explained;
}
