//===- DriverStream.cpp - Streams and events of the emulated driver -------===//

#include "Driver.h"
#include "Fail.h"
#include "Memory.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace weft::emulation {

Handles<Stream> &streams() {
  static auto *all = new Handles<Stream>;
  return *all;
}

Handles<Event> &events() {
  static auto *all = new Handles<Event>;
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

static Event *findEvent(CUevent handle) {
  return events().has(handle) ? reinterpret_cast<Event *>(handle) : nullptr;
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

/// What the next operation of a stream waits for.
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

/// What passed on the clock of events beside the real time.
static std::atomic<double> spentMilliseconds{0};

static double nowInMilliseconds() {
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now().time_since_epoch();
  return time.count() + spentMilliseconds;
}

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
  // Its work goes on: nobody can wait for it by itself.
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
  // Who asks again and again sees an end.
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

void weft_emulation_spend(double milliseconds) {
  spentMilliseconds = spentMilliseconds + milliseconds;
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

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CUresult cuEventCreate(CUevent *handle, unsigned flags) {
  WEFT_ENTER("cuEventCreate", Needs::Context);
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  Event *event = events().make();
  event->flags = flags;
  *handle = reinterpret_cast<CUevent>(event);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent handle) {
  WEFT_ENTER("cuEventDestroy_v2", Needs::Context);
  Event *event = findEvent(handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  events().remove(event);
  return CUDA_SUCCESS;
}

namespace weft::emulation {
std::function<void()> recordTime(Event &event) {
  auto time = std::make_shared<double>(0);
  event.time = time;
  return [time] { *time = nowInMilliseconds(); };
}
} // namespace weft::emulation

CUresult cuEventRecord(CUevent handle, CUstream streamHandle) {
  WEFT_ENTER("cuEventRecord", Needs::Context);
  Stream *stream = findStream(streamHandle);
  Event *event = findEvent(handle);
  if (!stream || !event)
    return CUDA_ERROR_INVALID_HANDLE;
  event->capture = stream->capture;
  if (stream->capture) {
    event->nodes = stream->lastNodes;
    return CUDA_SUCCESS;
  }
  event->operation = addOperation(*stream, recordTime(*event));
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream streamHandle,
                                unsigned flags) {
  WEFT_ENTER("cuEventRecordWithFlags", Needs::Context);
  Stream *stream = findStream(streamHandle);
  Event *event = findEvent(handle);
  if (!stream || !event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (flags != CU_EVENT_RECORD_EXTERNAL || !stream->capture)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "expects an external record in a capture");
  return enqueueNode(*stream, {{}, {}, event});
}

CUresult cuEventSynchronize(CUevent handle) {
  WEFT_ENTER("cuEventSynchronize", Needs::Context);
  Event *event = findEvent(handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture) {
    event->capture->isInvalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  if (event->operation)
    runOnDevice([&] { queue().finish(event->operation); });
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent handle) { return cuEventSynchronize(handle); }

CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  WEFT_ENTER("cuEventElapsedTime_v2", Needs::Context);
  Event *first = findEvent(begin), *second = findEvent(end);
  if (!first || !second || !first->operation || !second->operation ||
      ((first->flags | second->flags) & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!first->operation->isDone || !second->operation->isDone)
    return CUDA_ERROR_NOT_READY;
  *milliseconds = float(*second->time - *first->time);
  return CUDA_SUCCESS;
}

// The name that older drivers have as well.
static CUresult elapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime(milliseconds, begin, end);
}
#undef cuEventElapsedTime
extern "C" CUresult cuEventElapsedTime(float *milliseconds, CUevent begin,
                                       CUevent end) {
  return elapsedTime(milliseconds, begin, end);
}

/// Joins a capture: what comes behind stands in its graph.
static CUresult joinCapture(Stream &stream, const Event &event) {
  if (stream.capture && stream.capture != event.capture)
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  if (!stream.capture && event.capture->isClosed)
    return CUDA_ERROR_CAPTURED_EVENT;
  stream.capture = event.capture;
  stream.lastNodes.insert(stream.lastNodes.end(), event.nodes.begin(),
                          event.nodes.end());
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream streamHandle, CUevent handle,
                           unsigned flags) {
  WEFT_ENTER("cuStreamWaitEvent", Needs::Context);
  Stream *stream = findStream(streamHandle);
  Event *event = findEvent(handle);
  if (!stream || !event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (flags == CU_EVENT_WAIT_EXTERNAL && stream->capture)
    return enqueueNode(*stream, {{}, {}, nullptr, event});
  if (flags != 0)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "expects an external wait in a capture");
  if (event->capture)
    return joinCapture(*stream, *event);
  if (stream->capture && event->operation) {
    stream->capture->isInvalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (event->operation)
    stream->last.push_back(event->operation);
  return CUDA_SUCCESS;
}
