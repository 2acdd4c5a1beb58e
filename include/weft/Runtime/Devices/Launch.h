//===- Launch.h - Work for a CUDA device, from its routines -----*- C++ -*-===//
//
// Routines of kernels/cuda use the device that runs their command through these
// functions. A routine submits work to the stream of the command and returns.
// The device may be capturing the stream at that time, so a routine never
// waits, allocates or reads device memory while it runs a command. It creates
// lasting state in its first run, which is not captured, and keeps it in
// WeftContext::state(). Every failure is left in the context (exit code 9) and
// names the call. After a failure the functions here do nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_LAUNCH_H
#define WEFT_RUNTIME_DEVICES_LAUNCH_H

#include "weft/Base/Results.h"
#include "weft/Runtime/Execute/Context.h"

#include <optional>

struct WeftRankGroup;

namespace weft {

struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned sharedBytes = 0; // dynamic shared memory
};

/// Launches the kernel `name` of the program's images; `arguments` are pointers
/// to the arguments, as cuLaunchKernel takes them.
void launchKernel(WeftContext &context, const WeftCommand &command,
                  const char *name, const LaunchShape &shape, void **arguments);
/// The chip number of the device: 90 for sm_90.
int deviceNumber(WeftContext &context);
/// The stream (CUstream) of the running command.
void *deviceStream(WeftContext &context);
void copyOnDevice(WeftContext &context, const WeftCommand &command, void *to,
                  const void *from, int64_t bytes);
/// The device address of the elements of a command that writes a constant.
const void *constantOnDevice(WeftContext &context, const WeftCommand &command);
void fillOnDevice(WeftContext &context, const WeftCommand &command, void *to,
                  unsigned char byte, int64_t bytes);
struct DeviceExchange {
  const WeftRankGroup &among;
  /// Rank r sends send + p * stride to rank p: a stride of 0 is a gather, a
  /// stride of `bytes` an exchange of all pieces.
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
/// Whether a library can add across the devices of the ranks: each rank must
/// have its own device.
bool canReduceOnDevices(WeftContext &context);
/// The library adds, in an order of its own. Fails if it cannot.
void reduceOnDevices(WeftContext &context, const WeftCommand &command,
                     const DeviceReduction &reduction);
/// The index of this rank in the group of a command; -1 after an error.
int rankOnDevice(WeftContext &context, const WeftCommand &command,
                 const WeftRankGroup &among);

/// The value of the f32 scalar at the device address `address` in this run of
/// the program. It must be an input, which the host has written and no command
/// changes, or a copy of an input; otherwise the result is empty. A recording
/// is valid only for its value: another value needs another recording.
std::optional<float> deviceFlag(WeftContext &context, const void *address);

/// Copies from the host and waits. Not while a command runs.
Status copyToDevice(WeftContext &context, void *to, const void *from,
                    int64_t bytes);
/// Device time in milliseconds of the work that `work` submits to the stream.
/// Waits for it, so not while a command runs.
Expected<float> timeOnDevice(WeftContext &context,
                             const std::function<void()> &work);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_LAUNCH_H
