//===- Simd.h - Vectors of the instruction set being compiled ---*- C++ -*-===//
//
// Included only by the files that are compiled once per instruction set. Lanes
// are independent of each other in everything here, so that an element's bits
// do not depend on the lane it lands in.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_SIMD_H
#define WEFT_KERNELS_CPU_ISA_SIMD_H

#include "Loops.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace weft {
namespace WEFT_ISA {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

static_assert(kLanes <= kMostLanes, "scratch is laid out for fewer lanes");

typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef int32_t IntVec __attribute__((vector_size(kLanes * 4)));
// The same at any address of a float.
typedef float AnyVec
    __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

WEFT_INLINE Vec load(const float *from) {
  return *reinterpret_cast<const AnyVec *>(from);
}
WEFT_INLINE void store(float *to, Vec value) {
  *reinterpret_cast<AnyVec *>(to) = value;
}

#if defined(__AVX512F__)
WEFT_INLINE Vec splat(float x) { return (Vec)_mm512_set1_ps(x); }
WEFT_INLINE Vec fma(Vec a, Vec b, Vec c) {
  return (Vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
#elif defined(__AVX2__)
WEFT_INLINE Vec splat(float x) { return (Vec)_mm256_set1_ps(x); }
WEFT_INLINE Vec fma(Vec a, Vec b, Vec c) {
  return (Vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
#else
WEFT_INLINE Vec splat(float x) { return (Vec)_mm_set1_ps(x); }
WEFT_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
#endif

WEFT_INLINE IntVec splatInt(int32_t x) { return IntVec{} + x; }

/// The larger one; `b` if either is NaN.
WEFT_INLINE Vec maxVec(Vec a, Vec b) { return a > b ? a : b; }

/// First n floats at `from`, `rest` in the other lanes.
WEFT_INLINE Vec loadPart(const float *from, int64_t n, float rest) {
  float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i)
    lanes[i] = i < n ? from[i] : rest;
  return load(lanes);
}
WEFT_INLINE void storePart(float *to, int64_t n, Vec value) {
  float lanes[kLanes];
  store(lanes, value);
  for (int i = 0; i < n; ++i)
    to[i] = lanes[i];
}

/// e^x. Range reduction by multiples of ln 2 in two parts, Cephes' expf
/// polynomial (Moshier), scaling through the exponent bits. Relative error
/// below 1.5e-7 (docs/kernels-cpu.md); e^0 is exactly 1; 0 below -87; constant
/// above 88; NaN stays NaN.
WEFT_INLINE Vec expVec(Vec x) {
  const Vec magic = splat(12582912.0f); // 1.5 * 2^23: rounds to an integer
  Vec clamped = x < splat(-87.0f) ? splat(-87.0f) : x;
  clamped = clamped > splat(88.0f) ? splat(88.0f) : clamped;
  Vec shifted = clamped * splat(1.44269504088896341f) + magic;
  Vec n = shifted - magic;
  Vec r = fma(n, splat(-0.693359375f), clamped);
  r = fma(n, splat(2.12194440e-4f), r);
  Vec p = splat(1.9875691500e-4f);
  p = fma(p, r, splat(1.3981999507e-3f));
  p = fma(p, r, splat(8.3334519073e-3f));
  p = fma(p, r, splat(4.1665795894e-2f));
  p = fma(p, r, splat(1.6666665459e-1f));
  p = fma(p, r, splat(5.0000001201e-1f));
  p = fma(p, r * r, r) + splat(1.0f);
  IntVec exponent = ((IntVec)shifted - (IntVec)magic) << 23;
  Vec result = (Vec)((IntVec)p + exponent);
  result = x < splat(-87.0f) ? splat(0.0f) : result;
  return x != x ? x : result;
}

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_SIMD_H
