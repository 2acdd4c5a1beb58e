//===- DeviceRanks.h - Bytes between devices of processes -------*- C++ -*-===//
//
// What moves pieces between the devices of ranks that are processes. One
// implementation is for NCCL; a weft without NCCL's header has none.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_DEVICERANKS_H
#define WEFT_RUNTIME_DEVICES_DEVICERANKS_H

#include "weft/Runtime/Devices/CudaDriver.h"
#include "weft/Runtime/Execute/RankMeetings.h"

#include <memory>
#include <optional>

namespace weft {

struct DeviceExchange;
struct LibraryName;

/// One thread at a time gives it work; any other may end it.
class DeviceRanks {
public:
  virtual ~DeviceRanks();

  /// Gives an exchange to a stream, also while that is captured. All ranks of a
  /// group call in one order. Its order among streams is that of the calls.
  virtual Status exchange(const DeviceExchange &wanted, CUstream stream) = 0;
  /// What was given before, to any stream, is done or belongs to another
  /// capture: nothing waits for it.
  virtual void forgetOrder() = 0;

  /// The error of an exchange that is under way, if there is one.
  struct Failure {
    Error error;
    bool isOfOther; // another rank has failed
  };
  virtual std::optional<Failure> findFailure() = 0;
  /// Ends what is under way, on this rank. Nothing can be given afterwards.
  virtual void abort() = 0;
};

/// The highest group that commands name, and how long ranks wait for each
/// other.
struct DeviceRanksOptions {
  int64_t lastGroup = 0;
  double timeout = 60;
};

/// The devices of all ranks, or why they cannot be connected.
struct ConnectedDevices {
  std::unique_ptr<DeviceRanks> ranks;
  std::optional<DeviceRanks::Failure> failure;
};

/// Connects the devices of all ranks. Exit 9 where the library is not there, 7
/// where a rank does not come.
ConnectedDevices connectDevices(const CudaCalls &cuda, RankMeetings &meetings,
                                const DeviceRanksOptions &options);
/// The library that it opens.
std::vector<LibraryName> deviceRankLibraries();

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_DEVICERANKS_H
