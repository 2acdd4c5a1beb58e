//===- CudaPorts.cpp - Inputs and outputs of programs ---------------------===//

#include "weft/Runtime/Devices/CudaPorts.h"

#include "weft/Abi/TransferRecords.h"
#include "weft/Runtime/Execute/Context.h"

#include <algorithm>
#include <cassert>
#include <cstring>

using namespace weft;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

PortBlock::PortBlock(const WeftPort *ports, int32_t count) {
  // Alignment of arena buffers: a smaller gap cannot hold another buffer.
  constexpr int64_t alignment = 256;
  std::vector<const WeftPort *> order;
  for (int32_t i = 0; i < count; ++i)
    order.push_back(&ports[i]);
  std::sort(order.begin(), order.end(),
            [](const WeftPort *a, const WeftPort *b) {
              return a->offset < b->offset;
            });
  for (const WeftPort *port : order) {
    const int64_t end = port->offset + port->bytes;
    if (list.empty() ||
        port->offset >= list.back().offset + list.back().bytes + alignment)
      list.push_back(
          {port->offset, 0, (size + alignment - 1) / alignment * alignment});
    Piece &piece = list.back();
    piece.bytes = std::max(piece.bytes, end - piece.offset);
    size = piece.begin + piece.bytes;
  }
}

