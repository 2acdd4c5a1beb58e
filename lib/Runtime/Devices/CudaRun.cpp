//===- CudaRun.cpp - Runs the commands of a program on a CUDA device ------===//

#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/Launch.h"

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
  if (rehearses)
    return Status::success();
  const unsigned *grid = shape.grid, *block = shape.block;
  return cuda.cuLaunchKernel(*function, grid[0], grid[1], grid[2], block[0],
                             block[1], block[2], shape.sharedBytes, stream(),
                             arguments, nullptr);
}

Status CudaDevice::copy(void *to, const void *from, int64_t bytes) {
  if (bytes == 0 || rehearses)
    return Status::success();
  return cuda.cuMemcpyDtoDAsync_v2(addressOf(to), addressOf(from),
                                   size_t(bytes), stream());
}

Status CudaDevice::fill(void *to, unsigned char byte, int64_t bytes) {
  if (bytes == 0 || rehearses)
    return Status::success();
  return cuda.cuMemsetD8Async(addressOf(to), byte, size_t(bytes), stream());
}

/// The input of a program at an arena offset, or null. Inputs of other programs
/// may have the same offset.
static const WeftPort *findInput(const WeftProgram &program, int64_t offset) {
  for (const WeftPort &port : inputsOf(program))
    if (port.offset == offset)
      return &port;
  return nullptr;
}

/// The same for an offset that a command copies an input to.
static const WeftPort *findCopied(const WeftProgram &program, int64_t offset) {
  for (const WeftCommand &command : commandsOf(program)) {
    if (command.kind != WEFT_COPY || command.numBuffers != 2 ||
        command.offsets[1] != offset)
      continue;
    if (const WeftPort *input = findInput(program, command.offsets[0]))
      return input;
  }
  return nullptr;
}

