//===- GgufBlocksTest.cpp - Conversions of GGUF element types -------------===//

#include "weft/Formats/GgufBlocks.h"

#include "weft/Base/Half.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace weft;

namespace {

std::vector<uint8_t> fill(int64_t count) {
  std::vector<uint8_t> bytes;
  for (uint32_t state = 1; int64_t(bytes.size()) < count;) {
    state = state * 1103515245u + 12345u;
    bytes.push_back(uint8_t(state >> 16));
  }
  return bytes;
}

/// FNV-1a over whole numbers.
uint64_t hashNumber(uint64_t hash, uint64_t number) {
  return (hash ^ number) * 0x100000001b3ull;
}

constexpr uint64_t kSeed = 0xcbf29ce484222325ull;

/// Four blocks of arbitrary bytes with finite scales, or 64 elements.
std::vector<uint8_t> blocksOf(const GgmlTypeRow &row) {
  const int64_t count = row.blockElements > 1 ? 4 : 64;
  std::vector<uint8_t> bytes = fill(count * row.blockBytes);
  const std::string name = row.name;
  const int first = name == "Q6_K" ? 208 : 0;
  const bool hasLeast =
      name == "Q4_1" || name == "Q5_1" || name == "Q4_K" || name == "Q5_K";
  for (int64_t i = 0; i < count; ++i) {
    uint8_t *block = bytes.data() + i * row.blockBytes;
    if (row.blockElements == 1) {
      block[1] &= name == "F16" ? 0xbb : 0xbf;
      continue;
    }
    block[first + 1] = uint8_t(0x2a + i);
    if (hasLeast)
      block[first + 3] = uint8_t(0x2a + i + 128);
  }
  return bytes;
}

TEST(GgufBlocks, ValuesOfThePackageGguf) {
  struct Golden {
    GgmlType type;
    uint64_t hash;
  };
  // gguf.quants.dequantize of gguf 0.19.0.
  for (Golden golden : {Golden{GgmlType::F16, 0xa29bcaebfd830825ull},
                        {GgmlType::BF16, 0x6ea84153a8a30825ull},
                        {GgmlType::Q4_0, 0xa331586523dc1525ull},
                        {GgmlType::Q4_1, 0xf4afc4a591669f25ull},
                        {GgmlType::Q5_0, 0x17e90988b7febd25ull},
                        {GgmlType::Q5_1, 0xedd1d584813c1325ull},
                        {GgmlType::Q8_0, 0x99d8ff67c20beca5ull},
                        {GgmlType::Q4_K, 0x73c549c6bb60fe3dull},
                        {GgmlType::Q5_K, 0x203c50b7350536ddull},
                        {GgmlType::Q6_K, 0x1556808e0e081145ull}}) {
    const GgmlTypeRow &row = rowOf(golden.type);
    const std::vector<uint8_t> bytes = blocksOf(row);
    const int64_t blocks = int64_t(bytes.size()) / row.blockBytes;
    std::vector<float> values(size_t(blocks * row.blockElements));
    row.decode(bytes.data(), blocks, values.data());
    uint64_t hash = kSeed;
    for (float value : values)
      hash = hashNumber(hash, floatBits(value));
    EXPECT_EQ(hash, golden.hash) << row.name;
  }
}

TEST(GgufBlocks, Q8OfThePackageGguf) {
  const std::vector<uint8_t> bytes = fill(4 * 128);
  float values[128];
  for (int i = 0; i < 128; ++i) {
    int32_t number;
    std::memcpy(&number, bytes.data() + 4 * i, 4);
    values[i] = float(number) / float(1 << 28);
  }
  uint8_t out[4 * 34];
  EXPECT_EQ(encodeGgml(GgmlType::Q8_0, values, 128, out), 0);
  uint64_t hash = kSeed;
  for (uint8_t byte : out)
    hash = hashNumber(hash, byte);
  EXPECT_EQ(hash, 0xbe311429373f3b71ull);
}

TEST(GgufBlocks, ScalesThatDoNotFit) {
  float values[32] = {};
  uint8_t out[34];
  EXPECT_EQ(encodeGgml(GgmlType::Q8_0, values, 32, out), 0);
  values[5] = 8.4e6f;
  EXPECT_EQ(encodeGgml(GgmlType::Q8_0, values, 32, out), 1);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(encodeGgml(GgmlType::Q8_0, values, 32, out), 1);
  values[5] = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(encodeGgml(GgmlType::Q8_0, values, 32, out), 0);
  for (uint8_t byte : out)
    EXPECT_EQ(byte, 0);
}

TEST(GgufBlocks, Table) {
  EXPECT_FALSE(findGgmlType(4));
  EXPECT_STREQ(findGgmlType(39)->name, "MXFP4");
  EXPECT_FALSE(findGgmlType(39)->decode);
  EXPECT_EQ(rowOf(GgmlType::Q6_K).blockBytes, 210);
}

} // namespace
