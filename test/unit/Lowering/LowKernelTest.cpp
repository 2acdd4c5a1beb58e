//===- LowKernelTest.cpp - Bits of f16 and bf16 in generated kernels ------===//
//
// Conversions equal Half.h's for every pattern; an op widens its operands,
// computes in f32 and rounds once. All processor levels give the same bits.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "weft/Base/Half.h"

#include <gtest/gtest.h>

using namespace weft;

namespace {

struct LowType {
  const char *name;
  uint16_t (*round)(float);
  float (*widen)(uint16_t);
};
constexpr LowType kLowTypes[] = {{"f16", floatToHalf, halfToFloat},
                                 {"bf16", floatToBf16, bf16ToFloat}};

/// Compiles a program of these ops, the last of which is %z, and runs it.
std::string runOps(const std::string &ops, const std::string &arguments,
                   const std::string &result, const char *level,
                   const std::vector<std::string> &inputs) {
  std::string text = "weft.program @eval(" + arguments + ") -> (" + result +
                     " {weft.output = \"z\"}) attributes {kind = "
                     "#weft.kind<eval>} {\n" +
                     ops + "\nweft.return %z : " + result + "\n}\n";
  CompiledKernels compiled(text, level);
  if (!compiled.ok())
    return "";
  return compiled.run(compiled.kernels().front(), inputs, {}).front();
}

/// f32 patterns around every place where rounding changes.
std::vector<uint32_t> getPatterns() {
  std::vector<uint32_t> patterns;
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low :
         {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      patterns.push_back(high << 16 | low);
  return patterns;
}

} // namespace

TEST(LowKernels, RoundLikeHalf) {
  std::vector<uint32_t> patterns = getPatterns();
  std::string size = std::to_string(patterns.size());
  for (const LowType &type : kLowTypes)
    for (const char *level : kLevels) {
      std::vector<uint16_t> want;
      for (uint32_t bits : patterns)
        want.push_back(type.round(bitsToFloat(bits)));
      std::string low = "tensor<" + size + "x" + type.name + ">";
      std::string wide = "tensor<" + size + "xf32>";
      EXPECT_EQ(runOps("%z = weft.cast %x : " + wide + " to " + low,
                       "%x: " + wide + " {weft.input = \"x\"}", low, level,
                       {bytesOf(patterns)}) == bytesOf(want),
                true)
          << type.name << " on " << level;
    }
}

TEST(LowKernels, WidenLikeHalf) {
  std::vector<uint16_t> patterns;
  for (int i = 0; i < 65536; ++i)
    patterns.push_back(static_cast<uint16_t>(i));
  for (const LowType &type : kLowTypes)
    for (const char *level : kLevels) {
      std::vector<float> want;
      for (uint16_t bits : patterns)
        want.push_back(type.widen(bits));
      std::string low = std::string("tensor<65536x") + type.name + ">";
      EXPECT_EQ(runOps("%z = weft.cast %x : " + low + " to tensor<65536xf32>",
                       "%x: " + low + " {weft.input = \"x\"}",
                       "tensor<65536xf32>", level,
                       {bytesOf(patterns)}) == bytesOf(want),
                true)
          << type.name << " on " << level;
    }
}

TEST(LowKernels, ComputeInF32) {
  std::vector<uint16_t> x, y;
  for (uint32_t i = 0; i < 65536; ++i) {
    x.push_back(static_cast<uint16_t>(i));
    y.push_back(static_cast<uint16_t>(i * 40503u >> 3));
  }
  for (const LowType &type : kLowTypes)
    for (const char *level : kLevels) {
      std::string low = std::string("tensor<65536x") + type.name + ">";
      std::string got =
          runOps("%z = weft.mul %x, %y : " + low + ", " + low,
                 "%x: " + low + " {weft.input = \"x\"}, %y: " + low +
                     " {weft.input = \"y\"}",
                 low, level, {bytesOf(x), bytesOf(y)});
      ASSERT_EQ(got.size(), 2 * x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        uint16_t bits;
        std::memcpy(&bits, got.data() + 2 * i, 2);
        float want = type.widen(x[i]) * type.widen(y[i]);
        // Which of two NaNs a product keeps is the processor's choice.
        if (want != want)
          ASSERT_TRUE(type.widen(bits) != type.widen(bits));
        else
          ASSERT_EQ(bits, type.round(want))
              << type.name << " " << x[i] << " * " << y[i] << " on " << level;
      }
    }
}

// A chunk of one lane ends a row, or the sums of columns: nothing is written
// behind it. Behind a row is the next one, which a kernel that works in place
// has yet to read, and behind all the next buffer: runOps() looks there.
TEST(LowKernels, WriteNothingBehindARow) {
  for (const LowType &type : kLowTypes)
    for (const char *level : kLevels)
      for (int columns : {1, 15, 17, 18, 33}) {
        const std::string width = std::to_string(columns) + "x";
        std::string x = "tensor<32x" + width + "f32>", y = "tensor<32x1xf32>";
        std::string low = "tensor<32x" + width + type.name + ">";
        std::string sums = "tensor<" + width + "f32>";
        std::string lowSums = "tensor<" + width + type.name + ">";
        const std::string argument = "%x: " + x + " {weft.input = \"x\"}";
        std::vector<float> ones(32 * columns, 1.0f);
        std::vector<uint16_t> rows(ones.size(), type.round(1.0f + columns));
        std::vector<uint16_t> totals(columns, type.round(32.0f));
        EXPECT_TRUE(
            columns == 1 ||
            runOps("%s = weft.reduce sum %x dims [1] {keep_dims} : " + x +
                       "\n%y = weft.add %x, %s : " + x + ", " + y +
                       "\n%z = weft.cast %y : " + x + " to " + low,
                   argument, low, level, {bytesOf(ones)}) == bytesOf(rows))
            << columns << " columns of " << type.name << " on " << level;
        EXPECT_TRUE(runOps("%s = weft.reduce sum %x dims [0] : " + x +
                               "\n%z = weft.cast %s : " + sums + " to " +
                               lowSums,
                           argument, lowSums, level,
                           {bytesOf(ones)}) == bytesOf(totals))
            << columns << " sums of " << type.name << " on " << level;
      }
}
