//===- HostDevice.h - The CPU as a device -----------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_HOSTDEVICE_H
#define WEFT_RUNTIME_DEVICES_HOSTDEVICE_H

#include "weft/Runtime/Devices/Device.h"

namespace weft {

/// Zeroed bytes of an exact size, aligned to a page, and to 2 MiB (and in huge
/// pages where the system gives them) from that size on.
class Arena {
public:
  Arena() = default;
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  /// False if the system has no memory for it.
  bool allocate(int64_t bytes);
  char *data() const { return base; }
  int64_t size() const { return bytes; }

private:
  char *base = nullptr;
  int64_t bytes = 0;
};

/// Memory of the host, and the threads of the context that it belongs to.
class HostDevice : public Device {
public:
  explicit HostDevice(int threads) : threads(threads) {}

  std::string describe() const override;
  int64_t peakBytes() const override;
  char *hostView() const override { return arena.data(); }
  Status copyIn(int64_t offset, const void *data, int64_t bytes) override;
  Status copyOut(void *data, int64_t offset, int64_t bytes) override;
  Status zero(int64_t offset, int64_t bytes) override;
  char *inputBytes(const WeftPort &port) override;
  const char *outputBytes(const WeftPort &port) override;
  /// The host has one arena, so outputs of a run are valid until the next one.
  int runsInAdvance() const override { return 0; }
  int runsInFlight() const override { return isInFlight; }
  bool start(WeftContext &context, const WeftProgram &program) override;
  bool finish(WeftContext &context) override;
  void warmUp(WeftContext &context,
              const std::vector<const WeftProgram *> &programs) override;
  Status synchronize() override { return Status::success(); }

  Arena arena;

private:
  int threads;
  bool isInFlight = false; // a run that was started is done, not finished
};

/// The first error in the tables of a program that `ranks` ranks run on the
/// host, or "". A program for another device is linked with another library.
std::string checkHostTables(const WeftExecutable &executable, int ranks);

/// From now on a library that ends the process (libgomp does, with status 1)
/// leads to an error of weft's own and status 9. Part of enterProcess().
void watchExits();

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_HOSTDEVICE_H
