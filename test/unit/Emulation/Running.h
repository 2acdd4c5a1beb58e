//===- Running.h - Kernels of unit tests ------------------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_EMULATION_RUNNING_H
#define WEFT_TEST_UNIT_EMULATION_RUNNING_H

#include "Block.h"
#include "Fail.h"
#include "Memory.h"

#include "gtest/gtest.h"

#include <cstring>

namespace weft::emulation {

constexpr uint64_t kSeeds = 20;

inline void run(const Grid &grid, const std::function<void()> &thread,
                uint64_t seed = 0) {
  Order order(seed);
  runGrid(grid, thread, order);
}

inline Grid blockOf(unsigned x, unsigned y = 1) {
  Grid grid;
  grid.threads[0] = x;
  grid.threads[1] = y;
  return grid;
}

/// Ends the way a program does that has run a broken kernel.
#define EXPECT_ERROR(statement, message)                                       \
  EXPECT_EXIT(statement, testing::ExitedWithCode(kFailureExit),                \
              "emulation: error: " message)

/// Accesses as checked kernels make them.
template <typename T> T load(const T *place) {
  weft_emu_load(place, sizeof(T));
  return *place;
}
template <typename T> void store(T *place, T value) {
  weft_emu_store(place, sizeof(T));
  *place = value;
}

inline float *allocate(size_t count) {
  return reinterpret_cast<float *>(
      DeviceMemory::get().allocate(count * sizeof(float)));
}

inline float *allocateWritten(size_t count) {
  float *place = allocate(count);
  std::memset(static_cast<void *>(place), 0, count * sizeof(float));
  DeviceMemory::get().markWritten(place, count * sizeof(float));
  return place;
}

inline void launch(const Grid &grid, const std::function<void()> &thread,
                   uint64_t seed = 0) {
  beginLaunch();
  run(grid, thread, seed);
}

} // namespace weft::emulation

#endif // WEFT_TEST_UNIT_EMULATION_RUNNING_H
