//===- DriverStream.cpp - Streams of the emulated driver ------------------===//

#include "Driver.h"
#include "Fail.h"
#include "Memory.h"

#include <algorithm>
#include <atomic>

namespace weft::emulation {

Handles<Stream> &streams() {
  static auto *all = new Handles<Stream>;
  return *all;
}

Queue &queue() {
  static auto *one = new Queue(chosenSeed());
  return *one;
}

/// The stream that waits for all others, and they for it.
static Stream &legacyStream() {
  static auto *stream = new Stream;
  return *stream;
}

Stream *findStream(CUstream handle) {
  if (!handle || handle == CU_STREAM_LEGACY)
    return &legacyStream();
  return streams().has(handle) ? reinterpret_cast<Stream *>(handle) : nullptr;
}

Stream *firstStream() {
  const std::set<Stream *> &all = streams().all();
  auto first =
      std::min_element(all.begin(), all.end(), [](Stream *a, Stream *b) {
        return a->number < b->number;
      });
  return first == all.end() ? nullptr : *first;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static int numRunning;

bool isOnDevice() { return numRunning != 0; }

void runOnDevice(const std::function<void()> &work) {
  reportFaults();
  DeviceMemory::get().setOpen(true);
  ++numRunning;
  work();
  --numRunning;
  DeviceMemory::get().setOpen(false);
}

static void append(std::vector<OperationRef> &to,
                   const std::vector<OperationRef> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Operations that the next operation of a stream waits for.
static std::vector<OperationRef> waitsOf(const Stream &stream) {
  std::vector<OperationRef> waits = stream.last;
  if (&stream == &legacyStream()) {
    for (const Stream *other : streams().all())
      if (!(other->flags & CU_STREAM_NON_BLOCKING))
        append(waits, other->last);
  } else if (!(stream.flags & CU_STREAM_NON_BLOCKING)) {
    append(waits, legacyStream().last);
  }
  return waits;
}

OperationRef addOperation(Stream &stream, std::function<void()> run) {
  OperationRef operation = queue().add(std::move(run), waitsOf(stream));
  stream.last = {operation};
  return operation;
}

CUresult enqueueNode(Stream &stream, GraphNode node) {
  if (stream.capture->isInvalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<GraphNode> &nodes = stream.capture->graph.nodes;
  node.after = stream.lastNodes;
  node.priority = stream.priority;
  nodes.push_back(std::move(node));
  stream.lastNodes = {nodes.size() - 1};
  return CUDA_SUCCESS;
}

CUresult enqueue(Stream &stream, Prepare prepare) {
  if (stream.capture)
    return enqueueNode(stream, {std::move(prepare), {}});
  addOperation(stream, prepare());
  return CUDA_SUCCESS;
}

CUresult enqueueWork(Stream &stream, std::function<void()> run) {
  return enqueue(stream, [run] { return run; });
}

CUresult finishStream(Stream &stream) {
  if (stream.capture) {
    stream.capture->isInvalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  std::vector<OperationRef> waits = waitsOf(stream);
  runOnDevice([&] {
    for (const OperationRef &operation : waits)
      queue().finish(operation);
  });
  return CUDA_SUCCESS;
}

CUresult refuseInCapture(const char *entry) {
  bool captures = false;
  for (Stream *stream : streams().all())
    if (stream->capture) {
      stream->capture->isInvalid = true;
      captures = true;
    }
  return captures ? refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                           std::string(entry) + " while a stream captures")
                  : CUDA_SUCCESS;
}

static std::atomic<int> numCaptures{0};

void countCapture(int change) { numCaptures += change; }

} // namespace weft::emulation

using namespace weft::emulation;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// The greatest priority; the least is 0.
static constexpr int kGreatest = -5;

static CUresult createStream(CUstream *handle, unsigned flags, int priority) {
  if (!handle || flags > CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  static uint64_t numMade;
  Stream *stream = streams().make();
  stream->number = numMade++;
  stream->flags = flags;
  stream->priority = priority;
  *handle = reinterpret_cast<CUstream>(stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
  WEFT_ENTER("cuStreamCreate", Needs::Context);
  return createStream(handle, flags, 0);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  WEFT_ENTER("cuCtxGetStreamPriorityRange", Needs::Context);
  if (least)
    *least = 0;
  if (greatest)
    *greatest = kGreatest;
  return CUDA_SUCCESS;
}

/// The real one takes other priorities too, as the nearest in the range.
CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned flags,
                                    int priority) {
  WEFT_ENTER("cuStreamCreateWithPriority", Needs::Context);
  if (priority > 0 || priority < kGreatest)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "priority " + std::to_string(priority) + " is not in 0 to " +
                      std::to_string(kGreatest));
  return createStream(handle, flags, priority);
}

CUresult cuStreamDestroy(CUstream handle) {
  WEFT_ENTER("cuStreamDestroy_v2", Needs::Context);
  if (!streams().has(handle))
    return CUDA_ERROR_INVALID_HANDLE;
  auto *stream = reinterpret_cast<Stream *>(handle);
  // Its work still runs, but nobody can wait for it alone.
  append(legacyStream().last, stream->last);
  streams().remove(stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  WEFT_ENTER("cuStreamSynchronize", Needs::Context);
  Stream *stream = findStream(handle);
  return stream ? finishStream(*stream) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamQuery(CUstream handle) {
  WEFT_ENTER("cuStreamQuery", Needs::Context);
  Stream *stream = findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  // A program that polls must see an end.
  return finishStream(*stream);
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
  WEFT_ENTER("cuLaunchHostFunc", Needs::Context);
  Stream *stream = findStream(handle);
  if (!stream || !function)
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
  return enqueueWork(*stream, [=] { function(data); });
}

/// To memory of the host that the driver gave out, as far as it can be asked.
CUresult cuStreamWriteValue32(CUstream handle, CUdeviceptr place,
                              cuuint32_t value, unsigned flags) {
  WEFT_ENTER("cuStreamWriteValue32_v2", Needs::Context);
  Stream *stream = findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (place % sizeof value != 0 || flags != CU_STREAM_WRITE_VALUE_DEFAULT)
    return CUDA_ERROR_INVALID_VALUE;
  auto *word = reinterpret_cast<std::atomic<uint32_t> *>(place);
  return enqueueWork(*stream, [=] { word->store(value); });
}

int weft_emulation_captures() { return numCaptures; }

CUresult weft_emulation_refuse_in_capture(const char *entry) {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  return refuseInCapture(entry);
}

int weft_emulation_is_capturing(CUstream handle) {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  Stream *stream = findStream(handle);
  return stream ? stream->capture != nullptr : -1;
}

void weft_emulation_do_only_needed() {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  queue().doOnlyNeeded();
}

CUresult weft_emulation_enqueue(CUstream handle, void (*work)(void *),
                                void *data, void (*destroy)(void *)) {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  Stream *stream = findStream(handle);
  if (!stream || !work)
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
  // Kept as long as the work may run again, as a part of a graph.
  std::shared_ptr<void> kept(data, [destroy](void *owned) {
    if (destroy)
      destroy(owned);
  });
  return enqueueWork(*stream, [=] { work(kept.get()); });
}

void weft_emulation_use(const void *place, size_t bytes, int isWrite,
                        const char *who) {
  if (bytes == 0)
    return;
  DeviceMemory &memory = DeviceMemory::get();
  if (!isWrite)
    return memory.expectWritten(place, bytes, who);
  memory.expectRange(place, bytes, who);
  memory.markWritten(place, bytes);
}
