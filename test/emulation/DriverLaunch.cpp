//===- DriverLaunch.cpp - Launches of the emulated driver -----------------===//

#include "Driver.h"
#include "Fail.h"
#include "Memory.h"

#include <cstring>

namespace weft::emulation {

/// The values of a launch's arguments, from when it was enqueued.
using Values = std::vector<std::vector<char>>;

static std::string textOf(const unsigned (&sizes)[3]) {
  return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " +
         std::to_string(sizes[2]);
}

static bool isBelow(const unsigned (&sizes)[3], unsigned x, unsigned y,
                    unsigned z) {
  unsigned most[3] = {x, y, z};
  for (int dim = 0; dim < 3; ++dim)
    if (sizes[dim] < 1 || sizes[dim] > most[dim])
      return false;
  return true;
}

/// Why the device refuses a launch, or the kernel is not compiled for it.
static std::string findMistake(const Function &function, const Grid &grid,
                               void **arguments) {
  const WeftTwin &twin = *function.twin;
  if (!isBelow(grid.blocks, INT32_MAX, 65535, 65535))
    return "a grid of " + textOf(grid.blocks);
  if (!isBelow(grid.threads, 1024, 1024, 64) ||
      uint64_t(grid.threads[0]) * grid.threads[1] * grid.threads[2] > 1024)
    return "a block of " + textOf(grid.threads);
  if (twin.threads[0] &&
      std::memcmp(twin.threads, grid.threads, sizeof(grid.threads)) != 0)
    return "expects a block of " + textOf(twin.threads) + ", but got " +
           textOf(grid.threads);
  if (twin.blocks[0] &&
      std::memcmp(twin.blocks, grid.blocks, sizeof(grid.blocks)) != 0)
    return "expects a grid of " + textOf(twin.blocks) + ", but got " +
           textOf(grid.blocks);
  if (grid.sharedBytes > size_t(function.maxDynamicShared))
    return "expects at most " + std::to_string(function.maxDynamicShared) +
           " bytes of dynamic shared memory, but got " +
           std::to_string(grid.sharedBytes);
  if (grid.sharedBytes + size_t(twin.sharedBytes) >
      size_t(sharedBytesOfBlock()))
    return "expects at most " + std::to_string(sharedBytesOfBlock()) +
           " bytes of shared memory for a block, but got " +
           std::to_string(grid.sharedBytes + size_t(twin.sharedBytes));
  for (int i = 0; i < twin.numArguments; ++i)
    if (!arguments || !arguments[i])
      return "expects " + std::to_string(twin.numArguments) +
             " arguments, but got none at " + std::to_string(i);
  return "";
}

/// The writes of an unchecked kernel are unknown: marks everything that its
/// arguments may point to.
static void markPointers(const Values &values) {
  for (const std::vector<char> &value : values)
    for (size_t i = 0; i + sizeof(void *) <= value.size();
         i += sizeof(void *)) {
      const char *place;
      std::memcpy(&place, value.data() + i, sizeof(place));
      const Allocation *allocation = DeviceMemory::get().find(place);
      if (allocation && !allocation->isFreed && allocation->has(place))
        DeviceMemory::get().markAllWritten(*allocation);
    }
}

static void runKernel(const WeftTwins &library, const WeftTwin &twin,
                      const Grid &grid, Values values) {
  static uint64_t numLaunches;
  uint64_t seed = chosenSeed();
  Order order(seed ? seed * 1000003 + numLaunches : 0);
  ++numLaunches;
  std::vector<void *> arguments;
  for (std::vector<char> &value : values)
    arguments.push_back(value.data());
  setKernelName(twin.name);
  beginLaunch();
  if (!library.isChecked)
    markPointers(values);
  runGrid(grid, [&] { twin.run(arguments.data()); }, order);
  setKernelName("");
}

CUresult launch(Stream &stream, const Function &function, Grid grid,
                void **arguments) {
  const WeftTwin &twin = *function.twin;
  std::string mistake = findMistake(function, grid, arguments);
  if (!mistake.empty())
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "launch of " + std::string(twin.name) + ": " + mistake);
  Values values;
  for (int i = 0; i < twin.numArguments; ++i) {
    auto *begin = static_cast<const char *>(arguments[i]);
    values.emplace_back(begin, begin + twin.argumentBytes[i]);
  }
  grid.sharedBegin = function.library->sharedBegin;
  grid.sharedEnd = function.library->sharedEnd;
  const WeftTwins &library = *function.library;
  return enqueueWork(
      stream, [=, &library, &twin] { runKernel(library, twin, grid, values); });
}

} // namespace weft::emulation
