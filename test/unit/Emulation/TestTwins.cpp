//===- TestTwins.cpp - Kernels for the emulated driver --------------------===//

#include "Emulation.h"

#include <cstring>

namespace {

/// to[i] = from[i] + value, for 64 threads in two blocks.
void add(void **arguments) {
  auto *to = *static_cast<float **>(arguments[0]);
  auto *from = *static_cast<const float **>(arguments[1]);
  float value = *static_cast<float *>(arguments[2]);
  const WeftEmuPlace *place = weft_emu_place();
  uint32_t i = place->block[0] * place->threads[0] + place->thread[0];
  weft_emu_load(from + i, sizeof(float));
  weft_emu_store(to + i, sizeof(float));
  to[i] = from[i] + value;
}

/// Doubles the numbers of a block by way of its shared memory, in place.
void exchange(void **arguments) {
  auto *x = *static_cast<float **>(arguments[0]);
  auto *shared = static_cast<float *>(weft_emu_shared());
  uint32_t i = weft_emu_place()->thread[0];
  shared[i] = x[i];
  weft_emu_barrier(0, 0, __LINE__);
  x[i] = 2 * shared[i ^ 1];
}

/// Two blocks store to one place.
void race(void **arguments) {
  auto *x = *static_cast<float **>(arguments[0]);
  weft_emu_store(x, sizeof(float));
  *x = float(weft_emu_place()->block[0]);
}

const int32_t addBytes[] = {8, 8, 4}, placeBytes[] = {8};
const WeftTwin kernels[] = {
    {"add", add, 3, addBytes, {32, 1, 1}, {2, 1, 1}, 0},
    {"exchange", exchange, 1, placeBytes, {0, 0, 0}, {0, 0, 0}, 0},
    {"race", race, 1, placeBytes, {0, 0, 0}, {0, 0, 0}, 16},
};

} // namespace

extern "C" const WeftTwins weft_twins = {
    WEFT_TWINS_VERSION,
    1,
    "sm_90",
    "",
    TEST_CUBIN ":/nonexistent",
    3,
    kernels,
    nullptr,
    nullptr,
};
