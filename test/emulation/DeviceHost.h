//===- DeviceHost.h - Device code as threads of this machine ----*- C++ -*-===//
//
// DeviceCuda.h (kernels/cuda) in terms of an emulated device (Emulation.h): a
// kernel becomes a function that runs one thread, and an entry of the table of
// twins. Instructions of a warp run once for all its lanes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_DEVICEHOST_H
#define WEFT_TEST_EMULATION_DEVICEHOST_H

#include "Emulation.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#define WEFT_DEVICE static inline __attribute__((unused))
#define WEFT_MEMBER inline

/// Marks a function of the emulation itself. Its accesses count only if it
/// reports them (weft_emu_load).
#define WEFT_UNTOLD __attribute__((noinline, annotate("weft_untold")))

/// The entries are in a section of their own, and the table of twins is built
/// from the ends of that section. Arguments are copied to the thread's stack;
/// the asm keeps the compiler from removing the copy.
#define WEFT_KERNEL(name, Arguments, numThreads, blocks)                       \
  static __attribute__((noinline)) void name##_thread(const Arguments &a);     \
  extern "C" WEFT_UNTOLD void name(void **arguments) {                         \
    Arguments copy = *static_cast<const Arguments *>(arguments[0]);            \
    asm volatile("" ::"r"(&copy) : "memory");                                  \
    name##_thread(copy);                                                       \
  }                                                                            \
  static const int32_t name##_bytes[] = {sizeof(Arguments)};                   \
  __attribute__((                                                              \
      used, section("weft_twin_list"))) extern const WeftTwin name##_twin = {  \
      #name, name, 1, name##_bytes, {numThreads, 1, 1}, {0, 0, 0}, 0};         \
  static void name##_thread(const Arguments &a)

/// Where a call comes from, for the emulation.
#define WEFT_SITE int32_t site = __builtin_LINE()

