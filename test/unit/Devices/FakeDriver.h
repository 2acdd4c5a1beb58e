//===- FakeDriver.h - A CUDA driver in a table of functions -----*- C++ -*-===//
//
// Stands for the driver in unit tests: memory of the device is memory of the
// host, kernels are functions by name, work of a stream is done at once or
// becomes a graph. It counts calls, fails at a chosen one, and lists the
// resources that were not released.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_DEVICES_FAKEDRIVER_H
#define WEFT_TEST_UNIT_DEVICES_FAKEDRIVER_H

#include "weft/Runtime/Devices/CudaDriver.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weft {

struct FakeKernel {
  int arguments;
  std::function<void(void *const *)> body; // gets the values of pointers
};

/// One at a time: entry points have no context of their own.
struct FakeDriver {
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver &) = delete;
  FakeDriver &operator=(const FakeDriver &) = delete;

  CudaDriver table() const;
  /// How often that entry point was called.
  int count(const std::string &call) const;
  /// Resources that were not released, by the entry point that made them.
  std::string leaks() const;

  // The machine.
  int version = 13000, devices = 1, major = 9, minor = 0;
  int sharedBytes = 227 << 10, mapsMemory = 1;
  size_t freeBytes = size_t(1) << 30, totalBytes = size_t(2) << 30;
  size_t granularity = size_t(2) << 20;
  size_t multicastGranularity = 0; // 0: no multicast
  bool hasFabric = false, isFabricPermitted = true;
  std::map<std::string, FakeKernel> kernels;

  // The call that fails, by its number from 0.
  int failAt = -1;
  CUresult failure = CUDA_ERROR_ILLEGAL_ADDRESS;

  // The calls and their effects.
  std::vector<std::string> calls;
  std::map<std::string, int> alive;
  int chosen = -1;        // device
  size_t memoryBytes = 0; // of the last allocation
  CUmemAllocationProp memoryProperties = {};
  bool capturing = false;
  std::vector<std::function<void()>> captured;
};

} // namespace weft

#endif // WEFT_TEST_UNIT_DEVICES_FAKEDRIVER_H
