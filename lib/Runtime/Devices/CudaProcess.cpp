//===- CudaProcess.cpp - Start of programs for CUDA devices ---------------===//

#include "weft/Runtime/Devices/CudaDevice.h"

#include <cstdlib>

using namespace weft;

namespace {
/// The device of a run that is only described: it has no memory and runs
/// nothing.
class AbsentDevice final : public Device {
public:
  explicit AbsentDevice(const WeftExecutable &executable)
      : executable(executable) {}

  std::string describe() const override {
    const bool hasImage = executable.numImages > 0;
    return std::string("a CUDA device") +
           (hasImage ? std::string(" (") + executable.images[0].chip + ")"
                     : "");
  }
  int64_t peakBytes() const override { return 0; }
  char *hostView() const override { return nullptr; }
  Status copyIn(int64_t, const void *, int64_t) override { return absent(); }
  Status copyOut(void *, int64_t, int64_t) override { return absent(); }
  Status zero(int64_t, int64_t) override { return absent(); }
  char *inputBytes(const WeftPort &) override { return nullptr; }
  const char *outputBytes(const WeftPort &) override { return nullptr; }
  int runsInAdvance() const override { return 0; }
  int runsInFlight() const override { return 0; }
  bool start(WeftContext &context, const WeftProgram &) override {
    Error error = absent();
    context.fail(error.exitStatus(), error.message());
    return false;
  }
  bool finish(WeftContext &) override { return false; }
  void warmUp(WeftContext &,
              const std::vector<const WeftProgram *> &) override {}
  Status synchronize() override { return Status::success(); }

private:
  static Error absent() {
    return Error(ExitCode::Internal,
                 "expects no work for a device that was not opened");
  }

  const WeftExecutable &executable;
};
} // namespace

/// Variables that make NVIDIA's libraries compute other numbers than the
/// program asks for.
static const char *const kNumbersVariables[] = {
    // Of all libraries.
    "NVIDIA_TF32_OVERRIDE",
    // Of cuBLASLt: other arithmetic, other algorithms.
    "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION",
    "CUBLAS_EMULATION_STRATEGY",
    "CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT",
    "CUBLASLT_HEURISTICS_LUT_FILE",
    // Of cuDNN's attention.
    "CUDNN_RESCALE_THRESHOLD", "CUDNN_USE_EX2_EMULATION"};

/// Removes them from the environment, before the libraries are opened.
static void ignoreVariables() {
  for (const char *name : kNumbersVariables)
    if (std::getenv(name)) {
      ::unsetenv(name);
      warn(std::string(name) +
           " has no effect: the program decides what it computes");
    }
}

Expected<std::unique_ptr<WeftContext>>
weft::openDevice(const WeftExecutable &executable,
                 const DeviceOptions &options) {
  if (std::string wrong = checkTables(executable, options.ranks);
      !wrong.empty())
    return Error(ExitCode::Internal, std::move(wrong));
  auto context = std::make_unique<WeftContext>(options, ThreadTeam());
  if (options.onlyDescribes) {
    if (Status tuned = CudaDevice::checkTuning(options); !tuned)
      return tuned.takeError();
    context->attach(executable, std::make_shared<AbsentDevice>(executable),
                    nullptr);
    return context;
  }
  ignoreVariables();
  if (Status found = CudaDevice::findLibraries(options); !found)
    return found.takeError();
  auto driver = CudaDriver::open();
  if (!driver)
    return driver.takeError();
  auto device = CudaDevice::open(*driver, executable, options);
  if (!device)
    return device.takeError();
  CudaDevice &opened = **device;
  context->attach(executable, std::move(*device), opened.arenaAddress());
  if (Status planned = opened.planLibraries(*context); !planned)
    return planned.takeError();
  return context;
}

// The driver asks nothing of the process.
void weft::enterProcess(char **) {}
void weft::leaveProcess() {}
