//===- CudaRun.cpp - Runs the commands of a program on a CUDA device ------===//

#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/Launch.h"
#include "weft/Runtime/Execute/Transfers.h"

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
/// may lie at the same place.
static const WeftPort *findInput(const WeftProgram &program, int64_t offset) {
  for (int32_t i = 0; i < program.numInputs; ++i)
    if (program.inputs[i].offset == offset)
      return &program.inputs[i];
  return nullptr;
}

/// The same for the place that a command copies an input to.
static const WeftPort *findCopied(const WeftProgram &program, int64_t offset) {
  for (int32_t i = 0; i < program.numCommands; ++i) {
    const WeftCommand &command = program.commands[i];
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

/// Copies from or to the host, and events.
Status CudaDevice::transfer(const WeftCommand &command) {
  const WeftTransferRecord &record = *findTransfer(command);
  const CUstream queue = streams[size_t(record.stream)].get();
  switch (command.kind) {
  case WEFT_UPLOAD:
    return ports->upload(arena.get(), queue);
  case WEFT_READBACK:
    return ports->readBack(arena.get(), queue);
  case WEFT_RECORD:
    return cuda.cuEventRecord(events[size_t(record.event)].get(), queue);
  default:
    return cuda.cuStreamWaitEvent(queue, events[size_t(record.event)].get(),
                                  0u);
  }
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

Status CudaDevice::launchAll(WeftContext &context, const Commands &commands) {
  void *const *buffers = commands.buffers;
  for (int32_t i = commands.begin; i < commands.end; ++i) {
    const WeftCommand &command = commands.program.commands[i];
    ranges.moveTo(command.scope);
    if (Status s = launchCommand(context, command, buffers); !s)
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
// Recordings
//===----------------------------------------------------------------------===//

/// The recording whose flags are what the inputs hold now, or null.
CudaDevice::Recording *CudaDevice::findRecording(const Commands &commands) {
  for (Recording &recording :
       recordings[&commands.program.commands[commands.begin]]) {
    bool isSame = true;
    for (const CudaFlag &flag : recording.flags)
      isSame = isSame && std::memcmp(ports->inputAt(flag.offset), &flag.value,
                                     sizeof flag.value) == 0;
    if (isSame)
      return &recording;
  }
  return nullptr;
}

Status CudaDevice::record(WeftContext &context, const Commands &commands,
                          Recording &recording) {
  if (Status s = cuda.cuStreamBeginCapture_v2(
          stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
      !s)
    return s;
  Status launched = launchAll(context, commands);
  CUgraph graph = nullptr;
  Status ended = cuda.cuStreamEndCapture(stream(), &graph);
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
Status CudaDevice::launchRecorded(WeftContext &context,
                                  const Commands &commands) {
  flags.clear();
  if (!options.graphs)
    return launchAll(context, commands);
  Recording *recording = findRecording(commands);
  if (!recording) {
    if (Status s = launchAll(context, commands); !s)
      return s;
    recordings[&commands.program.commands[commands.begin]].push_back(
        {flags, {}});
    return Status::success();
  }
  if (!recording->graph)
    if (Status s = record(context, commands, *recording); !s)
      return s;
  return cuda.cuGraphLaunch(recording->graph.get(), stream());
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Copies and events go to their streams by themselves, and what stands between
/// two of them as a whole.
Status CudaDevice::launchProgram(WeftContext &context,
                                 const WeftProgram &program) {
  Commands next = {program, 0, 0, context.resolve(program).data()};
  auto isWork = [&](int32_t i) {
    return i < program.numCommands && !isTransfer(program.commands[i].kind);
  };
  while (next.begin < program.numCommands) {
    next.end = next.begin + 1;
    if (isWork(next.begin)) {
      while (isWork(next.end))
        ++next.end;
      if (Status s = launchRecorded(context, next); !s)
        return s;
    } else if (Status s = launchAll(context, next); !s) {
      return s;
    }
    next.buffers += next.countBuffers();
    next.begin = next.end;
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
  return options.runsAhead == 0 ? synchronize() : Status::success();
}

/// After an error nothing is under way, and no copy works with memory of the
/// host.
bool CudaDevice::leave(WeftContext &context, Status status) {
  if (status)
    return true;
  context.fail(status.error().exitStatus(), status.error().message(),
               status.error().hintText());
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
