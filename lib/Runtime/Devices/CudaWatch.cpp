//===- CudaWatch.cpp - Runs commands one by one for hooks -----------------===//
//
// For traces and the search for NaN.
//
//===----------------------------------------------------------------------===//

#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Devices/CudaDevice.h"

#include <chrono>
#include <cmath>

using namespace weft;

static int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {
/// Timing events in streams: one at the start of each, one after each command.
class Marks {
public:
  Marks(const CudaCalls &cuda, const std::vector<CudaStream> &streams)
      : cuda(cuda), streams(streams), last(streams.size()) {}

  Status start() {
    startNs = nowNs();
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
      if (Status s = cuda.cuEventElapsedTime(&ms, events[before[mark]].get(),
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
