//===- CudaConstants.h - Constants that a device keeps ----------*- C++ -*-===//
//
// The elements of a program's constants are stored after the arena, each list
// of bytes once. They are written when the device is opened. Commands that
// write constants copy from there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDACONSTANTS_H
#define WEFT_RUNTIME_DEVICES_CUDACONSTANTS_H

#include "weft/Abi/CudaWorkspaces.h"

#include <unordered_map>
#include <vector>

namespace weft {

class CudaConstants {
public:
  CudaConstants() = default;
  /// Lays out the constants of all commands of `executable`.
  explicit CudaConstants(const WeftExecutable &executable);

  /// All constants, in order, each at a multiple of kConstantAlignment.
  const std::vector<char> &bytes() const { return all; }
  /// The offset in bytes() of the elements of a record. The record must belong
  /// to a command that writes a constant.
  int64_t offsetOf(const void *record) const { return offsets.at(record); }

private:
  std::vector<char> all;
  std::unordered_map<const void *, int64_t> offsets;
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDACONSTANTS_H
