//===- CudaProcess.cpp - What a program for CUDA devices starts with ------===//

#include "weft/Runtime/Devices/CudaDevice.h"

// Weak: a program links what has the library of its commands plan them.
extern "C" {
[[gnu::weak]] void weft_cuda_gemm_prepare(WeftContext *, const WeftCommand *,
                                          void *const *);
[[gnu::weak]] void weft_cuda_attention_cudnn_prepare(WeftContext *,
                                                     const WeftCommand *,
                                                     void *const *);
}

using namespace weft;

namespace {
/// Stands for the device of a run that only says what it would do.
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
  int runsAhead() const override { return 0; }
  int runsUnderWay() const override { return 0; }
  bool start(WeftContext &context, const WeftProgram &) override {
    Error error = absent();
    context.fail(error.exitStatus(), error.message());
    return false;
  }
  bool finish(WeftContext &) override { return false; }
  void warmUp(WeftContext &,
              std::initializer_list<const WeftProgram *>) override {}
  Status synchronize() override { return Status::success(); }

private:
  static Error absent() {
    return Error(ExitCode::Internal,
                 "expects no work for a device that was not opened");
  }

  const WeftExecutable &executable;
};
} // namespace

/// What plans commands of a kind; null where nothing does.
static WeftLibraryFn findPlanner(int32_t kind) {
  switch (kind) {
  case WEFT_GEMM:
    return weft_cuda_gemm_prepare;
  case WEFT_ATTENTION:
  case WEFT_ATTENTION_GRAD:
    return weft_cuda_attention_cudnn_prepare;
  default:
    return nullptr;
  }
}

/// Has the libraries plan what they compute, so that what they cannot run in
/// its workspace, and a library that is missing, are errors before data is
/// read.
static Status planCommands(WeftContext &context,
                           const WeftExecutable &executable) {
  for (int32_t i = 0; i < executable.numPrograms; ++i) {
    const WeftProgram &program = executable.programs[i];
    void *const *buffers = context.resolve(program).data();
    for (int32_t k = 0; k < program.numCommands && !context.failed(); ++k) {
      const WeftCommand &command = program.commands[k];
      if (WeftLibraryFn plan = findPlanner(command.kind))
        plan(&context, &command, buffers);
      buffers += command.numBuffers;
    }
  }
  if (context.failed())
    return Error(ExitCode(context.error()), context.message());
  return Status::success();
}

Expected<std::unique_ptr<WeftContext>>
weft::openDevice(const WeftExecutable &executable,
                 const DeviceOptions &options) {
  if (std::string wrong = checkTables(executable, options.ranks);
      !wrong.empty())
    return Error(ExitCode::Internal, std::move(wrong));
  auto context = std::make_unique<WeftContext>(options, ThreadTeam());
  if (options.onlyDescribes) {
    context->attach(executable, std::make_shared<AbsentDevice>(executable),
                    nullptr);
    return context;
  }
  auto driver = CudaDriver::open();
  if (!driver)
    return driver.takeError();
  auto device = CudaDevice::open(*driver, executable, options);
  if (!device)
    return device.takeError();
  void *arena = (*device)->arenaAddress();
  context->attach(executable, std::move(*device), arena);
  if (Status planned = planCommands(*context, executable); !planned)
    return planned.takeError();
  return context;
}

// The driver asks nothing of the process.
void weft::enterProcess(char **) {}
void weft::leaveProcess() {}
