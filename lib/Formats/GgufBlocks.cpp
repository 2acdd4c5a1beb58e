//===- GgufBlocks.cpp - Conversions of GGUF element types -----------------===//
//
// Products and sums are rounded one by one, since all of weft is compiled
// without contraction.
//
//===----------------------------------------------------------------------===//

#include "weft/Formats/GgufBlocks.h"

#include "weft/Base/Half.h"

#include <algorithm>
#include <cmath>

namespace weft {

static uint16_t load16(const uint8_t *from) {
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

static float loadHalf(const uint8_t *from) { return halfToFloat(load16(from)); }

static void store16(uint8_t *out, uint16_t bits) {
  std::memcpy(out, &bits, sizeof bits);
}

//===----------------------------------------------------------------------===//
// Unquantized types
//===----------------------------------------------------------------------===//

static void decodeF32(const uint8_t *from, int64_t count, float *out) {
  std::memcpy(out, from, static_cast<size_t>(count) * sizeof *out);
}

static void decodeF16(const uint8_t *from, int64_t count, float *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = loadHalf(from + 2 * i);
}

static void decodeBf16(const uint8_t *from, int64_t count, float *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = bf16ToFloat(load16(from + 2 * i));
}

//===----------------------------------------------------------------------===//
// Blocks of 32
//===----------------------------------------------------------------------===//

/// Calls `decodeBlock(block, out)` for each block.
template <int64_t bytes, int64_t elements, typename DecodeBlock>
static void forBlocks(const uint8_t *from, int64_t blocks, float *out,
                      DecodeBlock decodeBlock) {
  for (int64_t i = 0; i < blocks; ++i)
    decodeBlock(from + i * bytes, out + i * elements);
}

static void decodeQ4_0(const uint8_t *from, int64_t blocks, float *out) {
  forBlocks<18, 32>(from, blocks, out, [](const uint8_t *block, float *values) {
    const float scale = loadHalf(block);
    for (int i = 0; i < 16; ++i) {
      values[i] = scale * static_cast<float>((block[2 + i] & 15) - 8);
      values[i + 16] = scale * static_cast<float>((block[2 + i] >> 4) - 8);
    }
  });
}

static void decodeQ4_1(const uint8_t *from, int64_t blocks, float *out) {
  forBlocks<20, 32>(from, blocks, out, [](const uint8_t *block, float *values) {
    const float scale = loadHalf(block), least = loadHalf(block + 2);
    for (int i = 0; i < 16; ++i) {
      values[i] = scale * static_cast<float>(block[4 + i] & 15) + least;
      values[i + 16] = scale * static_cast<float>(block[4 + i] >> 4) + least;
    }
  });
}

/// Number `i` of a block of 5 bits: four bits in `low`, one in `high`.
static int fiveBits(const uint8_t *low, uint32_t high, int i) {
  const int nibble = i < 16 ? low[i] & 15 : low[i - 16] >> 4;
  return nibble | static_cast<int>((high >> i & 1) << 4);
}

static uint32_t load32(const uint8_t *from) {
  uint32_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

static void decodeQ5_0(const uint8_t *from, int64_t blocks, float *out) {
  forBlocks<22, 32>(from, blocks, out, [](const uint8_t *block, float *values) {
    const float scale = loadHalf(block);
    const uint32_t high = load32(block + 2);
    for (int i = 0; i < 32; ++i)
      values[i] = scale * static_cast<float>(fiveBits(block + 6, high, i) - 16);
  });
}

static void decodeQ5_1(const uint8_t *from, int64_t blocks, float *out) {
  forBlocks<24, 32>(from, blocks, out, [](const uint8_t *block, float *values) {
    const float scale = loadHalf(block), least = loadHalf(block + 2);
    const uint32_t high = load32(block + 4);
    for (int i = 0; i < 32; ++i)
      values[i] =
          scale * static_cast<float>(fiveBits(block + 8, high, i)) + least;
  });
}

static void decodeQ8_0(const uint8_t *from, int64_t blocks, float *out) {
  forBlocks<34, 32>(from, blocks, out, [](const uint8_t *block, float *values) {
    const float scale = loadHalf(block);
    for (int i = 0; i < 32; ++i)
      values[i] = static_cast<float>(static_cast<int8_t>(block[2 + i])) * scale;
  });
}

//===----------------------------------------------------------------------===//
// Blocks of 256
//===----------------------------------------------------------------------===//

namespace {
/// Scale and minimum of one of the eight groups of a Q4_K or Q5_K block.
struct GroupScale {
  float scale, least;

  /// `block` begins with two halves and twelve bytes of 6-bit numbers.
  GroupScale(const uint8_t *block, int group) {
    const uint8_t *s = block + 4;
    const int wide = group < 4
                         ? s[group] & 63
                         : (s[group + 4] & 15) | (s[group - 4] >> 2 & 0x30);
    const int low = group < 4 ? s[group + 4] & 63
                              : (s[group + 4] >> 4) | (s[group] >> 2 & 0x30);
    scale = loadHalf(block) * static_cast<float>(wide);
    least = loadHalf(block + 2) * static_cast<float>(low);
  }
};
} // namespace

static void decodeQ4_K(const uint8_t *from, int64_t blocks, float *out) {
  forBlocks<144, 256>(
      from, blocks, out, [](const uint8_t *block, float *values) {
        for (int group = 0; group < 8; ++group) {
          const GroupScale by(block, group);
          const uint8_t *low = block + 16 + group / 2 * 32;
          const int shift = group % 2 * 4;
          for (int i = 0; i < 32; ++i)
            values[group * 32 + i] =
                by.scale * static_cast<float>(low[i] >> shift & 15) - by.least;
        }
      });
}

static void decodeQ5_K(const uint8_t *from, int64_t blocks, float *out) {
  forBlocks<176, 256>(
      from, blocks, out, [](const uint8_t *block, float *values) {
        for (int group = 0; group < 8; ++group) {
          const GroupScale by(block, group);
          const uint8_t *high = block + 16;
          const uint8_t *low = block + 48 + group / 2 * 32;
          const int shift = group % 2 * 4;
          for (int i = 0; i < 32; ++i) {
            const int number = (low[i] >> shift & 15) | (high[i] >> group & 1)
                                                            << 4;
            values[group * 32 + i] =
                by.scale * static_cast<float>(number) - by.least;
          }
        }
      });
}

static void decodeQ6_K(const uint8_t *from, int64_t blocks, float *out) {
  forBlocks<210, 256>(
      from, blocks, out, [](const uint8_t *block, float *values) {
        const float scale = loadHalf(block + 208);
        for (int group = 0; group < 8; ++group) {
          const int half = group / 4, rest = group % 4;
          const uint8_t *low = block + half * 64 + rest % 2 * 32;
          const uint8_t *high = block + 128 + half * 32;
          const uint8_t *scales = block + 192 + group * 2;
          for (int i = 0; i < 32; ++i) {
            const int number =
                (low[i] >> rest / 2 * 4 & 15) | (high[i] >> rest * 2 & 3) << 4;
            const auto factor = static_cast<int8_t>(scales[i / 16]);
            values[group * 32 + i] = scale * static_cast<float>(factor) *
                                     static_cast<float>(number - 32);
          }
        }
      });
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const GgmlTypeRow kTypes[] = {
    {0, "F32", 1, 4, decodeF32},        {1, "F16", 1, 2, decodeF16},
    {2, "Q4_0", 32, 18, decodeQ4_0},    {3, "Q4_1", 32, 20, decodeQ4_1},
    {6, "Q5_0", 32, 22, decodeQ5_0},    {7, "Q5_1", 32, 24, decodeQ5_1},
    {8, "Q8_0", 32, 34, decodeQ8_0},    {9, "Q8_1", 32, 40, nullptr},
    {10, "Q2_K", 256, 84, nullptr},     {11, "Q3_K", 256, 110, nullptr},
    {12, "Q4_K", 256, 144, decodeQ4_K}, {13, "Q5_K", 256, 176, decodeQ5_K},
    {14, "Q6_K", 256, 210, decodeQ6_K}, {15, "Q8_K", 256, 292, nullptr},
    {16, "IQ2_XXS", 256, 66, nullptr},  {17, "IQ2_XS", 256, 74, nullptr},
    {18, "IQ3_XXS", 256, 98, nullptr},  {19, "IQ1_S", 256, 50, nullptr},
    {20, "IQ4_NL", 32, 18, nullptr},    {21, "IQ3_S", 256, 110, nullptr},
    {22, "IQ2_S", 256, 82, nullptr},    {23, "IQ4_XS", 256, 136, nullptr},
    {24, "I8", 1, 1, nullptr},          {25, "I16", 1, 2, nullptr},
    {26, "I32", 1, 4, nullptr},         {27, "I64", 1, 8, nullptr},
    {28, "F64", 1, 8, nullptr},         {29, "IQ1_M", 256, 56, nullptr},
    {30, "BF16", 1, 2, decodeBf16},     {34, "TQ1_0", 256, 54, nullptr},
    {35, "TQ2_0", 256, 66, nullptr},    {39, "MXFP4", 32, 17, nullptr},
    {40, "NVFP4", 64, 36, nullptr},     {41, "Q1_0", 128, 18, nullptr},
};

const GgmlTypeRow *findGgmlType(uint32_t number) {
  for (const GgmlTypeRow &row : kTypes)
    if (row.number == number)
      return &row;
  return nullptr;
}

const GgmlTypeRow &rowOf(GgmlType type) {
  return *findGgmlType(static_cast<uint32_t>(type));
}

std::string readableGgmlTypes() {
  std::string names;
  for (const GgmlTypeRow &row : kTypes)
    if (row.decode)
      names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Whether the values are finite and f16 holds the scale of the block.
static bool encodeQ8_0(const float *from, uint8_t *out) {
  float most = 0;
  bool isFinite = true;
  for (int i = 0; i < 32; ++i) {
    most = std::max(most, std::fabs(from[i]));
    isFinite &= std::isfinite(from[i]);
  }
  const float scale = most / 127.0f;
  const float inverse = scale == 0 ? 0.0f : 1.0f / scale;
  const uint16_t bits = floatToHalf(scale);
  store16(out, bits);
  for (int i = 0; i < 32; ++i) {
    // The inverse of a tiny scale is infinite; such a block is all zeros.
    const float number = std::round(from[i] * inverse);
    out[2 + i] = static_cast<uint8_t>(
        std::fabs(number) <= 127.0f ? static_cast<int8_t>(number) : 0);
  }
  return isFinite && (bits & 0x7fff) < 0x7c00;
}

int64_t encodeGgml(GgmlType type, const float *from, int64_t count,
                   uint8_t *out) {
  int64_t wrong = 0;
  if (type == GgmlType::F32)
    std::memcpy(out, from, static_cast<size_t>(count) * sizeof *from);
  else if (type == GgmlType::Q8_0)
    for (int64_t i = 0; i < count; i += 32)
      wrong += !encodeQ8_0(from + i, out + i / 32 * 34);
  else
    for (int64_t i = 0; i < count; ++i)
      store16(out + 2 * i, type == GgmlType::F16 ? floatToHalf(from[i])
                                                 : floatToBf16(from[i]));
  return wrong;
}

} // namespace weft
