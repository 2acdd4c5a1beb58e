//===- AwayDevice.cpp - A host whose memory the runtime does not see ------===//
//
// Linked into a toy program in place of the host: it computes the same, but
// everything that the runtime reads or writes is copied, as on an accelerator,
// and runs may be in flight.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Devices/HostDevice.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

using namespace weft;

namespace {
using Mirrors = std::map<int64_t, std::vector<char>>;

class AwayDevice : public HostDevice {
public:
  explicit AwayDevice(int threads) : HostDevice(threads) {}

  char *hostView() const override { return nullptr; }
  char *inputBytes(const WeftPort &port) override {
    return mirrorOf(inputs, port).data();
  }
  const char *outputBytes(const WeftPort &port) override {
    return mirrorOf(outputs, port).data();
  }
  int runsInAdvance() const override { return 2; }
  int runsInFlight() const override { return int(inFlight.size()); }
  bool start(WeftContext &context, const WeftProgram &program) override {
    for (int32_t i = 0; i < program.numInputs; ++i) {
      const WeftPort &port = program.inputs[i];
      std::memcpy(arena.data() + port.offset, inputBytes(port),
                  size_t(port.bytes));
    }
    if (!HostDevice::start(context, program) || !HostDevice::finish(context)) {
      inFlight.clear();
      return false;
    }
    Mirrors &written = inFlight.emplace_back();
    for (int32_t i = 0; i < program.numOutputs; ++i) {
      const WeftPort &port = program.outputs[i];
      std::memcpy(mirrorOf(written, port).data(), arena.data() + port.offset,
                  size_t(port.bytes));
    }
    return true;
  }
  bool finish(WeftContext &) override {
    outputs = std::move(inFlight.front());
    inFlight.pop_front();
    return true;
  }

private:
  static std::vector<char> &mirrorOf(Mirrors &mirrors, const WeftPort &port) {
    std::vector<char> &mirror = mirrors[port.offset];
    mirror.resize(std::max(mirror.size(), size_t(port.bytes)));
    return mirror;
  }

  Mirrors inputs, outputs;
  std::deque<Mirrors> inFlight; // what they wrote
};
} // namespace

Expected<std::unique_ptr<WeftContext>>
weft::openDevice(const WeftExecutable &executable,
                 const DeviceOptions &options) {
  if (std::string wrong = checkTables(executable, options.ranks);
      !wrong.empty())
    return Error(ExitCode::Internal, wrong);
  auto context = std::make_unique<WeftContext>(options);
  auto device = std::make_shared<AwayDevice>(context->threads());
  if (!device->arena.allocate(executable.arenaBytes))
    return Error(ExitCode::DoesNotFit, "has no memory");
  char *base = device->arena.data();
  context->attach(executable, std::move(device), base);
  return context;
}

void weft::enterProcess(char **) {}
void weft::leaveProcess() {}
