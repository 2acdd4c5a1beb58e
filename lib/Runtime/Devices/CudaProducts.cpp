//===- CudaProducts.cpp - Library products, planned at the start ----------===//

#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/OpenLibrary.h"
#include "weft/Runtime/Execute/CudaProductRun.h"

#include <cstdlib>

// Weak: a program links only the planners of its own commands.
namespace weft {
[[gnu::weak]] std::vector<LibraryName> cudaProductLibraries();
[[gnu::weak]] Expected<CudaProductFacts>
openCudaProducts(WeftContext &context, const CudaProductRun &run);
[[gnu::weak]] Status checkCudaTuning(const CudaProductRun &run);
[[gnu::weak]] Status checkCudaProducts(WeftContext &context);
[[gnu::weak]] std::string describeTuning(WeftContext &context);
[[gnu::weak]] Expected<std::string> findCachedTuning(WeftContext &context,
                                                     const std::string &cache);
[[gnu::weak]] Expected<std::string> takeFoundTuning(WeftContext &context,
                                                    const std::string &text);
[[gnu::weak]] Expected<int64_t> tuneCudaProducts(WeftContext &context,
                                                 const std::string &path);
} // namespace weft
extern "C" {
[[gnu::weak]] void weft_cuda_gemm_prepare(WeftContext *, const WeftCommand *,
                                          void *const *);
}

using namespace weft;

/// The planner of a command; null if there is none.
static WeftLibraryFn findPlanner(const WeftCommand &command) {
  return command.kind == WEFT_GEMM ? weft_cuda_gemm_prepare
                                   : CudaAttention::plannerOf(command);
}

/// The routine of a command that launches kernels of the program; null if there
/// is none.
static WeftLibraryFn findLauncher(const WeftCommand &command) {
  return command.kind == WEFT_GEMM ? nullptr
                                   : CudaAttention::ownRoutineOf(command);
}

/// Lets a routine look up the kernels that it will launch, without a launch.
void CudaDevice::rehearse(WeftContext &context, WeftLibraryFn routine,
                          const WeftProgram &program,
                          const WeftCommand &command, void *const *buffers) {
  current = &program;
  rehearses = true;
  routine(&context, &command, buffers);
  rehearses = false;
}

/// Lets libraries plan their commands, and routines look up their kernels. A
/// command that cannot run in its workspace or on this device fails before data
/// is read.
Status CudaDevice::planCommands(WeftContext &context) {
  for (const WeftProgram &program : programsOf(executable)) {
    void *const *buffers = context.resolve(program).data();
    for (int32_t k = 0; k < program.numCommands && !context.failed(); ++k) {
      const WeftCommand &command = program.commands[k];
      if (WeftLibraryFn plan = findPlanner(command))
        plan(&context, &command, buffers);
      WeftLibraryFn launcher = findLauncher(command);
      if (launcher && !context.failed())
        rehearse(context, launcher, program, command, buffers);
      buffers += command.numBuffers;
    }
  }
  if (context.failed())
    return context.takeError();
  return Status::success();
}

