//===- DeviceRanks.h - Bytes between devices of processes -------*- C++ -*-===//
//
// Moves pieces between the devices of ranks that are processes. NCCL implements
// it; a weft that was built without nccl.h has no implementation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_DEVICERANKS_H
#define WEFT_RUNTIME_DEVICES_DEVICERANKS_H

#include "weft/Formats/RunRecord.h"
#include "weft/Runtime/Devices/CudaDriver.h"
#include "weft/Runtime/Execute/RankMeetings.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace weft {

struct DeviceExchange;
struct DeviceReduction;
struct LibraryName;

/// One thread at a time gives it work; any other may end it.
class DeviceRanks {
public:
  virtual ~DeviceRanks();

  /// Lets a stream wait for the exchange that was given last: call it before
  /// each one.
  virtual Status waitForLast(CUstream stream) = 0;
  /// Gives an exchange to a stream, also while that is captured. All ranks of a
  /// group call in one order. Exchanges of one rank run in the order of calls.
  virtual Status exchange(const DeviceExchange &wanted, CUstream stream) = 0;
  /// The same for a sum.
  virtual Status reduce(const DeviceReduction &wanted, CUstream stream) = 0;
  /// Earlier exchanges are complete or belong to another capture: later ones do
  /// not wait for them.
  virtual void forgetOrder() = 0;

  /// The error of an exchange in flight, if there is one.
  struct Failure {
    Error error;
    FailureCause cause;
  };
  virtual std::optional<Failure> findFailure() = 0;
  /// Ends this rank's exchanges in flight. Later exchanges fail.
  virtual void abort() = 0;
  /// How exchanges are made, by name.
  virtual Settings facts() const = 0;
};

/// The stream of reductions, unless gathers share theirs (kReduceStream
/// of weft/Plan/Transfers.h).
inline constexpr int64_t kReduceStream = 4;

struct DeviceRanksOptions {
  int64_t lastGroup = 0; // the highest that commands name
  /// Groups and streams in which the library adds.
  std::set<std::pair<int64_t, int64_t>> adding;
  bool addsEverywhere = false; // there are no other reductions
  double timeout = 60;         // seconds that ranks wait for each other
  /// The memory of all exchanges, of equal size on all ranks.
  CUdeviceptr arena = 0;
  size_t arenaBytes = 0;
  /// Copy engines gather, in place of kernels.
  bool copyEngines = false;
  int64_t ctas = 0; // of a collective at most; 0: no limit
  /// Reductions have a stream of their own, and so communicators.
  bool hasReduceStream = false;
};

/// The devices of all ranks, or why they cannot be connected.
struct ConnectedDevices {
  std::unique_ptr<DeviceRanks> ranks;
  std::optional<DeviceRanks::Failure> failure;
  /// Settings that decide the bits of the library's sums; none if it adds
  /// nothing.
  Settings facts;
};

/// Connects the devices of all ranks. Exit 9 where the library is not there, 7
/// where a rank does not come.
ConnectedDevices connectDevices(const CudaCalls &cuda, RankMeetings &meetings,
                                const DeviceRanksOptions &options);
/// The library that it opens.
std::vector<LibraryName> deviceRankLibraries();

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_DEVICERANKS_H