std::optional<float> CudaDevice::flagAt(const void *address) {
  const int64_t offset = int64_t(addressOf(address) - arena.get());
  const WeftPort *port = findInput(*current, offset);
  if (!port)
    port = findCopied(*current, offset);
  if (!port || port->dtype != WEFT_F32)
    return std::nullopt;
  CudaFlag flag = {port->offset, 0.0f};
  std::memcpy(&flag.value, ports->inputAt(flag.offset), sizeof flag.value);
  flags.push_back(flag);
  return flag.value;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

Error CudaDevice::inCommand(Error error, const WeftCommand &command) {
  return Error(error.code(), placeOf(command) + ": " + error.message())
      .hint(error.hintText());
}

Status CudaDevice::runEvent(const WeftCommand &command,
                            const WeftTransferRecord &record) {
  const CUevent event = events[size_t(record.event)].event.get();
  return command.kind == WEFT_RECORD
             ? cuda.cuEventRecord(event, stream())
             : cuda.cuStreamWaitEvent(stream(), event, 0u);
}

/// Copies from or to the host, and events.
Status CudaDevice::transfer(const WeftCommand &command) {
  if (command.kind == WEFT_UPLOAD)
    return ports->upload(arena.get(), stream());
  if (command.kind == WEFT_READBACK)
    return ports->readBack(arena.get(), stream());
  const WeftTransferRecord &record = *findTransfer(command);
  return captures ? captureEvent(command, record) : runEvent(command, record);
}

Status CudaDevice::launchCommand(WeftContext &context,
                                 const WeftCommand &command,
                                 void *const *buffers) {
  if (isTransfer(command.kind)) {
    Status moved = transfer(command);
    return moved ? Status::success()
                 : Status(inCommand(moved.takeError(), command));
  }
  if (command.library) {
    command.library(&context, &command, buffers);
    if (!context.failed())
      return Status::success();
    return context.takeError();
  }
  const WeftDeviceKernel &kernel = *command.deviceKernel;
  // The arguments are the addresses of the buffers.
  std::vector<void *> arguments;
  for (int32_t i = 0; i < command.numBuffers; ++i)
    arguments.push_back(const_cast<void **>(&buffers[i]));
  Status launched = cuda.cuLaunchKernel(
      kernels[command.deviceKernel], unsigned(kernel.blocks), 1u, 1u,
      unsigned(kernel.threadsX), unsigned(kernel.threadsY), 1u, 0u, stream(),
      arguments.data(), nullptr);
  return launched ? Status::success()
                  : Status(inCommand(launched.takeError(), command));
}

/// Launches in the stream of the command. While ranks capture into one graph,
/// only the rank that has the turn works on it. An exception gives the turn
/// back.
Status CudaDevice::launchInStream(WeftContext &context,
                                  const WeftCommand &command,
                                  void *const *buffers) {
  struct Scope {
    CudaDevice &device;
    ~Scope() {
      device.currentStream = 0;
      if (device.captureTurn.owns_lock())
        device.captureTurn.unlock();
    }
  } scope = {*this};
  if (captures && hasPeers())
    captureTurn.lock();
  currentStream = size_t(streamOf(command));
  return launchCommand(context, command, buffers);
}

Status CudaDevice::launchAll(WeftContext &context, const Commands &commands) {
  void *const *buffers = commands.buffers;
  for (int32_t i = commands.begin; i < commands.end; ++i) {
    const WeftCommand &command = commands.program.commands[i];
    ranges.moveTo(command.scope);
    if (Status s = launchInStream(context, command, buffers); !s)
      return s;
    buffers += command.numBuffers;
  }
  ranges.moveTo(nullptr);
  return Status::success();
}

int32_t CudaDevice::Commands::countBuffers() const {
  int32_t count = 0;
  for (int32_t i = begin; i < end; ++i)
    count += program.commands[i].numBuffers;
  return count;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Status CudaDevice::launchProgram(WeftContext &context,
                                 const WeftProgram &program) {
  Commands next = {program, 0, 0, context.resolve(program).data()};
  for (const CudaRegion &region : regions.of(program)) {
    next.begin = region.begin;
    next.end = region.end;
    if (Status s = launchRegion(context, next, region); !s)
      return s;
    next.buffers += next.countBuffers();
  }
  return Status::success();
}

Status CudaDevice::startProgram(WeftContext &context,
                                const WeftProgram &program) {
  current = &program;
  if (Status s = ports->begin(program); !s)
    return s;
  Status launched = context.traceHook || context.checkHook
                        ? launchWatched(context, program)
                        : launchProgram(context, program);
  if (!launched)
    return launched;
  if (Status s = ports->end(streams); !s)
    return s;
  return options.runsInAdvance == 0 ? synchronize() : Status::success();
}

/// After an error no run is in flight, and no copy accesses host memory.
bool CudaDevice::leave(WeftContext &context, Status status) {
  if (watch) {
    watch->noteProgress();
    status = watch->explain(std::move(status));
  }
  if (status)
    return true;
  context.fail(status.error());
  // A peer's capture would be invalid.
  if (!isInPeersCapture)
    (void)synchronize();
  ports->drop();
  return false;
}

bool CudaDevice::start(WeftContext &context, const WeftProgram &program) {
  ranges.enter(program.symbol);
  Status started = startProgram(context, program);
  ranges.leave();
  return leave(context, std::move(started));
}

bool CudaDevice::finish(WeftContext &context) {
  return leave(context, ports->wait());
}

//===- Watched runs -------------------------------------------------------===//

// For traces and the search for NaN.

namespace {
/// Timing events in streams: one at the start of each, one after each command.
class Marks {
public:
  Marks(const CudaCalls &cuda, const std::vector<CudaStream> &streams)
      : cuda(cuda), streams(streams), last(streams.size()) {}

  Status start() {
    startNs = steadyNs();
    for (size_t stream = 0; stream < streams.size(); ++stream)
      if (Status s = add(stream); !s)
        return s;
    return Status::success();
  }
  /// Adds a mark after the work that the stream got so far.
  Status add(size_t stream) {
    auto event = makeEvent(cuda, /*timed=*/true);
    if (!event)
      return event.takeError();
    before.push_back(last[stream]);
    last[stream] = events.size();
    events.push_back(std::move(*event));
    return cuda.cuEventRecord(events.back().get(), streams[stream].get());
  }
  /// Reports the time of each command in its stream to the hook. All commands
  /// must be done.
  Status report(WeftContext &context, const WeftProgram &program) const {
    std::vector<int64_t> passed(streams.size(), 0);
    for (int32_t i = 0; i < program.numCommands; ++i) {
      const WeftCommand &command = program.commands[i];
      const size_t mark = streams.size() + size_t(i);
      float ms = 0.0f;
      if (Status s = cuda.cuEventElapsedTime_v2(&ms, events[before[mark]].get(),
                                                events[mark].get());
          !s)
        return s;
      const int64_t ns = std::llround(double(ms) * 1e6);
      const size_t stream = size_t(streamOf(command));
      int64_t &begin = passed[stream];
      context.traceHook(
          {&program, &command, startNs + begin, ns, int64_t(stream)});
      begin += ns;
    }
    return Status::success();
  }

private:
  const CudaCalls &cuda;
  const std::vector<CudaStream> &streams;
  std::vector<CudaEvent> events;
  std::vector<size_t> before, last; // marks of the same stream
  int64_t startNs = 0;
};
} // namespace

/// Runs one command, and calls the hook with its buffers when it is done. Of
/// all transfers the hook sees only uploads of inputs.
Status CudaDevice::runWatched(WeftContext &context, const Commands &command) {
  if (Status s = launchAll(context, command); !s)
    return s;
  const WeftCommand &done = command.program.commands[command.begin];
  if (!context.checkHook || (isTransfer(done.kind) && done.kind != WEFT_UPLOAD))
    return Status::success();
  if (Status s =
          cuda.cuStreamSynchronize(streams[size_t(streamOf(done))].get());
      !s)
    return inCommand(s.takeError(), done);
  if (context.checkHook(command.program, done, command.buffers))
    return Status::success();
  return context.takeError();
}

Status CudaDevice::launchWatched(WeftContext &context,
                                 const WeftProgram &program) {
  Marks marks(cuda, streams);
  if (Status s = marks.start(); !s)
    return s;
  void *const *buffers = context.resolve(program).data();
  for (int32_t i = 0; i < program.numCommands; ++i) {
    const WeftCommand &command = program.commands[i];
    if (Status s = runWatched(context, {program, i, i + 1, buffers}); !s)
      return s;
    if (Status s = marks.add(size_t(streamOf(command))); !s)
      return s;
    buffers += command.numBuffers;
  }
  if (!context.traceHook)
    return Status::success();
  if (Status s = synchronize(); !s)
    return s;
  return marks.report(context, program);
}
