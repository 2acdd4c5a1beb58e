//===- HalfTest.cpp - float16 and bfloat16 --------------------------------===//

#include "weft/Base/Half.h"

#include "TestSupport.h"

#include <cmath>

using namespace weft;

static uint16_t compilerHalf(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

static bool isNanHalf(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

TEST(Half, WideningIsExactForEveryPattern) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto pattern = static_cast<uint16_t>(bits);
    float wide = halfToFloat(pattern);
    _Float16 half;
    std::memcpy(&half, &pattern, sizeof half);
    if (isNanHalf(pattern))
      ASSERT_TRUE(std::isnan(wide)) << bits;
    else
      ASSERT_EQ(floatBits(wide), floatBits(static_cast<float>(half))) << bits;
    // Back again, NaNs as quiet ones.
    uint16_t expected = isNanHalf(pattern) ? pattern | 0x200 : pattern;
    ASSERT_EQ(floatToHalf(wide), expected) << bits;
  }
}

TEST(Half, NarrowingRoundsToNearestEvenAroundEveryHalf) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    float low = halfToFloat(static_cast<uint16_t>(bits));
    // The midpoint to the next half (65520 past the largest) is exact in f32.
    float high = bits == 0x7bff ? 65536.0f : halfToFloat(bits + 1);
    float middle = low + (high - low) / 2;
    auto even = static_cast<uint16_t>(bits & 1 ? bits + 1 : bits);
    ASSERT_EQ(floatToHalf(middle), even) << bits;
    ASSERT_EQ(floatToHalf(std::nextafterf(middle, 0)), bits) << bits;
    ASSERT_EQ(floatToHalf(std::nextafterf(middle, 1e30f)), bits + 1) << bits;
    ASSERT_EQ(floatToHalf(-middle), even | 0x8000) << bits;
  }
}

TEST(Half, NarrowingAgreesWithTheCompiler) {
  // A stride that is prime walks through all exponents and mantissas.
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 4099) {
    float value = bitsToFloat(static_cast<uint32_t>(bits));
    if (std::isnan(value))
      ASSERT_TRUE(isNanHalf(floatToHalf(value)));
    else
      ASSERT_EQ(floatToHalf(value), compilerHalf(value)) << value;
  }
}

TEST(Half, Bf16RoundsToNearestEvenAroundEveryValue) {
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    uint32_t low = bits << 16, middle = low | 0x8000;
    uint32_t even = bits & 1 ? bits + 1 : bits;
    ASSERT_EQ(floatToBf16(bitsToFloat(low)), bits);
    ASSERT_EQ(floatBits(bf16ToFloat(static_cast<uint16_t>(bits))), low);
    ASSERT_EQ(floatToBf16(bitsToFloat(middle)), even);
    ASSERT_EQ(floatToBf16(bitsToFloat(middle - 1)), bits);
    ASSERT_EQ(floatToBf16(bitsToFloat(middle + 1)), bits + 1);
    ASSERT_EQ(floatToBf16(bitsToFloat(middle | 0x80000000u)), even | 0x8000);
  }
}

TEST(Half, Bf16SpecialValues) {
  EXPECT_EQ(floatToBf16(INFINITY), 0x7f80);
  EXPECT_EQ(floatToBf16(-INFINITY), 0xff80);
  // A NaN whose payload lies only in the lower half stays a NaN.
  EXPECT_EQ(floatToBf16(bitsToFloat(0x7f800001)), 0x7fc0);
  EXPECT_EQ(floatToHalf(bitsToFloat(0x7f800001)), 0x7e00);
  EXPECT_TRUE(std::isnan(bf16ToFloat(0xffc1)));
}
