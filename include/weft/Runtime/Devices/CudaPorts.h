//===- CudaPorts.h - Inputs and outputs of programs -------------*- C++ -*-===//
//
// The inputs of all programs lie one behind the other in a block of the host,
// so that one copy brings those of a program to a block of the device, from
// which they go to their places in the arena; outputs take the way back. The
// copies have streams of their own, with events between them and the commands:
// a copy waits for no more than the block that it writes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDAPORTS_H
#define WEFT_RUNTIME_DEVICES_CUDAPORTS_H

#include "weft/Runtime/Devices/CudaDriver.h"
#include "weft/Runtime/Execute/Abi.h"

#include <map>
#include <vector>

namespace weft {

/// Where the ports of the programs, their inputs or outputs, lie in a block.
/// Those at one place of the arena are one.
class PortBlock {
public:
  enum Side { Inputs, Outputs };
  struct Slot {
    int64_t begin, bytes;
  };
  struct Range {
    int64_t begin, end;
  };

  PortBlock(const WeftExecutable &executable, Side side);

  int64_t bytes() const { return size; }
  /// The slot of the port at that arena offset, or null.
  const Slot *find(int64_t offset) const;
  /// The part of the block that has all of a program's ports.
  Range rangeOf(const WeftProgram &program) const;

  static const WeftPort *ports(const WeftProgram &program, Side side);
  static int32_t count(const WeftProgram &program, Side side);

private:
  Side side;
  int64_t size = 0;
  std::map<int64_t, Slot> slots;
};

/// The blocks of the host are a ring: a slot for each run that is under way and
/// one for the results of the last that was finished.
class CudaPorts {
public:
  /// Device memory that the blocks of a program take.
  static int64_t deviceBytes(const WeftExecutable &executable);
  /// For `runs` runs that are under way at once, at least 1.
  static Expected<CudaPorts> make(const CudaCalls &cuda,
                                  const WeftExecutable &executable, int runs);

  /// Where the host writes an input of the next run; the place does not change.
  char *input(const WeftPort &port);
  /// An output of the run that was finished last, which has it.
  const char *output(const WeftPort &port) const;
  /// The input at that arena offset, or null.
  const char *findInput(int64_t offset) const;

  /// Begins a run: brings its inputs to the arena, for what `stream` is given
  /// next. The next run has inputs of its own.
  Status upload(const WeftProgram &program, CUdeviceptr arena, CUstream stream);
  /// Ends a run: brings back its outputs after what `stream` was given.
  Status readBack(const WeftProgram &program, CUdeviceptr arena,
                  CUstream stream);
  int underWay() const { return numUnderWay; }
  /// Waits for the outputs of the oldest run that is under way.
  Status wait();
  /// No run is under way: nobody asks for what they wrote.
  void drop() { numUnderWay = 0; }
  Status synchronize();

private:
  /// A run: its inputs and outputs on their way.
  struct Slot {
    CudaHostMemory inputs, outputs;
    int64_t inputBytes = 0, outputBytes = 0; // of memory
    int64_t outputBegin = 0;                 // in the block of all outputs
    CudaEvent arrived;                       // outputs are at the host
  };

  CudaPorts(const CudaCalls &cuda, const WeftExecutable &executable)
      : cuda(cuda), inputs(executable, PortBlock::Inputs),
        outputs(executable, PortBlock::Outputs) {}
  Status makeBlocks();
  Status makeQueues(int runs);
  Slot &newest() { return slots[size_t(next)]; }
  Status place(const WeftProgram &program, CUdeviceptr arena, CUstream stream);
  Status gather(const WeftProgram &program, CUdeviceptr arena, CUstream stream);

  CudaCalls cuda;
  PortBlock inputs, outputs;
  std::vector<char> hostInputs; // of the next run
  CudaMemory deviceInputs, deviceOutputs;
  CudaStream uploads, reads;
  CudaEvent uploaded, placed; // inputs are in the device's block; in the arena
  CudaEvent gathered, taken;  // outputs are in the device's block; left it
  std::vector<Slot> slots;
  int next = 0; // the slot of the next run; the ones before are under way
  int numUnderWay = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDAPORTS_H
