//===- Unpack.h - The tables of a compiled program as structs --*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTE_UNPACK_H
#define WEFT_RUNTIME_EXECUTE_UNPACK_H

#include "weft/Abi/PackedTables.h"

#include <vector>

namespace weft {

/// Holds what WeftTables describes in the form that the executor runs. Texts,
/// lists and metadata stay where the program has them. Tables of another ABI
/// version are not read: the executable then has that version and nothing else,
/// which the runtime refuses.
class UnpackedTables {
public:
  explicit UnpackedTables(const WeftTables &packed);
  UnpackedTables(const UnpackedTables &) = delete;
  UnpackedTables &operator=(const UnpackedTables &) = delete;

  const WeftExecutable &executable() const { return unpacked; }

private:
  WeftExecutable unpacked = {};
  std::vector<WeftProgram> programs;
  std::vector<WeftDeviceKernel> deviceKernels;
  std::vector<WeftTensor> tensors;
  std::vector<std::vector<WeftSegment>> segments; // of each tensor with some
  std::vector<std::vector<WeftCommand>> commands; // of each program
  std::vector<std::vector<WeftPort>> ports;       // inputs and outputs of each
};

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_UNPACK_H
