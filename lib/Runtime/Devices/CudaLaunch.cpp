//===- CudaLaunch.cpp - Work for a CUDA device, from its routines ---------===//

#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/Launch.h"

using namespace weft;

static CudaDevice &deviceOf(WeftContext &context) {
  return static_cast<CudaDevice &>(context.device());
}

/// Does work for a command, unless something went wrong before, and leaves a
/// failure in the context, with the command that it is of.
template <typename Work>
static void doFor(WeftContext &context, const WeftCommand &command, Work work) {
  if (context.failed())
    return;
  Status done = work(deviceOf(context));
  if (done)
    return;
  context.fail(done.error().exitStatus(),
               placeOf(command) + ": " + done.error().message(),
               done.error().hintText());
}

void weft::launchKernel(WeftContext &context, const WeftCommand &command,
                        const char *name, const LaunchShape &shape,
                        void **arguments) {
  doFor(context, command, [&](CudaDevice &device) {
    return device.launch(name, shape, arguments);
  });
}

int weft::deviceNumber(WeftContext &context) {
  const CudaChip &chip = deviceOf(context).chipOf();
  return chip.major * 10 + chip.minor;
}

void *weft::deviceStream(WeftContext &context) {
  return deviceOf(context).stream();
}

void weft::copyOnDevice(WeftContext &context, const WeftCommand &command,
                        void *to, const void *from, int64_t bytes) {
  doFor(context, command,
        [&](CudaDevice &device) { return device.copy(to, from, bytes); });
}

const void *weft::constantOnDevice(WeftContext &context,
                                   const WeftCommand &command) {
  return deviceOf(context).constantAt(command.record);
}

void weft::fillOnDevice(WeftContext &context, const WeftCommand &command,
                        void *to, unsigned char byte, int64_t bytes) {
  doFor(context, command,
        [&](CudaDevice &device) { return device.fill(to, byte, bytes); });
}

Status weft::copyToDevice(WeftContext &context, void *to, const void *from,
                          int64_t bytes) {
  const int64_t offset =
      static_cast<char *>(to) - static_cast<char *>(context.at(0));
  return deviceOf(context).copyIn(offset, from, bytes);
}

Expected<float> weft::timeOnDevice(WeftContext &context,
                                   const std::function<void()> &work) {
  return deviceOf(context).time(work);
}

void weft::exchangeOnDevices(WeftContext &context, const WeftCommand &command,
                             const DeviceExchange &exchange) {
  doFor(context, command,
        [&](CudaDevice &device) { return device.exchange(command, exchange); });
}

bool weft::canReduceOnDevices(WeftContext &context) {
  return deviceOf(context).canReduce();
}

void weft::reduceOnDevices(WeftContext &context, const WeftCommand &command,
                           const DeviceReduction &reduction) {
  doFor(context, command,
        [&](CudaDevice &device) { return device.reduce(command, reduction); });
}

int weft::rankOnDevice(WeftContext &context, const WeftCommand &command,
                       const WeftRankGroup &among) {
  int rank = -1;
  doFor(context, command, [&](CudaDevice &device) {
    auto place = device.placeIn(among);
    if (!place)
      return Status(place.takeError());
    rank = place->rank;
    return Status::success();
  });
  return rank;
}

std::optional<float> weft::deviceFlag(WeftContext &context,
                                      const void *address) {
  return deviceOf(context).flagAt(address);
}