int64_t PortBlock::find(int64_t offset) const {
  for (const Piece &piece : list)
    if (offset >= piece.offset && offset < piece.offset + piece.bytes)
      return piece.begin + offset - piece.offset;
  return -1;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// Checks that one command of that kind has the offsets of all ports, or that
/// there are no such commands and no ports.
static Status checkPorts(const WeftProgram &program, const WeftPort *ports,
                         int32_t count, WeftTransferKind kind) {
  const WeftCommand *found = nullptr;
  int commands = 0;
  for (const WeftCommand &command : commandsOf(program))
    if (command.kind == kind)
      found = &command, ++commands;
  if (commands > 1 || (commands == 0 && count > 0))
    return internalError("expects one command ", inQuotes(transferName(kind)),
                         " in the program ", inQuotes(program.symbol),
                         ", but got ", commands);
  for (int32_t i = 0; i < count; ++i) {
    const int64_t *end = found->offsets + found->numBuffers;
    if (std::find(found->offsets, end, ports[i].offset) == end)
      return internalError("expects the command ", inQuotes(transferName(kind)),
                           " of the program ", inQuotes(program.symbol),
                           " to have the port ", inQuotes(ports[i].name),
                           ", but it has not");
  }
  return Status::success();
}

Status CudaPorts::addPrograms(const WeftExecutable &executable) {
  int64_t end = 0;
  first = executable.arenaBytes;
  for (const WeftProgram &program : programsOf(executable)) {
    if (Status s =
            checkPorts(program, program.inputs, program.numInputs, WEFT_UPLOAD);
        !s)
      return s;
    if (Status s = checkPorts(program, program.outputs, program.numOutputs,
                              WEFT_READBACK);
        !s)
      return s;
    for (const WeftPort &port : inputsOf(program)) {
      first = std::min(first, port.offset);
      end = std::max(end, port.offset + port.bytes);
    }
  }
  hostInputs.resize(size_t(std::max<int64_t>(0, end - first)));
  return Status::success();
}

Status CudaPorts::addSlots(int runs, int streams) {
  slots.resize(size_t(runs) + 1);
  for (Slot &slot : slots)
    for (int i = 0; i < streams; ++i) {
      auto event = makeEvent(cuda);
      if (!event)
        return event.takeError();
      slot.done.push_back(std::move(*event));
    }
  return Status::success();
}

Expected<CudaPorts> CudaPorts::make(const CudaCalls &cuda,
                                    const WeftExecutable &executable, int runs,
                                    int streams) {
  CudaPorts ports(cuda);
  if (Status s = ports.addPrograms(executable); !s)
    return s.takeError();
  if (Status s = ports.addSlots(runs, streams); !s)
    return s.takeError();
  return ports;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static char *at(const CudaHostMemory &memory, int64_t begin) {
  return static_cast<char *>(memory.get()) + begin;
}

const char *CudaPorts::output(const WeftPort &port) const {
  // The last finished run has the slot before the oldest run in flight.
  const int count = int(slots.size());
  const Slot &slot =
      slots[size_t((next + 2 * count - numInFlight - 1) % count)];
  const int64_t begin =
      slot.blocks ? slot.blocks->outputs.find(port.offset) : -1;
  assert(begin >= 0 && "expects an output of the run that was finished last");
  return at(slot.outputs, begin);
}

/// Grows the memory of a slot if needed. Its contents are lost.
static Status reserve(const CudaCalls &cuda, CudaHostMemory &memory,
                      int64_t &has, int64_t needs) {
  if (needs <= has)
    return Status::success();
  has = 0;
  memory = CudaHostMemory();
  if (Status s = assign(makeHostMemory(cuda, needs), memory); !s)
    return s;
  has = needs;
  return Status::success();
}

Status CudaPorts::begin(const WeftProgram &program) {
  assert(numInFlight + 1 < int(slots.size()) &&
         "expects the oldest run to be finished first");
  Slot &slot = newest();
  auto [known, isNew] = blocks.try_emplace(&program);
  if (isNew)
    known->second = {PortBlock(program.inputs, program.numInputs),
                     PortBlock(program.outputs, program.numOutputs)};
  slot.blocks = &known->second;
  const PortBlock &inputs = slot.blocks->inputs;
  if (Status s = reserve(cuda, slot.inputs, slot.inputBytes, inputs.bytes());
      !s)
    return s;
  for (const PortBlock::Piece &piece : inputs.pieces())
    std::memcpy(at(slot.inputs, piece.begin), place(piece.offset),
                size_t(piece.bytes));
  return reserve(cuda, slot.outputs, slot.outputBytes,
                 slot.blocks->outputs.bytes());
}

Status CudaPorts::upload(CUdeviceptr arena, CUstream stream) {
  const Slot &slot = newest();
  for (const PortBlock::Piece &piece : slot.blocks->inputs.pieces())
    if (Status s = cuda.cuMemcpyHtoDAsync_v2(arena + CUdeviceptr(piece.offset),
                                             at(slot.inputs, piece.begin),
                                             size_t(piece.bytes), stream);
        !s)
      return s;
  return Status::success();
}

Status CudaPorts::readBack(CUdeviceptr arena, CUstream stream) {
  const Slot &slot = newest();
  for (const PortBlock::Piece &piece : slot.blocks->outputs.pieces())
    if (Status s = cuda.cuMemcpyDtoHAsync_v2(at(slot.outputs, piece.begin),
                                             arena + CUdeviceptr(piece.offset),
                                             size_t(piece.bytes), stream);
        !s)
      return s;
  return Status::success();
}

Status CudaPorts::end(const std::vector<CudaStream> &streams) {
  const Slot &slot = newest();
  for (size_t i = 0; i < streams.size(); ++i)
    if (Status s = cuda.cuEventRecord(slot.done[i].get(), streams[i].get()); !s)
      return s;
  next = (next + 1) % int(slots.size());
  ++numInFlight;
  return Status::success();
}

Status CudaPorts::wait() {
  assert(numInFlight > 0 && "expects a run that was started");
  const int count = int(slots.size());
  const Slot &oldest = slots[size_t((next + count - numInFlight) % count)];
  --numInFlight;
  for (const CudaEvent &event : oldest.done)
    if (Status s = cuda.cuEventSynchronize(event.get()); !s)
      return s;
  return Status::success();
}

//===- Copies of any size -------------------------------------------------===//

Expected<CudaTransfers> CudaTransfers::make(const CudaCalls &cuda) {
  CudaTransfers transfers(cuda);
  auto memory = makeHostMemory(cuda, 2 * kPieceBytes);
  if (!memory)
    return memory.takeError();
  transfers.memory = std::move(*memory);
  for (CudaEvent &event : transfers.done)
    if (Status s = assign(makeEvent(cuda), event); !s)
      return s.takeError();
  return transfers;
}

static int64_t piecesOf(int64_t bytes) {
  return (bytes + CudaTransfers::kPieceBytes - 1) / CudaTransfers::kPieceBytes;
}

/// Bytes of piece `i`.
static int64_t sizeOf(int64_t i, int64_t bytes) {
  return std::min(CudaTransfers::kPieceBytes,
                  bytes - i * CudaTransfers::kPieceBytes);
}

Status CudaTransfers::copyIn(CUstream stream, CUdeviceptr to, const void *from,
                             int64_t bytes) {
  const char *source = static_cast<const char *>(from);
  for (int64_t i = 0; i < piecesOf(bytes); ++i) {
    const int64_t at = i * kPieceBytes;
    const size_t size = size_t(sizeOf(i, bytes));
    if (i >= 2)
      if (Status s = cuda.cuEventSynchronize(done[i % 2].get()); !s)
        return s;
    std::memcpy(piece(i), source + at, size);
    if (Status s = cuda.cuMemcpyHtoDAsync_v2(to + CUdeviceptr(at), piece(i),
                                             size, stream);
        !s)
      return s;
    if (Status s = cuda.cuEventRecord(done[i % 2].get(), stream); !s)
      return s;
  }
  return cuda.cuStreamSynchronize(stream);
}

Status CudaTransfers::copyOut(CUstream stream, void *to, CUdeviceptr from,
                              int64_t bytes) {
  char *target = static_cast<char *>(to);
  const int64_t pieces = piecesOf(bytes);
  // The device copies one piece ahead of the host.
  for (int64_t i = 0; i <= pieces; ++i) {
    if (i < pieces) {
      if (Status s = cuda.cuMemcpyDtoHAsync_v2(
              piece(i), from + CUdeviceptr(i * kPieceBytes),
              size_t(sizeOf(i, bytes)), stream);
          !s)
        return s;
      if (Status s = cuda.cuEventRecord(done[i % 2].get(), stream); !s)
        return s;
    }
    if (i == 0)
      continue;
    if (Status s = cuda.cuEventSynchronize(done[(i - 1) % 2].get()); !s)
      return s;
    std::memcpy(target + (i - 1) * kPieceBytes, piece(i - 1),
                size_t(sizeOf(i - 1, bytes)));
  }
  return Status::success();
}
