//===- DeviceLanguage.h - CUDA or its emulation -----------------*- C++ -*-===//
//
// The kernels of this folder are one source for two compilers: nvcc makes them
// code of a device (DeviceCuda.h), a compiler for this machine makes them the
// threads of an emulated device (DeviceHost.h of test/emulation). What the two
// have in common is here: element types and small functions on top.
//
// A kernel has one argument, a struct of KernelArguments.h, blocks and grids of
// one dimension, and no shared memory but the dynamic one. Products and sums
// are contracted only where fusedMultiplyAdd is written.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_DEVICELANGUAGE_H
#define WEFT_KERNELS_CUDA_DEVICELANGUAGE_H

#ifdef __CUDACC__
#include "DeviceCuda.h"
#else
#include "DeviceHost.h"
#endif

namespace weft::cuda {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr float kLog2E = 1.44269504088896340736f;
constexpr float kLn2 = 0.69314718055994530942f;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

struct F32 {
  using Bits = float;
  static WEFT_MEMBER float widen(Bits x) { return x; }
  static WEFT_MEMBER Bits narrow(float x) { return x; }
};

struct F16 {
  using Bits = uint16_t;
  static WEFT_MEMBER float widen(Bits x) { return widenHalf(x); }
  static WEFT_MEMBER Bits narrow(float x) { return narrowHalf(x); }
  /// Two of them in a word, `low` in the lower half.
  static WEFT_MEMBER uint32_t pack(float low, float high) {
    return packHalf(low, high);
  }
  /// c += a b, by a warp, for fragments of 16x16, 16x8 and 16x8.
  static WEFT_MEMBER void multiply(float (&c)[4], const uint32_t (&a)[4],
                                   uint32_t b0, uint32_t b1) {
    multiplyHalf(c, a, b0, b1);
  }
};

struct Bf16 {
  using Bits = uint16_t;
  static WEFT_MEMBER float widen(Bits x) {
    return bitsToFloat(static_cast<uint32_t>(x) << 16);
  }
  static WEFT_MEMBER Bits narrow(float x) { return narrowBf16(x); }
  static WEFT_MEMBER uint32_t pack(float low, float high) {
    return packBf16(low, high);
  }
  static WEFT_MEMBER void multiply(float (&c)[4], const uint32_t (&a)[4],
                                   uint32_t b0, uint32_t b1) {
    multiplyBf16(c, a, b0, b1);
  }
};

/// Any 16 bytes.
struct alignas(16) Unit16 {
  uint64_t low, high;
};

/// A unit of these bytes; of less than 8 their first ones.
template <typename Unit> WEFT_DEVICE Unit unitOf(uint64_t low, uint64_t high) {
  if constexpr (sizeof(Unit) == 16)
    return {low, high};
  else
    return static_cast<Unit>(low);
}

//===----------------------------------------------------------------------===//
// Small functions
//===----------------------------------------------------------------------===//

WEFT_DEVICE int smaller(int a, int b) { return a < b ? a : b; }
WEFT_DEVICE int larger(int a, int b) { return a > b ? a : b; }
WEFT_DEVICE int laneIndex() { return static_cast<int>(threadIndex()) % kWarp; }
WEFT_DEVICE int warpIndex() { return static_cast<int>(threadIndex()) / kWarp; }
WEFT_DEVICE int64_t globalIndex() {
  return static_cast<int64_t>(blockIndex()) * blockSize() + threadIndex();
}
WEFT_DEVICE int64_t globalSize() {
  return static_cast<int64_t>(gridSize()) * blockSize();
}

/// The larger one; the other one where one is NaN.
WEFT_DEVICE float maximum(float a, float b) { return fmaxf(a, b); }
WEFT_DEVICE float infinity() { return bitsToFloat(0x7f800000u); }

/// Of the lanes whose numbers differ in the bits of `lanes - 1` alone.
template <int lanes> WEFT_DEVICE float maximumOfLanes(float x) {
#pragma unroll
  for (int bit = lanes / 2; bit > 0; bit /= 2)
    x = maximum(x, shuffleXor(x, bit));
  return x;
}
template <int lanes> WEFT_DEVICE float sumOfLanes(float x) {
#pragma unroll
  for (int bit = lanes / 2; bit > 0; bit /= 2)
    x = x + shuffleXor(x, bit);
  return x;
}

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_DEVICELANGUAGE_H
