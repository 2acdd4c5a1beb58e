//===- LowKernelTest.cpp - Bits of f16 and bf16 in generated kernels ------===//
//
// Conversions are those of Half.h for every pattern; an op widens its operands,
// computes in f32 and rounds once. All processor levels give the same bits.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "weft/Formats/Half.h"

#include <gtest/gtest.h>

using namespace weft;

namespace {

constexpr const char *kLevels[] = {"cpu:x86-64-v2", "cpu:x86-64-v3", "cpu"};

struct LowType {
  const char *name;
  uint16_t (*round)(float);
  float (*widen)(uint16_t);
};
constexpr LowType kLowTypes[] = {{"f16", floatToHalf, halfToFloat},
                                 {"bf16", floatToBf16, bf16ToFloat}};

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

/// Compiles a program whose only op but the terminator is `op` and runs it.
std::string runOp(const std::string &op, const std::string &arguments,
                  const std::string &result, const char *level,
                  const std::vector<std::string> &inputs) {
  std::string text = "weft.program @eval(" + arguments + ") -> (" + result +
                     " {weft.output = \"z\"}) attributes {kind = "
                     "#weft.kind<eval>} {\n%z = " +
                     op + "\nweft.return %z : " + result + "\n}\n";
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
      EXPECT_EQ(runOp("weft.cast %x : " + wide + " to " + low,
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
      EXPECT_EQ(runOp("weft.cast %x : " + low + " to tensor<65536xf32>",
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
          runOp("weft.mul %x, %y : " + low + ", " + low,
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
