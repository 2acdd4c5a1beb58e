//===- RandomKernelTest.cpp - Bits of random numbers in kernels -----------===//
//
// Generated code on every processor level draws the numbers of Philox.h, bit
// for bit.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "weft/Runtime/Execute/Philox.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace weft;

namespace {

constexpr int64_t kCount = 40003;

/// Any numbers, and rows and elements as small as those of models.
std::vector<uint64_t> makeWords(uint64_t seed, bool isSmall) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> words;
  for (int64_t i = 0; i < kCount; ++i) {
    uint64_t word = random();
    words.push_back(isSmall && i % 3 != 0 ? word >> 40 : word);
  }
  return words;
}

std::string bytesOf(const std::vector<uint64_t> &words) {
  return {reinterpret_cast<const char *>(words.data()), words.size() * 8};
}

/// A program that draws `kCount` numbers, each with a key and a place.
std::string makeProgram(const std::string &kind) {
  std::string words = "tensor<" + std::to_string(kCount) + "xi64>";
  std::string numbers = "tensor<" + std::to_string(kCount) + "xf32>";
  std::string arguments, types;
  for (const char *name : {"a", "b", "c", "d"}) {
    arguments += arguments.empty() ? "" : ", ";
    arguments += std::string("%") + name + ": " + words + " {weft.input = \"" +
                 name + "\"}";
    types += (types.empty() ? "" : ", ") + words;
  }
  return "weft.program @eval(" + arguments + ") -> (" + numbers +
         " {weft.output = \"z\"}) attributes {kind = #weft.kind<eval>} {\n"
         "%z = weft.philox " +
         kind + " %a, %b, %c, %d : " + types + "\nweft.return %z : " + numbers +
         "\n}\n";
}

void expectNumbers(const std::string &kind,
                   float (*draw)(PhiloxKey, uint64_t, uint64_t)) {
  auto seeds = makeWords(1, false), streams = makeWords(2, true);
  auto rows = makeWords(3, true), elements = makeWords(4, true);
  for (const char *level : {"cpu:x86-64-v2", "cpu:x86-64-v3", "cpu"}) {
    CompiledKernels compiled(makeProgram(kind), level);
    ASSERT_TRUE(compiled.ok());
    std::string made = compiled
                           .run(compiled.kernels().front(),
                                {bytesOf(seeds), bytesOf(streams),
                                 bytesOf(rows), bytesOf(elements)},
                                {})
                           .front();
    ASSERT_EQ(made.size(), kCount * sizeof(float));
    for (int64_t i = 0; i < kCount; ++i) {
      float want = draw(philoxKey(seeds[i], streams[i]), rows[i], elements[i]);
      ASSERT_EQ(std::memcmp(&want, made.data() + 4 * i, 4), 0)
          << kind << " on " << level << ", number " << i;
    }
  }
}

} // namespace

TEST(RandomKernels, DrawUniformNumbers) {
  expectNumbers("uniform", [](PhiloxKey key, uint64_t row, uint64_t element) {
    return philoxUnit(philoxNumber(key, row, element));
  });
}

TEST(RandomKernels, DrawNormalNumbers) {
  expectNumbers("normal", [](PhiloxKey key, uint64_t row, uint64_t element) {
    return philoxNormal(key, row, element);
  });
}
