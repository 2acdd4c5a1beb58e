//===- CudaPorts.h - Inputs and outputs of programs -------------*- C++ -*-===//
//
// The inputs of all programs lie one behind the other in a block of the host,
// so that one copy brings those of a program to a block of the device, from
// which they go to their places in the arena; outputs take the way back. The
// copies have streams of their own, with events between them and the commands.
// A run waits for its outputs, so that nothing overlaps yet.
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

class CudaPorts {
public:
  /// Device memory that the blocks of a program take.
  static int64_t deviceBytes(const WeftExecutable &executable);
  static Expected<CudaPorts> make(const CudaCalls &cuda,
                                  const WeftExecutable &executable);

  /// Waits until the last upload has left the block; if that fails, the next
  /// one does.
  char *input(const WeftPort &port);
  const char *output(const WeftPort &port) const;
  /// The input at that arena offset, or null.
  const char *findInput(int64_t offset) const;

  /// Brings the inputs of a program to the arena: for what `stream` is given
  /// next.
  Status upload(const WeftProgram &program, CUdeviceptr arena, CUstream stream);
  /// Brings back its outputs after what `stream` was given; wait() for them.
  Status readBack(const WeftProgram &program, CUdeviceptr arena,
                  CUstream stream);
  Status wait();
  Status synchronize();

private:
  CudaPorts(const CudaCalls &cuda, const WeftExecutable &executable)
      : cuda(cuda), inputs(executable, PortBlock::Inputs),
        outputs(executable, PortBlock::Outputs) {}
  char *host(const CudaHostMemory &block, int64_t at) const {
    return static_cast<char *>(block.get()) + at;
  }
  Status makeBlocks();
  Status makeQueues();

  CudaCalls cuda;
  PortBlock inputs, outputs;
  CudaHostMemory hostInputs, hostOutputs;
  CudaMemory deviceInputs, deviceOutputs;
  CudaStream uploads, reads;
  CudaEvent uploaded, placed;  // inputs are in the device's block; in the arena
  CudaEvent gathered, arrived; // outputs are in the device's block; at the host
  bool isUploading = false, isReading = false;
  Status lastWait; // of input()
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDAPORTS_H
