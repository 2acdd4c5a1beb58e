//===- Launching.h - From a record to launches ------------------*- C++ -*-===//

#ifndef WEFT_KERNELS_CUDA_LAUNCHING_H
#define WEFT_KERNELS_CUDA_LAUNCHING_H

#include "Arguments.h"
#include "weft/Runtime/Devices/Launch.h"

#include <algorithm>

namespace weft::cuda {

/// The most blocks that a grid may have in its first dimension.
constexpr int64_t kMostBlocks = INT32_MAX;

/// Blocks for a kernel whose threads go on with the next unit of work: one for
/// each `perBlock`, but not more than keep any device busy.
inline unsigned blocksFor(int64_t units, int64_t perBlock) {
  constexpr int64_t most = int64_t(1) << 20;
  int64_t blocks = units / perBlock + (units % perBlock != 0);
  return static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, most));
}

/// Launches kernel `name` of one argument in one dimension.
template <typename KernelArguments>
void launch(WeftContext &context, const WeftCommand &command,
            const std::string &name, int64_t blocks, unsigned threads,
            int64_t sharedBytes, KernelArguments arguments) {
  static_assert(sizeof(KernelArguments) <= 4096, "more than kernels may take");
  if (!checkRange(context, command, "blocks", blocks, 1, kMostBlocks))
    return;
  LaunchShape shape;
  shape.grid[0] = static_cast<unsigned>(blocks);
  shape.block[0] = threads;
  shape.sharedBytes = static_cast<unsigned>(sharedBytes);
  void *pointers[] = {&arguments};
  launchKernel(context, command, name.c_str(), shape, pointers);
}

/// "f32", "f16", "bf16", of a type that checkFloatType has accepted.
inline std::string typeName(int64_t dtype) {
  return findFloatFormat(dtype)->name;
}

/// The largest power of two, at most 16, that divides all numbers given: bytes
/// that may be moved at once.
class UnitBytes {
public:
  UnitBytes &divides(int64_t number) {
    bits |= static_cast<uint64_t>(number);
    return *this;
  }
  UnitBytes &divides(const void *address) {
    bits |= reinterpret_cast<uintptr_t>(address);
    return *this;
  }
  int64_t get() const { return static_cast<int64_t>(bits & -bits); }

private:
  uint64_t bits = 16;
};

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_LAUNCHING_H
