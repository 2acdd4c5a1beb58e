//===- DeviceWatch.h - Watches exchanges between devices --------*- C++ -*-===//
//
// The host that waits for a device does not see that the device waits for one
// of another rank, for ever if that rank has ended. A thread looks: streams
// write numbers to memory of the host before and behind each exchange, the
// library says what has failed, and the other processes send heartbeats.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_DEVICEWATCH_H
#define WEFT_RUNTIME_DEVICES_DEVICEWATCH_H

#include "weft/Runtime/Devices/CudaDriver.h"
#include "weft/Runtime/Devices/DeviceRanks.h"
#include "weft/Runtime/Execute/Context.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

namespace weft {

class DeviceWatch {
public:
  /// Watches the exchanges of the commands of `executable`, in streams below
  /// `streams`. One that does not move for `timeout` seconds, while no other
  /// rank sends heartbeats, has failed.
  static Expected<std::unique_ptr<DeviceWatch>>
  start(const CudaCalls &cuda, const WeftExecutable &executable, int streams,
        std::shared_ptr<RankMeetings> meetings, DeviceRanks &ranks,
        double timeout);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch &) = delete;
  DeviceWatch &operator=(const DeviceWatch &) = delete;

  /// Gives the exchange of a command to stream `number`, with marks around it.
  Status exchange(const WeftCommand &command, int number, CUstream stream,
                  const std::function<Status()> &give);
  /// The host has given the device something, or has got something from it.
  void noteProgress() { ++numProgress; }

  /// Why exchanges were ended, if they were: what all ranks find out together.
  /// Exit 7 with the exchange and the ranks that are missing; the code of the
  /// library's error where this rank's library has failed.
  Status explain(Status status);

private:
  /// The cause that ended the exchanges.
  struct Failure {
    const WeftCommand *command; // whose exchange was in flight, or null
    Error error;
    FailureCause cause;
  };

  DeviceWatch(std::shared_ptr<RankMeetings> meetings, DeviceRanks &ranks,
              double timeout)
      : meetings(std::move(meetings)), ranks(ranks), timeout(timeout) {}

  void run();
  void note(Failure found);
  std::optional<Failure> look();
  bool hasMoved();
  const WeftCommand *findWaiting() const;
  Status mark(CUstream stream, int number, uint32_t value) const;

  std::shared_ptr<RankMeetings> meetings;
  DeviceRanks &ranks;
  const double timeout;
  std::optional<CudaCalls> cuda;
  CudaHostMemory memory;
  volatile uint32_t *marks = nullptr; // by stream
  std::vector<uint32_t> seenMarks;
  std::vector<const WeftCommand *> commands; // that marks name
  std::unordered_map<const WeftCommand *, uint32_t> numbers;
  std::atomic<int64_t> numProgress{0};
  int64_t seenProgress = 0, seenHeartbeats = 0;
  using Clock = std::chrono::steady_clock;
  Clock::time_point lastLook = Clock::now();
  double stillFor = 0; // seconds

  std::mutex mutex;
  std::condition_variable changed;
  bool isOver = false;
  std::optional<Failure> failure;
  std::optional<Error> explained;
  std::thread thread; // starts last: it uses the others
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_DEVICEWATCH_H
