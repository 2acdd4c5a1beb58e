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

#include "weft/Abi/Executable.h"

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
/// below 1.5e-7 (docs/explanation/kernels-cpu.md); e^0 is exactly 1; 0 below
/// -87; constant above 88; NaN stays NaN.
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

//===- Low floats ---------------------------------------------------------===//

// The bits of include/weft/Base/Half.h: exact widening, rounding to nearest
// even, subnormals kept, a NaN stays one. (vcvtneps2bf16 is not used: it takes
// subnormals as zero.)

typedef uint32_t BitsVec __attribute__((vector_size(kLanes * 4)));
typedef uint16_t LowVec __attribute__((vector_size(kLanes * 2)));
// The same at any address of an element.
typedef uint16_t AnyLowVec
    __attribute__((vector_size(kLanes * 2), aligned(2), may_alias));

WEFT_INLINE BitsVec splatBits(uint32_t x) { return BitsVec{} + x; }

WEFT_INLINE LowVec keepLowHalves(BitsVec bits) {
  return __builtin_convertvector(bits, LowVec);
}

WEFT_INLINE Vec widenBf16(LowVec low) {
  return (Vec)(__builtin_convertvector(low, BitsVec) << 16);
}

WEFT_INLINE LowVec roundBf16(Vec value) {
  BitsVec bits = (BitsVec)value, high = bits >> 16;
  BitsVec rounded = (bits + 0x7fffu + (high & 1u)) >> 16;
  return keepLowHalves((value != value) ? (high | 0x40u) : rounded);
}

#if defined(__AVX512F__)
WEFT_INLINE Vec widenHalf(LowVec low) {
  return (Vec)_mm512_cvtph_ps((__m256i)low);
}
WEFT_INLINE LowVec roundHalf(Vec value) {
  return (LowVec)_mm512_cvtps_ph((__m512)value,
                                 _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#elif defined(__F16C__)
WEFT_INLINE Vec widenHalf(LowVec low) {
  return (Vec)_mm256_cvtph_ps((__m128i)low);
}
WEFT_INLINE LowVec roundHalf(Vec value) {
  return (LowVec)_mm256_cvtps_ph((__m256)value, _MM_FROUND_TO_NEAREST_INT);
}
#else
WEFT_INLINE Vec widenHalf(LowVec low) {
  BitsVec wide = __builtin_convertvector(low, BitsVec);
  BitsVec sign = (wide & 0x8000u) << 16;
  BitsVec shifted = (wide & 0x7fffu) << 13;
  // The exponent is too small by 112; the product is exact, also where it
  // makes a subnormal a normal number.
  BitsVec magnitude = (BitsVec)((Vec)shifted * splat(0x1p112f));
  BitsVec special = shifted | splatBits(0x7f800000u);
  BitsVec quiet = special | splatBits(0x400000u);
  special = special == splatBits(0x7f800000u) ? special : quiet;
  magnitude = shifted >= splatBits(0x0f800000u) ? special : magnitude;
  return (Vec)(sign | magnitude);
}
WEFT_INLINE LowVec roundHalf(Vec value) {
  BitsVec bits = (BitsVec)value;
  BitsVec sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  BitsVec rounded =
      ((magnitude + 0xfffu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
  // The last place of an f32 in [0.5, 1) equals the last place of a half
  // subnormal, so the addition rounds.
  BitsVec small =
      (BitsVec)((Vec)magnitude + splat(0.5f)) - splatBits(0x3f000000u);
  BitsVec half =
      magnitude < splatBits(0x38800000u) ? small : rounded; // below 2^-14
  half = magnitude >= splatBits(0x477ff000u) ? splatBits(0x7c00u) : half;
  BitsVec nan = ((magnitude >> 13) & 0x3ffu) | 0x7e00u;
  return keepLowHalves(sign | (value != value ? nan : half));
}
#endif

WEFT_INLINE LowVec loadLow(const uint16_t *from) {
  return *reinterpret_cast<const AnyLowVec *>(from);
}
WEFT_INLINE LowVec loadLowPart(const uint16_t *from, int64_t n) {
  uint16_t lanes[kLanes] = {};
  for (int64_t i = 0; i < n; ++i)
    lanes[i] = from[i];
  return loadLow(lanes);
}

// One struct per element type: how its elements become and leave vectors. `at`
// counts elements.

struct F32Elements {
  static constexpr int kDType = WEFT_F32;
  WEFT_INLINE Vec get(const void *from, int64_t at) {
    return load(static_cast<const float *>(from) + at);
  }
  WEFT_INLINE Vec getPart(const void *from, int64_t at, int64_t n, float rest) {
    return loadPart(static_cast<const float *>(from) + at, n, rest);
  }
  WEFT_INLINE void put(void *to, int64_t at, Vec value) {
    store(static_cast<float *>(to) + at, value);
  }
  WEFT_INLINE void putPart(void *to, int64_t at, int64_t n, Vec value) {
    storePart(static_cast<float *>(to) + at, n, value);
  }
};

/// f16 and bf16: the two differ in how a vector is converted.
template <typename Conversion> struct LowElements : Conversion {
  WEFT_INLINE Vec get(const void *from, int64_t at) {
    return Conversion::widen(loadLow(static_cast<const uint16_t *>(from) + at));
  }
  WEFT_INLINE Vec getPart(const void *from, int64_t at, int64_t n, float rest) {
    Vec value = Conversion::widen(
        loadLowPart(static_cast<const uint16_t *>(from) + at, n));
    float lanes[kLanes];
    store(lanes, value);
    for (int64_t i = n; i < kLanes; ++i)
      lanes[i] = rest;
    return load(lanes);
  }
  WEFT_INLINE void put(void *to, int64_t at, Vec value) {
    *reinterpret_cast<AnyLowVec *>(static_cast<uint16_t *>(to) + at) =
        Conversion::round(value);
  }
  WEFT_INLINE void putPart(void *to, int64_t at, int64_t n, Vec value) {
    uint16_t lanes[kLanes];
    put(lanes, 0, value);
    for (int64_t i = 0; i < n; ++i)
      static_cast<uint16_t *>(to)[at + i] = lanes[i];
  }
};
struct HalfConversion {
  static constexpr int kDType = WEFT_F16;
  WEFT_INLINE Vec widen(LowVec low) { return widenHalf(low); }
  WEFT_INLINE LowVec round(Vec value) { return roundHalf(value); }
};
struct Bf16Conversion {
  static constexpr int kDType = WEFT_BF16;
  WEFT_INLINE Vec widen(LowVec low) { return widenBf16(low); }
  WEFT_INLINE LowVec round(Vec value) { return roundBf16(value); }
};

/// Calls body with the struct of `dtype`, which is f32, f16 or bf16.
template <typename Body> WEFT_INLINE void withElements(int dtype, Body body) {
  if (dtype == WEFT_F16)
    body(LowElements<HalfConversion>());
  else if (dtype == WEFT_BF16)
    body(LowElements<Bf16Conversion>());
  else
    body(F32Elements());
}

} // namespace WEFT_ISA
} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_SIMD_H
