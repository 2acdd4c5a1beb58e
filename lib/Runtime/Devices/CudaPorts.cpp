//===- CudaPorts.cpp - Inputs and outputs of programs ---------------------===//

#include "weft/Runtime/Devices/CudaPorts.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace weft;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

const WeftPort *PortBlock::ports(const WeftProgram &program, Side side) {
  return side == Inputs ? program.inputs : program.outputs;
}

int32_t PortBlock::count(const WeftProgram &program, Side side) {
  return side == Inputs ? program.numInputs : program.numOutputs;
}

PortBlock::PortBlock(const WeftExecutable &executable, Side side) : side(side) {
  constexpr int64_t alignment = 256;
  std::map<int64_t, int64_t> most; // bytes at an offset
  for (int32_t p = 0; p < executable.numPrograms; ++p)
    for (int32_t i = 0; i < count(executable.programs[p], side); ++i) {
      const WeftPort &port = ports(executable.programs[p], side)[i];
      most[port.offset] = std::max(most[port.offset], port.bytes);
    }
  for (int32_t p = 0; p < executable.numPrograms; ++p)
    for (int32_t i = 0; i < count(executable.programs[p], side); ++i) {
      const int64_t offset = ports(executable.programs[p], side)[i].offset;
      if (!slots.try_emplace(offset, Slot{size, most[offset]}).second)
        continue;
      size += (most[offset] + alignment - 1) / alignment * alignment;
    }
}

const PortBlock::Slot *PortBlock::find(int64_t offset) const {
  auto found = slots.find(offset);
  return found == slots.end() ? nullptr : &found->second;
}

