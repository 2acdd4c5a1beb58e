//===- CudaImages.h - The machine code of a program -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_CUDAIMAGES_H
#define WEFT_RUNTIME_DEVICES_CUDAIMAGES_H

#include "weft/Abi/CudaWorkspaces.h"
#include "weft/Abi/Executable.h"
#include "weft/Runtime/Devices/CudaDriver.h"

#include <unordered_map>
#include <vector>

namespace weft {

/// The model of a device, for messages and for choosing code.
struct CudaChip {
  std::string device; // "NVIDIA H200"
  int major = 0, minor = 0;
  int sharedBytes = 0; // of shared memory that a block may have

  /// "sm_90".
  std::string name() const { return concat("sm_", major, minor); }
};

/// "compile with --target=cuda:sm_80": the newest target whose code runs on
/// `chip`, or a text that there is none.
std::string compileHint(const CudaChip &chip);

/// The chip of the images that the device runs: its own or, without images for
/// it, the newest earlier chip of its generation. Exit 9, with the flag to
/// compile with, if there is neither.
Expected<std::string> chooseChip(const WeftExecutable &executable,
                                 const CudaChip &chip);

/// The version of CUDA (13000 is 13.0) whose driver loads the images of a chip.
int leastDriver(const WeftExecutable &executable, const std::string &chip);

/// The images of one chip, loaded into the current context.
class CudaImages {
public:
  static Expected<CudaImages> load(const CudaCalls &cuda,
                                   const WeftExecutable &executable,
                                   const std::string &code,
                                   const CudaChip &device);

  /// Exit 9 if no image has a kernel of that name, or if a block of the device
  /// has fewer bytes of shared memory.
  Expected<CUfunction> find(const std::string &name, unsigned sharedBytes = 0);

private:
  struct Kernel {
    CUfunction function = nullptr;
    unsigned sharedBytes = 0; // that it may be launched with
  };
  CudaImages(const CudaCalls &cuda, const CudaChip &device)
      : cuda(cuda), device(device) {}
  Expected<CUfunction> lookUp(const std::string &name) const;

  CudaCalls cuda;
  CudaChip device;
  std::vector<CudaModule> modules;
  std::unordered_map<std::string, Kernel> kernels;
};

/// The elements of a program's constants are stored after the arena, each list
/// of bytes once. They are written when the device is opened. Commands that
/// write constants copy from there.
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

#endif // WEFT_RUNTIME_DEVICES_CUDAIMAGES_H