namespace weft::cuda {

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

WEFT_DEVICE unsigned threadIndex() { return weft_emu_place()->thread[0]; }
WEFT_DEVICE unsigned blockIndex() { return weft_emu_place()->block[0]; }
WEFT_DEVICE unsigned blockSize() { return weft_emu_place()->threads[0]; }
WEFT_DEVICE unsigned gridSize() { return weft_emu_place()->blocks[0]; }

WEFT_DEVICE void barrier(WEFT_SITE) { weft_emu_barrier(0, 0, site); }
WEFT_DEVICE char *sharedMemory() {
  return static_cast<char *>(weft_emu_shared());
}

WEFT_DEVICE uint32_t shuffleXor(uint32_t value, int mask, WEFT_SITE) {
  return weft_emu_shuffle(WeftEmuXor, 0xffffffffu, value,
                          static_cast<uint32_t>(mask), 0x1f, site);
}
WEFT_DEVICE float shuffleXor(float value, int mask, WEFT_SITE) {
  return weft::bitsToFloat(shuffleXor(weft::floatBits(value), mask, site));
}
WEFT_DEVICE uint32_t shuffleFrom(uint32_t value, int lane, WEFT_SITE) {
  return weft_emu_shuffle(WeftEmuIndex, 0xffffffffu, value,
                          static_cast<uint32_t>(lane), 0x1f, site);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

using std::fmaxf;
using std::log2f;
using weft::bitsToFloat;

WEFT_DEVICE float fusedMultiplyAdd(float a, float b, float c) {
  return std::fmaf(a, b, c);
}
WEFT_DEVICE float powerOfTwo(float x) {
  float result = std::exp2f(x);
  return result < 0x1p-126f ? 0.0f : result;
}
WEFT_DEVICE float widenHalf(uint16_t x) { return halfToFloat(x); }
WEFT_DEVICE uint16_t narrowHalf(float x) { return floatToHalf(x); }
WEFT_DEVICE uint16_t narrowBf16(float x) { return floatToBf16(x); }
WEFT_DEVICE uint32_t packHalf(float low, float high) {
  return floatToHalf(low) | static_cast<uint32_t>(floatToHalf(high)) << 16;
}
WEFT_DEVICE uint32_t packBf16(float low, float high) {
  return floatToBf16(low) | static_cast<uint32_t>(floatToBf16(high)) << 16;
}

//===----------------------------------------------------------------------===//
// Matrices of a warp (PTX ISA, "Warp Level Matrix Instructions")
//===----------------------------------------------------------------------===//

/// The operands of one lane for a matrix product.
struct Factors {
  float *c;
  const uint32_t *a;
  uint32_t b[2];
};

/// c += a b. Lane 4 g + t has of a the elements (g, 2 t), (g + 8, 2 t),
/// (g, 2 t + 8), (g + 8, 2 t + 8), each with its right neighbour, of b
/// (2 t, g) and (2 t + 8, g), each with the one below, and of c (g, 2 t) and
/// (g + 8, 2 t) with their right neighbours.
template <float (*widen)(uint16_t)>
WEFT_UNTOLD inline void multiplyTogether(void **records, uint32_t) {
  float a[16][16], b[16][8];
  auto half = [](uint32_t word, int i) {
    return widen(static_cast<uint16_t>(word >> (16 * i)));
  };
  for (int lane = 0; lane < 32; ++lane) {
    const Factors &f = *static_cast<Factors *>(records[lane]);
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 2; ++i) {
      for (int part = 0; part < 4; ++part)
        a[g + 8 * (part % 2)][2 * t + 8 * (part / 2) + i] = half(f.a[part], i);
      b[2 * t + i][g] = half(f.b[0], i);
      b[2 * t + 8 + i][g] = half(f.b[1], i);
    }
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      float &sum = static_cast<Factors *>(records[lane])->c[i];
      for (int k = 0; k < 16; ++k)
        sum += a[row][k] * b[k][column];
    }
}

WEFT_DEVICE void multiplyHalf(float (&c)[4], const uint32_t (&a)[4],
                              uint32_t b0, uint32_t b1, WEFT_SITE) {
  Factors factors = {c, a, {b0, b1}};
  weft_emu_together(0xffffffffu, &factors, multiplyTogether<halfToFloat>, site);
}
WEFT_DEVICE void multiplyBf16(float (&c)[4], const uint32_t (&a)[4],
                              uint32_t b0, uint32_t b1, WEFT_SITE) {
  Factors factors = {c, a, {b0, b1}};
  weft_emu_together(0xffffffffu, &factors, multiplyTogether<bf16ToFloat>, site);
}

struct SharedPlace {
  const uint16_t *place;
  explicit SharedPlace(const uint16_t *place) : place(place) {}
  SharedPlace operator+(int elements) const {
    return SharedPlace(place + elements);
  }
};

/// The operands of one lane for loadMatrices.
struct MatrixRow {
  const uint16_t *row;
  uint32_t *to;
};

template <bool transposed>
WEFT_UNTOLD inline void loadTogether(void **records, uint32_t) {
  for (int matrix = 0; matrix < 4; ++matrix)
    for (int lane = 0; lane < 32; ++lane) {
      uint32_t word = 0;
      for (int i = 0; i < 2; ++i) {
        int row = transposed ? lane % 4 * 2 + i : lane / 4;
        int column = transposed ? lane / 4 : lane % 4 * 2 + i;
        const uint16_t *from =
            static_cast<MatrixRow *>(records[matrix * 8 + row])->row;
        word |= static_cast<uint32_t>(from[column]) << (16 * i);
      }
      static_cast<MatrixRow *>(records[lane])->to[matrix] = word;
    }
}

WEFT_DEVICE void loadMatrices(uint32_t (&to)[4], SharedPlace row, WEFT_SITE) {
  weft_emu_load(row.place, 16);
  MatrixRow record = {row.place, to};
  weft_emu_together(0xffffffffu, &record, loadTogether<false>, site);
}
WEFT_DEVICE void loadTransposed(uint32_t (&to)[4], SharedPlace row, WEFT_SITE) {
  weft_emu_load(row.place, 16);
  MatrixRow record = {row.place, to};
  weft_emu_together(0xffffffffu, &record, loadTogether<true>, site);
}

//===----------------------------------------------------------------------===//
// Copies to shared memory beside other work
//===----------------------------------------------------------------------===//

WEFT_DEVICE void beginCopy(void *to, const void *from, bool zeros) {
  weft_emu_begin_copy(to, zeros ? nullptr : from);
}
WEFT_DEVICE void endGroup() { weft_emu_end_copies(); }
template <int groups> WEFT_DEVICE void waitForGroups() {
  weft_emu_wait_for_copies(groups);
}

} // namespace weft::cuda

#endif // WEFT_TEST_EMULATION_DEVICEHOST_H
