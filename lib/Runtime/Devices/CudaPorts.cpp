//===- CudaPorts.cpp - Inputs and outputs of programs ---------------------===//

#include "weft/Runtime/Devices/CudaPorts.h"

#include <algorithm>

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
  if (Status s = take(makeHostMemory(cuda, inputs.bytes()), hostInputs); !s)
    return s;
  if (Status s = take(makeHostMemory(cuda, outputs.bytes()), hostOutputs); !s)
    return s;
  if (Status s = take(makeDeviceMemory(cuda, inputs.bytes()), deviceInputs); !s)
    return s;
  std::fill_n(host(hostInputs, 0), inputs.bytes(), char(0));
  std::fill_n(host(hostOutputs, 0), outputs.bytes(), char(0));
  return take(makeDeviceMemory(cuda, outputs.bytes()), deviceOutputs);
}

Status CudaPorts::makeQueues() {
  for (CudaStream *stream : {&uploads, &reads})
    if (Status s = take(makeStream(cuda), *stream); !s)
      return s;
  for (CudaEvent *event : {&uploaded, &placed, &gathered, &arrived})
    if (Status s = take(makeEvent(cuda), *event); !s)
      return s;
  return Status::success();
}

Expected<CudaPorts> CudaPorts::make(const CudaCalls &cuda,
                                    const WeftExecutable &executable) {
  CudaPorts ports(cuda, executable);
  if (Status s = ports.makeBlocks(); !s)
    return s.takeError();
  if (Status s = ports.makeQueues(); !s)
    return s.takeError();
  return ports;
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

char *CudaPorts::input(const WeftPort &port) {
  if (std::exchange(isUploading, false))
    lastWait = cuda.cuEventSynchronize(uploaded.get());
  return host(hostInputs, inputs.find(port.offset)->begin);
}

const char *CudaPorts::output(const WeftPort &port) const {
  return host(hostOutputs, outputs.find(port.offset)->begin);
}

const char *CudaPorts::findInput(int64_t offset) const {
  const PortBlock::Slot *slot = inputs.find(offset);
  return slot ? host(hostInputs, slot->begin) : nullptr;
}

Status CudaPorts::upload(const WeftProgram &program, CUdeviceptr arena,
                         CUstream stream) {
  const auto [begin, end] = inputs.rangeOf(program);
  if (begin == end)
    return Status::success();
  if (Status s = std::exchange(lastWait, Status()); !s)
    return s;
  // Not before the last inputs have left the device's block.
  if (Status s = cuda.cuStreamWaitEvent(uploads.get(), placed.get(), 0u); !s)
    return s;
  if (Status s = cuda.cuMemcpyHtoDAsync_v2(
          deviceInputs.get() + CUdeviceptr(begin), host(hostInputs, begin),
          size_t(end - begin), uploads.get());
      !s)
    return s;
  if (Status s = cuda.cuEventRecord(uploaded.get(), uploads.get()); !s)
    return s;
  isUploading = true;
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

Status CudaPorts::readBack(const WeftProgram &program, CUdeviceptr arena,
                           CUstream stream) {
  const auto [begin, end] = outputs.rangeOf(program);
  for (int32_t i = 0; i < program.numOutputs; ++i) {
    const WeftPort &port = program.outputs[i];
    const int64_t to = outputs.find(port.offset)->begin;
    if (Status s = cuda.cuMemcpyDtoDAsync_v2(
            deviceOutputs.get() + CUdeviceptr(to),
            arena + CUdeviceptr(port.offset), size_t(port.bytes), stream);
        !s)
      return s;
  }
  if (Status s = cuda.cuEventRecord(gathered.get(), stream); !s)
    return s;
  if (Status s = cuda.cuStreamWaitEvent(reads.get(), gathered.get(), 0u); !s)
    return s;
  if (begin < end)
    if (Status s = cuda.cuMemcpyDtoHAsync_v2(
            host(hostOutputs, begin), deviceOutputs.get() + CUdeviceptr(begin),
            size_t(end - begin), reads.get());
        !s)
      return s;
  isReading = true;
  return cuda.cuEventRecord(arrived.get(), reads.get());
}

Status CudaPorts::wait() {
  return std::exchange(isReading, false)
             ? cuda.cuEventSynchronize(arrived.get())
             : Status::success();
}

Status CudaPorts::synchronize() {
  if (Status s = cuda.cuStreamSynchronize(uploads.get()); !s)
    return s;
  return cuda.cuStreamSynchronize(reads.get());
}
