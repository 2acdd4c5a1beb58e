//===- CudaRun.cpp - Runs the commands of a program on a CUDA device ------===//

#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/Launch.h"

#include <chrono>
#include <cmath>
#include <cstring>

using namespace weft;

//===----------------------------------------------------------------------===//
// Work for the stream
//===----------------------------------------------------------------------===//

static CUdeviceptr addressOf(const void *place) {
  return reinterpret_cast<CUdeviceptr>(place);
}

Status CudaDevice::launch(const char *name, const LaunchShape &shape,
                          void **arguments) {
  auto function = images->find(name, shape.sharedBytes);
  if (!function)
    return function.takeError();
  const unsigned *grid = shape.grid, *block = shape.block;
  return cuda.cuLaunchKernel(*function, grid[0], grid[1], grid[2], block[0],
                             block[1], block[2], shape.sharedBytes,
                             compute.get(), arguments, nullptr);
}

Status CudaDevice::copy(void *to, const void *from, int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  return cuda.cuMemcpyDtoDAsync_v2(addressOf(to), addressOf(from),
                                   size_t(bytes), compute.get());
}

Status CudaDevice::fill(void *to, unsigned char byte, int64_t bytes) {
  if (bytes == 0)
    return Status::success();
  return cuda.cuMemsetD8Async(addressOf(to), byte, size_t(bytes),
                              compute.get());
}

