//===- Half.h - float16 and bfloat16 conversions ----------------*- C++ -*-===//
//
// Exact widening and narrowing with round to nearest even, subnormals kept.
// A NaN stays a NaN (quiet, upper payload bits kept). Bit patterns are
// uint16_t.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_HALF_H
#define WEFT_BASE_HALF_H

#include <cstdint>
#include <cstring>

namespace weft {

inline uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float bf16ToFloat(uint16_t bits) {
  return bitsToFloat(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t floatToBf16(float value) {
  uint32_t bits = floatBits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  // Adding just under half of the last place, and one more when that place is
  // odd, carries exactly when rounding to nearest even goes up.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float halfToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f)
    return bitsToFloat(sign | 0x7f800000u | (mantissa << 13) |
                       (mantissa ? 0x400000u : 0));
  if (exponent == 0) {
    // mantissa * 2^-24 is exact in f32.
    float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-08f;
    return bitsToFloat(sign | floatBits(magnitude));
  }
  return bitsToFloat(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

inline uint16_t floatToHalf(float value) {
  uint32_t bits = floatBits(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) // 65520 and above round to infinity
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) { // below 2^-14: subnormal or zero
    // In [0.5, 1) one unit in the last place of f32 is 2^-24, the last place of
    // a half subnormal: the addition itself rounds to nearest even.
    float shifted = bitsToFloat(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (floatBits(shifted) - floatBits(0.5f)));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
}

} // namespace weft

#endif // WEFT_BASE_HALF_H
