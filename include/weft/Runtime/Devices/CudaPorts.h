//===- CudaPorts.h - Inputs and outputs of programs -------------*- C++ -*-===//
//
// The host side of the commands that upload inputs and read outputs back. The
// device copies asynchronously only from and to pinned memory. So each run in
// flight has its own pinned buffers for its inputs and outputs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDAPORTS_H
#define WEFT_RUNTIME_DEVICES_CUDAPORTS_H

#include "weft/Abi/Executable.h"
#include "weft/Runtime/Devices/CudaDriver.h"

#include <unordered_map>
#include <vector>

namespace weft {

/// The inputs or the outputs of a program in one block of host memory. Ports
/// that are adjacent in the arena are adjacent in the block: one copy moves
/// them.
class PortBlock {
public:
  /// Bytes of the arena, and their offset `begin` in the block.
  struct Piece {
    int64_t offset, bytes, begin;
  };

  PortBlock() = default;
  PortBlock(const WeftPort *ports, int32_t count);

  int64_t bytes() const { return size; }
  const std::vector<Piece> &pieces() const { return list; }
  /// The offset in the block of the port at that arena offset, or -1.
  int64_t find(int64_t offset) const;

private:
  int64_t size = 0;
  std::vector<Piece> list; // by offset
};

/// A ring of slots: one for each run in flight, and one for the results of the
/// last finished run.
class CudaPorts {
public:
  /// For `runs` runs in flight, at least 1, of programs with `streams` streams.
  /// Exit 70 if a program has inputs that no command uploads, or outputs that
  /// no command reads back.
  static Expected<CudaPorts> make(const CudaCalls &cuda,
                                  const WeftExecutable &executable, int runs,
                                  int streams);

  /// Host memory for an input of the next run. Its address does not change.
  char *input(const WeftPort &port) { return place(port.offset); }
  /// An output of the last finished run, which must have it.
  const char *output(const WeftPort &port) const;
  /// Bytes that the host has written for the next run at that arena offset.
  const char *inputAt(int64_t offset) { return place(offset); }

  /// Copies the inputs of a run into its slot. The host may write the inputs of
  /// the next run afterwards.
  Status begin(const WeftProgram &program);
  Status upload(CUdeviceptr arena, CUstream stream);
  Status readBack(CUdeviceptr arena, CUstream stream);
  /// All commands of the run have been submitted to these streams: the run is
  /// in flight.
  Status end(const std::vector<CudaStream> &streams);

  int inFlight() const { return numInFlight; }
  /// Waits for the oldest run in flight.
  Status wait();
  /// Discards the outputs of all runs in flight.
  void drop() { numInFlight = 0; }

private:
  struct Blocks {
    PortBlock inputs, outputs;
  };
  struct Slot {
    CudaHostMemory inputs, outputs;
    int64_t inputBytes = 0, outputBytes = 0; // of memory
    const Blocks *blocks = nullptr;          // of the program
    std::vector<CudaEvent> done;             // in each stream
  };

  explicit CudaPorts(const CudaCalls &cuda) : cuda(cuda) {}
  Status addPrograms(const WeftExecutable &executable);
  Status addSlots(int runs, int streams);
  char *place(int64_t offset) { return hostInputs.data() + offset - first; }
  Slot &newest() { return slots[size_t(next)]; }

  CudaCalls cuda;
  std::unordered_map<const WeftProgram *, Blocks> blocks;
  /// The inputs of the next run, in the layout of the arena from `first` on.
  std::vector<char> hostInputs;
  int64_t first = 0;
  std::vector<Slot> slots;
  int next = 0; // the slot of the next run; runs in flight have earlier ones
  int numInFlight = 0;
};

//===- Copies of any size -------------------------------------------------===//

// The device copies by itself only from and to memory that stays in place, so
// all other memory goes through two pieces of it: the device copies one while
// the host copies the other.

class CudaTransfers {
public:
  static constexpr int64_t kPieceBytes = int64_t(8) << 20;

  static Expected<CudaTransfers> make(const CudaCalls &cuda);

  /// Both work in the stream and return when everything has arrived.
  Status copyIn(CUstream stream, CUdeviceptr to, const void *from,
                int64_t bytes);
  Status copyOut(CUstream stream, void *to, CUdeviceptr from, int64_t bytes);

private:
  explicit CudaTransfers(const CudaCalls &cuda) : cuda(cuda) {}
  char *piece(int64_t i) const {
    return static_cast<char *>(memory.get()) + i % 2 * kPieceBytes;
  }

  CudaCalls cuda;
  CudaHostMemory memory;
  CudaEvent done[2]; // when the device is done with a piece
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDAPORTS_H