PortBlock::Range PortBlock::rangeOf(const WeftProgram &program) const {
  Range range = {size, 0};
  for (int32_t i = 0; i < count(program, side); ++i) {
    const WeftPort &port = ports(program, side)[i];
    const Slot &slot = *find(port.offset);
    range.begin = std::min(range.begin, slot.begin);
    range.end = std::max(range.end, slot.begin + port.bytes);
  }
  return range.end == 0 ? Range{0, 0} : range;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

int64_t CudaPorts::deviceBytes(const WeftExecutable &executable) {
  return PortBlock(executable, PortBlock::Inputs).bytes() +
         PortBlock(executable, PortBlock::Outputs).bytes();
}

template <typename Made> static Status take(Expected<Made> made, Made &target) {
  if (!made)
    return made.takeError();
  target = std::move(*made);
  return Status::success();
}

Status CudaPorts::makeBlocks() {
  hostInputs.resize(size_t(inputs.bytes()));
  if (Status s = take(makeDeviceMemory(cuda, inputs.bytes()), deviceInputs); !s)
    return s;
  return take(makeDeviceMemory(cuda, outputs.bytes()), deviceOutputs);
}

Status CudaPorts::makeQueues(int runs) {
  for (CudaStream *stream : {&uploads, &reads})
    if (Status s = take(makeStream(cuda), *stream); !s)
      return s;
  slots.resize(size_t(runs) + 1);
  std::vector<CudaEvent *> events = {&uploaded, &placed, &gathered, &taken};
  for (Slot &slot : slots)
    events.push_back(&slot.arrived);
  for (CudaEvent *event : events)
    if (Status s = take(makeEvent(cuda), *event); !s)
      return s;
  return Status::success();
}

Expected<CudaPorts> CudaPorts::make(const CudaCalls &cuda,
                                    const WeftExecutable &executable,
                                    int runs) {
  CudaPorts ports(cuda, executable);
  if (Status s = ports.makeBlocks(); !s)
    return s.takeError();
  if (Status s = ports.makeQueues(runs); !s)
    return s.takeError();
  return ports;
}

//===----------------------------------------------------------------------===//
// The host's side
//===----------------------------------------------------------------------===//

char *CudaPorts::input(const WeftPort &port) {
  return hostInputs.data() + inputs.find(port.offset)->begin;
}

const char *CudaPorts::output(const WeftPort &port) const {
  // The slot behind the newest of those that are under way.
  const int count = int(slots.size());
  const Slot &slot =
      slots[size_t((next + 2 * count - numUnderWay - 1) % count)];
  const int64_t at = outputs.find(port.offset)->begin - slot.outputBegin;
  assert(at >= 0 && at + port.bytes <= slot.outputBytes &&
         "expects an output of the run that was finished last");
  return static_cast<const char *>(slot.outputs.get()) + at;
}

const char *CudaPorts::findInput(int64_t offset) const {
  const PortBlock::Slot *slot = inputs.find(offset);
  return slot ? hostInputs.data() + slot->begin : nullptr;
}

/// Makes memory of a slot larger where it has to be.
static Status reserve(const CudaCalls &cuda, CudaHostMemory &memory,
                      int64_t &has, int64_t needs) {
  if (needs <= has)
    return Status::success();
  has = 0;
  memory = CudaHostMemory();
  if (Status s = take(makeHostMemory(cuda, needs), memory); !s)
    return s;
  has = needs;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Inputs from the device's block to their places.
Status CudaPorts::place(const WeftProgram &program, CUdeviceptr arena,
                        CUstream stream) {
  if (Status s = cuda.cuStreamWaitEvent(stream, uploaded.get(), 0u); !s)
    return s;
  for (int32_t i = 0; i < program.numInputs; ++i) {
    const WeftPort &port = program.inputs[i];
    const int64_t from = inputs.find(port.offset)->begin;
    if (Status s = cuda.cuMemcpyDtoDAsync_v2(
            arena + CUdeviceptr(port.offset),
            deviceInputs.get() + CUdeviceptr(from), size_t(port.bytes), stream);
        !s)
      return s;
  }
  return cuda.cuEventRecord(placed.get(), stream);
}

Status CudaPorts::upload(const WeftProgram &program, CUdeviceptr arena,
                         CUstream stream) {
  assert(numUnderWay + 1 < int(slots.size()) &&
         "expects the oldest run to be finished first");
  const auto [begin, end] = inputs.rangeOf(program);
  if (begin == end)
    return Status::success();
  Slot &slot = newest();
  if (Status s = reserve(cuda, slot.inputs, slot.inputBytes, end - begin); !s)
    return s;
  std::memcpy(slot.inputs.get(), hostInputs.data() + begin,
              size_t(end - begin));
  // Not before the last inputs have left the device's block.
  if (Status s = cuda.cuStreamWaitEvent(uploads.get(), placed.get(), 0u); !s)
    return s;
  if (Status s = cuda.cuMemcpyHtoDAsync_v2(
          deviceInputs.get() + CUdeviceptr(begin), slot.inputs.get(),
          size_t(end - begin), uploads.get());
      !s)
    return s;
  if (Status s = cuda.cuEventRecord(uploaded.get(), uploads.get()); !s)
    return s;
  return place(program, arena, stream);
}

/// Outputs from their places to the device's block, when the last ones have
/// left it.
Status CudaPorts::gather(const WeftProgram &program, CUdeviceptr arena,
                         CUstream stream) {
  if (Status s = cuda.cuStreamWaitEvent(stream, taken.get(), 0u); !s)
    return s;
  for (int32_t i = 0; i < program.numOutputs; ++i) {
    const WeftPort &port = program.outputs[i];
    const int64_t to = outputs.find(port.offset)->begin;
    if (Status s = cuda.cuMemcpyDtoDAsync_v2(
            deviceOutputs.get() + CUdeviceptr(to),
            arena + CUdeviceptr(port.offset), size_t(port.bytes), stream);
        !s)
      return s;
  }
  return cuda.cuEventRecord(gathered.get(), stream);
}

Status CudaPorts::readBack(const WeftProgram &program, CUdeviceptr arena,
                           CUstream stream) {
  const auto [begin, end] = outputs.rangeOf(program);
  Slot &slot = newest();
  if (Status s = reserve(cuda, slot.outputs, slot.outputBytes, end - begin); !s)
    return s;
  slot.outputBegin = begin;
  if (Status s = gather(program, arena, stream); !s)
    return s;
  if (Status s = cuda.cuStreamWaitEvent(reads.get(), gathered.get(), 0u); !s)
    return s;
  if (begin < end)
    if (Status s = cuda.cuMemcpyDtoHAsync_v2(
            slot.outputs.get(), deviceOutputs.get() + CUdeviceptr(begin),
            size_t(end - begin), reads.get());
        !s)
      return s;
  for (CudaEvent *event : {&taken, &slot.arrived})
    if (Status s = cuda.cuEventRecord(event->get(), reads.get()); !s)
      return s;
  next = (next + 1) % int(slots.size());
  ++numUnderWay;
  return Status::success();
}

Status CudaPorts::wait() {
  assert(numUnderWay > 0 && "expects a run that was started");
  const int count = int(slots.size());
  const Slot &oldest = slots[size_t((next + count - numUnderWay) % count)];
  --numUnderWay;
  return cuda.cuEventSynchronize(oldest.arrived.get());
}

Status CudaPorts::synchronize() {
  if (Status s = cuda.cuStreamSynchronize(uploads.get()); !s)
    return s;
  return cuda.cuStreamSynchronize(reads.get());
}
