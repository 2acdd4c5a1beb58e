//===- Launch.h - Work for a CUDA device, from its routines -----*- C++ -*-===//
//
// What a routine of kernels/cuda asks of the device that runs its command. It
// gives work to the stream of the command and returns; the device may be
// recording the stream at that time, so a routine never waits, allocates or
// reads device memory while it runs a command. What it needs for good, it makes
// in its first run, which is not recorded, and keeps in WeftContext::state().
// Every failure is left in the context (exit code 9) and names the call; after
// one the functions here do nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_LAUNCH_H
#define WEFT_RUNTIME_DEVICES_LAUNCH_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Execute/Context.h"

#include <optional>

struct WeftRankGroup;

namespace weft {

struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned sharedBytes = 0; // beside what the kernel declares
};

/// Launches the kernel `name` of the program's images; `arguments` are pointers
/// to the arguments, as cuLaunchKernel takes them.
void launchKernel(WeftContext &context, const WeftCommand &command,
                  const char *name, const LaunchShape &shape, void **arguments);
/// What the device is: 90 for sm_90.
int deviceNumber(WeftContext &context);
/// The stream (CUstream) of the running command.
void *deviceStream(WeftContext &context);
void copyOnDevice(WeftContext &context, const WeftCommand &command, void *to,
                  const void *from, int64_t bytes);
/// Where the device keeps the elements of a command that writes a constant.
const void *constantOnDevice(WeftContext &context, const WeftCommand &command);
void fillOnDevice(WeftContext &context, const WeftCommand &command, void *to,
                  unsigned char byte, int64_t bytes);
struct DeviceExchange {
  const WeftRankGroup &among;
  /// Rank r sends send + p * stride to rank p: a stride of 0 is a gather, one
  /// of `bytes` an exchange of all pieces.
  const void *send;
  int64_t stride;
  void *receive;
  int64_t bytes;
};
/// Moves bytes between the devices of the ranks of a group. Rank r gets the
/// bytes that each rank p has for it at receive + p * bytes.
void exchangeOnDevices(WeftContext &context, const WeftCommand &command,
                       const DeviceExchange &exchange);
/// Elements of a floating-point type (WeftDType). Rank r gets the sum of
/// elements r * elements to (r + 1) * elements (not included) of all ranks.
struct DeviceReduction {
  const WeftRankGroup &among;
  const void *send;
  void *receive;
  int64_t elements;
  int32_t dtype;
};
/// Whether a library between the devices of the ranks can add: each rank has a
/// device of its own.
bool canReduceOnDevices(WeftContext &context);
/// The library adds, in an order of its own. Fails where it cannot.
void reduceOnDevices(WeftContext &context, const WeftCommand &command,
                     const DeviceReduction &reduction);
/// The place of this rank in the group of a command; -1 after an error.
int rankOnDevice(WeftContext &context, const WeftCommand &command,
                 const WeftRankGroup &among);

/// What the f32 scalar at `address`, in the memory of the device, holds in this
/// run of the program: an input, which the host has written and no command
/// changes. Nothing where it is no such input. A recording holds for the value
/// that it was made with: another value needs one of its own.
std::optional<float> deviceFlag(WeftContext &context, const void *address);

/// Copies from the host, and waits for it: not while a command runs.
Status copyToDevice(WeftContext &context, void *to, const void *from,
                    int64_t bytes);
/// Milliseconds that the device takes for what `work` gives to the stream,
/// which is waited for: not while a command runs.
Expected<float> timeOnDevice(WeftContext &context,
                             const std::function<void()> &work);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_LAUNCH_H
