//===- DeviceCuda.h - Device code as nvcc compiles it -----------*- C++ -*-===//

#ifndef WEFT_KERNELS_CUDA_DEVICECUDA_H
#define WEFT_KERNELS_CUDA_DEVICECUDA_H

#include <stdint.h>

#include <type_traits>

#define WEFT_DEVICE static __device__ __forceinline__
#define WEFT_MEMBER __device__ __forceinline__

/// Kernel `name` of one argument `a`, for blocks of exactly `threads`, of which
/// at least `blocks` are to fit into a multiprocessor.
#define WEFT_KERNEL(name, Arguments, threads, blocks)                          \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                \
      name(const __grid_constant__ Arguments a)

namespace weft::cuda {

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

WEFT_DEVICE unsigned threadIndex() { return threadIdx.x; }
WEFT_DEVICE unsigned blockIndex() { return blockIdx.x; }
WEFT_DEVICE unsigned blockSize() { return blockDim.x; }
WEFT_DEVICE unsigned gridSize() { return gridDim.x; }

WEFT_DEVICE void barrier() { __syncthreads(); }
WEFT_DEVICE char *sharedMemory() {
  extern __shared__ __align__(16) char weftShared[];
  return weftShared;
}

WEFT_DEVICE float shuffleXor(float value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
WEFT_DEVICE uint32_t shuffleXor(uint32_t value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
WEFT_DEVICE uint32_t shuffleFrom(uint32_t value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

WEFT_DEVICE float bitsToFloat(uint32_t bits) { return __uint_as_float(bits); }
WEFT_DEVICE float fusedMultiplyAdd(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
/// 2^x, relative error below 2^-22, results below 2^-126 are 0.
WEFT_DEVICE float powerOfTwo(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

WEFT_DEVICE float widenHalf(uint16_t x) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x));
  return result;
}
WEFT_DEVICE uint16_t narrowHalf(float x) {
  uint16_t result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(x));
  return result;
}
WEFT_DEVICE uint16_t narrowBf16(float x) {
  uint16_t result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(x));
  return result;
}
WEFT_DEVICE uint32_t packHalf(float low, float high) {
  uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
WEFT_DEVICE uint32_t packBf16(float low, float high) {
  uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

//===----------------------------------------------------------------------===//
// Matrices of a warp (PTX ISA, "Warp Level Matrix Instructions")
//===----------------------------------------------------------------------===//

#define WEFT_MMA(type)                                                         \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type          \
               ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"    \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
WEFT_DEVICE void multiplyHalf(float (&c)[4], const uint32_t (&a)[4],
                              uint32_t b0, uint32_t b1) {
  WEFT_MMA("f16");
}
WEFT_DEVICE void multiplyBf16(float (&c)[4], const uint32_t (&a)[4],
                              uint32_t b0, uint32_t b1) {
  WEFT_MMA("bf16");
}
#undef WEFT_MMA

WEFT_DEVICE uint32_t sharedAddress(const void *place) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(place));
}

/// An element of two bytes in shared memory. Its address is found once: what
/// is added to it is part of an instruction.
struct SharedPlace {
  uint32_t address;
  WEFT_MEMBER explicit SharedPlace(const uint16_t *place)
      : address(sharedAddress(place)) {}
  WEFT_MEMBER SharedPlace operator+(int elements) const {
    SharedPlace result = *this;
    result.address += 2 * elements;
    return result;
  }
};

/// Four matrices of 8x8 elements of two bytes; lane i says where row i % 8 of
/// matrix i / 8 lies, at a multiple of 16 bytes.
WEFT_DEVICE void loadMatrices(uint32_t (&to)[4], SharedPlace row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row.address)
               : "memory");
}
/// The same, each matrix transposed.
WEFT_DEVICE void loadTransposed(uint32_t (&to)[4], SharedPlace row) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
      : "r"(row.address)
      : "memory");
}

//===----------------------------------------------------------------------===//
// Copies to shared memory beside other work
//===----------------------------------------------------------------------===//

/// Begins to copy 16 bytes to shared memory, or zeros.
WEFT_DEVICE void beginCopy(void *to, const void *from, bool zeros) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(to)),
      "l"(__cvta_generic_to_global(from)), "r"(zeros ? 0 : 16)
      : "memory");
}
/// Commits the copies begun since the last call as one group.
WEFT_DEVICE void endGroup() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most `groups` of this thread's groups are in flight.
template <int groups> WEFT_DEVICE void waitForGroups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_DEVICECUDA_H
