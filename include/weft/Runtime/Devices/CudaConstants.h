//===- CudaConstants.h - Constants that a device keeps ----------*- C++ -*-===//
//
// The elements of the constants of a program, each list of bytes once, behind
// the arena: written when the device is opened, and copied from there by the
// commands that write constants.
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
  /// Places those of all commands of `executable`.
  explicit CudaConstants(const WeftExecutable &executable);

  /// All of them, in order, each at a multiple of kConstantAlignment.
  const std::vector<char> &bytes() const { return all; }
  /// Where in bytes() the elements of a record begin, which is one of a command
  /// that writes a constant.
  int64_t offsetOf(const void *record) const { return offsets.at(record); }

private:
  std::vector<char> all;
  std::unordered_map<const void *, int64_t> offsets;
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDACONSTANTS_H
