//===- DriverEvent.cpp - Events of the emulated driver --------------------===//

#include "Driver.h"
#include "Fail.h"

#include <atomic>
#include <chrono>

namespace weft::emulation {

Handles<Event> &events() {
  static auto *all = new Handles<Event>;
  return *all;
}

static Event *findEvent(CUevent handle) {
  return events().has(handle) ? reinterpret_cast<Event *>(handle) : nullptr;
}

/// Milliseconds that the clock of events is ahead of the real time.
static std::atomic<double> spentMilliseconds{0};

static double nowInMilliseconds() {
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now().time_since_epoch();
  return time.count() + spentMilliseconds;
}

} // namespace weft::emulation

using namespace weft::emulation;

void weft_emulation_spend(double milliseconds) {
  spentMilliseconds = spentMilliseconds + milliseconds;
}

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
