//===- CudaPorts.h - Inputs and outputs of programs -------------*- C++ -*-===//
//
// The host's side of the commands that upload inputs and read outputs back. The
// device copies by itself only from and to memory that stays in place, so each
// run that is under way has some: what the host has written for it, and what
// the run has written for the host.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDAPORTS_H
#define WEFT_RUNTIME_DEVICES_CUDAPORTS_H

#include "weft/Abi/Executable.h"
#include "weft/Runtime/Devices/CudaDriver.h"

#include <unordered_map>
#include <vector>

namespace weft {

/// The inputs or the outputs of a program in a block of the host. Those that
/// lie side by side in the arena do so in the block: one copy brings them.
class PortBlock {
public:
  /// Bytes of the arena and where they lie in the block.
  struct Piece {
    int64_t offset, bytes, begin;
  };

  PortBlock() = default;
  PortBlock(const WeftPort *ports, int32_t count);

  int64_t bytes() const { return size; }
  const std::vector<Piece> &pieces() const { return list; }
  /// Where the bytes of the port at that arena offset begin, or -1.
  int64_t find(int64_t offset) const;

private:
  int64_t size = 0;
  std::vector<Piece> list; // by offset
};

/// A ring of slots: one for each run that is under way and one for the results
/// of the last that was finished.
class CudaPorts {
public:
  /// For `runs` runs that are under way at once, at least 1, of programs with
  /// `streams` streams. Exit 70 if a program has inputs that no command
  /// uploads, or outputs that none reads back.
  static Expected<CudaPorts> make(const CudaCalls &cuda,
                                  const WeftExecutable &executable, int runs,
                                  int streams);

  /// Where the host writes an input of the next run; the place does not change.
  char *input(const WeftPort &port) { return place(port.offset); }
  /// An output of the run that was finished last, which has it.
  const char *output(const WeftPort &port) const;
  /// What the host has written for the next run at that arena offset.
  const char *inputAt(int64_t offset) { return place(offset); }

  /// Takes the inputs of a run: those of the next one may be written.
  Status begin(const WeftProgram &program);
  Status upload(CUdeviceptr arena, CUstream stream);
  Status readBack(CUdeviceptr arena, CUstream stream);
  /// All commands of the run have been given to these streams: it is under way.
  Status end(const std::vector<CudaStream> &streams);

  int inFlight() const { return numInFlight; }
  /// Waits for the oldest run that is under way.
  Status wait();
  /// No run is under way: nobody asks for what they wrote.
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
  /// The inputs of the next run, as they lie in the arena from `first` on.
  std::vector<char> hostInputs;
  int64_t first = 0;
  std::vector<Slot> slots;
  int next = 0; // the slot of the next run; the ones before are under way
  int numInFlight = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDAPORTS_H