/// Inputs of other programs may lie at the same place.
std::optional<float> CudaDevice::flagAt(const void *address) {
  const int64_t offset = int64_t(addressOf(address) - arena.get());
  for (int32_t i = 0; i < current->numInputs; ++i) {
    const WeftPort &port = current->inputs[i];
    if (port.offset != offset || port.dtype != WEFT_F32)
      continue;
    CudaFlag flag = {offset, 0.0f};
    std::memcpy(&flag.value, ports->findInput(offset), sizeof flag.value);
    flags.push_back(flag);
    return flag.value;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// What went wrong, with the command that it went wrong in.
static Error inCommand(Error error, const WeftCommand &command) {
  std::string place = command.name;
  if (command.scope && *command.scope)
    place += std::string(" in ") + command.scope;
  return Error(error.code(), place + ": " + error.message())
      .hint(error.hintText());
}

Status CudaDevice::launchCommand(WeftContext &context,
                                 const WeftCommand &command,
                                 void *const *buffers) {
  if (command.library) {
    command.library(&context, &command, buffers);
    if (!context.failed())
      return Status::success();
    Error error(ExitCode(context.error()), context.message());
    context.clearError();
    return error;
  }
  const WeftDeviceKernel &kernel = *command.deviceKernel;
  // The arguments are the addresses of the buffers.
  std::vector<void *> arguments;
  for (int32_t i = 0; i < command.numBuffers; ++i)
    arguments.push_back(const_cast<void **>(&buffers[i]));
  Status launched = cuda.cuLaunchKernel(
      kernels[command.deviceKernel], unsigned(kernel.blocks), 1u, 1u,
      unsigned(kernel.threadsX), unsigned(kernel.threadsY), 1u, 0u,
      compute.get(), arguments.data(), nullptr);
  return launched ? Status::success()
                  : Status(inCommand(launched.takeError(), command));
}

Status CudaDevice::launchAll(WeftContext &context, const WeftProgram &program) {
  void *const *buffers = context.resolve(program).data();
  for (int32_t i = 0; i < program.numCommands; ++i) {
    const WeftCommand &command = program.commands[i];
    if (Status s = launchCommand(context, command, buffers); !s)
      return s;
    buffers += command.numBuffers;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Watched runs: one command after the other, for traces and the hunt for NaN
//===----------------------------------------------------------------------===//

static int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Tells the hook what each command took on the device.
Status CudaDevice::report(WeftContext &context, const WeftProgram &program,
                          const std::vector<CudaEvent> &events,
                          int64_t startNs) {
  if (Status s = cuda.cuStreamSynchronize(compute.get()); !s)
    return s;
  int64_t passed = 0;
  for (int32_t i = 0; i < program.numCommands; ++i) {
    float ms = 0.0f;
    if (Status s = cuda.cuEventElapsedTime(&ms, events[size_t(i)].get(),
                                           events[size_t(i) + 1].get());
        !s)
      return s;
    const int64_t ns = std::llround(double(ms) * 1e6);
    context.traceHook({&program, &program.commands[i], startNs + passed, ns});
    passed += ns;
  }
  return Status::success();
}

Status CudaDevice::launchWatched(WeftContext &context,
                                 const WeftProgram &program) {
  std::vector<CudaEvent> events;
  auto mark = [&]() -> Status {
    auto event = makeEvent(cuda, /*timed=*/true);
    if (!event)
      return event.takeError();
    events.push_back(std::move(*event));
    return cuda.cuEventRecord(events.back().get(), compute.get());
  };
  const int64_t startNs = nowNs();
  if (Status s = mark(); !s)
    return s;
  void *const *buffers = context.resolve(program).data();
  for (int32_t i = 0; i < program.numCommands; ++i) {
    const WeftCommand &command = program.commands[i];
    if (Status s = launchCommand(context, command, buffers); !s)
      return s;
    if (Status s = mark(); !s)
      return s;
    if (context.checkHook) {
      if (Status s = cuda.cuStreamSynchronize(compute.get()); !s)
        return inCommand(s.takeError(), command);
      if (!context.checkHook(program, command, buffers))
        return Error(ExitCode(context.error()), context.message());
    }
    buffers += command.numBuffers;
  }
  return context.traceHook ? report(context, program, events, startNs)
                           : Status::success();
}

//===----------------------------------------------------------------------===//
// Recordings
//===----------------------------------------------------------------------===//

/// The recording whose flags are what the inputs hold now, or null.
CudaDevice::Recording *CudaDevice::findRecording(const WeftProgram &program) {
  for (Recording &recording : recordings[&program]) {
    bool isSame = true;
    for (const CudaFlag &flag : recording.flags)
      isSame = isSame && std::memcmp(ports->findInput(flag.offset), &flag.value,
                                     sizeof flag.value) == 0;
    if (isSame)
      return &recording;
  }
  return nullptr;
}

Status CudaDevice::record(WeftContext &context, const WeftProgram &program,
                          Recording &recording) {
  if (Status s = cuda.cuStreamBeginCapture_v2(
          compute.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
      !s)
    return s;
  Status launched = launchAll(context, program);
  CUgraph graph = nullptr;
  Status ended = cuda.cuStreamEndCapture(compute.get(), &graph);
  CudaGraph owned;
  if (graph)
    owned = CudaGraph(cuda.driver(), graph);
  if (!launched)
    return launched;
  if (!ended)
    return ended;
  CUgraphExec exec = nullptr;
  if (Status s = cuda.cuGraphInstantiateWithFlags(&exec, graph, 0ull); !s)
    return s;
  recording.graph = CudaGraphExec(cuda.driver(), exec);
  return Status::success();
}

/// The first run makes what routines keep; a second one like it is recorded.
Status CudaDevice::launchProgram(WeftContext &context,
                                 const WeftProgram &program) {
  current = &program;
  flags.clear();
  if (context.traceHook || context.checkHook)
    return launchWatched(context, program);
  if (!options.graphs)
    return launchAll(context, program);
  Recording *recording = findRecording(program);
  if (!recording) {
    if (Status s = launchAll(context, program); !s)
      return s;
    recordings[&program].push_back({flags, {}});
    return Status::success();
  }
  if (!recording->graph)
    if (Status s = record(context, program, *recording); !s)
      return s;
  return cuda.cuGraphLaunch(recording->graph.get(), compute.get());
}

Status CudaDevice::startProgram(WeftContext &context,
                                const WeftProgram &program) {
  if (Status s = ports->upload(program, arena.get(), compute.get()); !s)
    return s;
  if (Status s = launchProgram(context, program); !s)
    return s;
  if (Status s = ports->readBack(program, arena.get(), compute.get()); !s)
    return s;
  return options.runsAhead == 0 ? synchronize() : Status::success();
}

/// After an error nothing is under way, and no copy works with memory of the
/// host.
bool CudaDevice::leave(WeftContext &context, Status status) {
  if (status)
    return true;
  context.fail(status.error().exitStatus(), status.error().message());
  (void)synchronize();
  ports->drop();
  return false;
}

bool CudaDevice::start(WeftContext &context, const WeftProgram &program) {
  return leave(context, startProgram(context, program));
}

bool CudaDevice::finish(WeftContext &context) {
  return leave(context, ports->wait());
}