Status CudaDevice::findLibraries(const WeftExecutable &executable,
                                 const DeviceOptions &options) {
  std::vector<LibraryName> names = {CudaDriver::library()};
  auto add = [&](const std::vector<LibraryName> &more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  if (cudaProductLibraries)
    add(cudaProductLibraries());
  add(CudaAttention(executable).libraries());
  if (options.ranksAreProcesses)
    add(deviceRankLibraries());
  return weft::findLibraries(names);
}

static Error hasNoProducts() {
  return usageError("--tuning expects a program with products, but got one "
                    "without");
}

/// Whether algorithms are measured, and kept for later runs.
static bool tunesItself(const DeviceOptions &options) {
  return options.tuning == "auto";
}

Status CudaDevice::checkTuning(const DeviceOptions &options) {
  if (options.tuning.empty())
    return Status::success();
  if (!checkCudaTuning)
    return hasNoProducts();
  if (tunesItself(options))
    return Status::success();
  return checkCudaTuning({"", 0, 0, options.tf32, options.tuning});
}

/// Opens the library of products, and records its facts for checkpoints.
Status CudaDevice::openProducts(WeftContext &context) {
  auto facts = openCudaProducts(
      context, {chip.device, multiprocessors, options.collectiveCtas,
                options.tf32, tunesItself(options) ? "" : options.tuning});
  if (!facts)
    return facts.takeError();
  known.push_back({"cublaslt", facts->library});
  if (!facts->tuning.empty())
    known.push_back({"tuning", facts->tuning});
  return Status::success();
}

/// The folder of algorithms that runs have measured.
static Expected<std::string> tuningCache() {
  // A relative path is no place, says the XDG specification.
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base == '/')
    return std::string(base) + "/weft/tuning";
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/weft/tuning";
  return usageError("--tuning=auto found no folder for what it measures")
      .hint("set HOME or XDG_CACHE_HOME, or use --tune FILE");
}

std::string CudaDevice::describeTuning(WeftContext &context) const {
  return weft::describeTuning ? weft::describeTuning(context) : "";
}

Expected<std::string> CudaDevice::findAlgorithms(WeftContext &context) {
  auto folder = tuningCache();
  if (!folder)
    return folder.takeError();
  return findCachedTuning ? findCachedTuning(context, *folder)
                          : Device::findAlgorithms(context);
}

/// Records the digest of the algorithms for checkpoints.
Status CudaDevice::useAlgorithms(WeftContext &context,
                                 const std::string &text) {
  if (!takeFoundTuning)
    return Device::useAlgorithms(context, text);
  auto digest = takeFoundTuning(context, text);
  if (!digest)
    return digest.takeError();
  known.push_back({"tuning", *digest});
  return Status::success();
}

Status CudaDevice::planLibraries(WeftContext &context) {
  if (openCudaProducts) {
    if (Status s = openProducts(context); !s)
      return s;
  } else if (!options.tuning.empty()) {
    return hasNoProducts();
  }
  if (Status s = planCommands(context); !s)
    return s;
  attentionFacts = attention.facts(context);
  return openCudaProducts ? checkCudaProducts(context) : Status::success();
}

std::string CudaDevice::libraryRefusal(WeftContext &context) const {
  return attention.refusal(context);
}

void CudaDevice::forgoLibrary(WeftContext &context, const std::string &reason) {
  attention.forgo(context, reason);
  attentionFacts = attention.facts(context);
}

Expected<int64_t> CudaDevice::tune(WeftContext &context,
                                   const std::string &path) {
  return tuneCudaProducts ? tuneCudaProducts(context, path)
                          : Device::tune(context, path);
}

Expected<float> CudaDevice::time(const std::function<void()> &work) {
  auto begin = makeEvent(cuda, /*timed=*/true);
  if (!begin)
    return begin.takeError();
  auto end = makeEvent(cuda, /*timed=*/true);
  if (!end)
    return end.takeError();
  if (Status s = cuda.cuEventRecord(begin->get(), stream()); !s)
    return s.takeError();
  work();
  if (Status s = cuda.cuEventRecord(end->get(), stream()); !s)
    return s.takeError();
  if (Status s = cuda.cuEventSynchronize(end->get()); !s)
    return s.takeError();
  float milliseconds = 0;
  if (Status s =
          cuda.cuEventElapsedTime_v2(&milliseconds, begin->get(), end->get());
      !s)
    return s.takeError();
  return milliseconds;
}

//===- The process --------------------------------------------------------===//

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
    context.fail(absent());
    return false;
  }
  bool finish(WeftContext &) override { return false; }
  void warmUp(WeftContext &,
              const std::vector<const WeftProgram *> &) override {}
  Status synchronize() override { return Status::success(); }

private:
  static Error absent() {
    return internalError("expects no work for a device that was not opened");
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
           " has no effect: the program chooses its own algorithms");
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
  if (Status found = CudaDevice::findLibraries(executable, options); !found)
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
