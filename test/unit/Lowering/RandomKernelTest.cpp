//===- RandomKernelTest.cpp - Bits of random numbers in kernels -----------===//
//
// Generated code on every processor level draws the numbers of Philox.h, bit
// for bit.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "weft/Abi/Philox.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace weft;

namespace {

constexpr int64_t kCount = 40003;

/// Any numbers, and rows and elements of the sizes in models.
std::vector<uint64_t> makeWords(uint64_t seed, bool isSmall) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> words;
  for (int64_t i = 0; i < kCount; ++i) {
    uint64_t word = random();
    words.push_back(isSmall && i % 3 != 0 ? word >> 40 : word);
  }
  return words;
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

namespace {

/// How a kernel goes over the elements that it draws numbers for.
struct Shape {
  const char *name;
  std::vector<int64_t> sizes;
  const char *reduction; // of the result, or ""
};

// Whole groups of chunks, chunks behind them, masked ones; rows of a length
// that blocks of four do not divide; sums of rows and of columns beside it.
const Shape kShapes[] = {
    {"flat", {40000}, ""},
    {"rows", {3, 340}, ""},
    {"odd", {5, 33}, ""},
    {"three", {2, 7, 68}, ""},
    {"short", {9, 3}, ""},
    {"row sums", {3, 708}, "sum %z dims [1]"},
    {"long row sums", {2, 4133}, "sum %z dims [1]"},
    {"column sums", {35, 152}, "sum %z dims [0]"},
    {"odd column sums", {35, 151}, "sum %z dims [0]"},
};

std::string typeOf(const std::vector<int64_t> &sizes,
                   const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// A program of `op`, whose result is %z, and of the shape's reduction.
std::string drawProgram(const Shape &shape, const std::string &arguments,
                        const std::string &op, const std::string &element) {
  std::string type = typeOf(shape.sizes, element), values = "%z", types = type;
  std::string outputs = type + " {weft.output = \"z\"}", sum;
  if (*shape.reduction) {
    bool isRows = std::strchr(shape.reduction, '1');
    std::string result = typeOf({shape.sizes[isRows ? 0 : 1]}, element);
    sum = std::string("%s = weft.reduce ") + shape.reduction + " : " + type;
    outputs += ", " + result + " {weft.output = \"s\"}";
    values += ", %s", types += ", " + result;
  }
  return "weft.program @eval(" + arguments + ") -> (" + outputs +
         ") attributes {kind = #weft.kind<eval>} {\n%z = weft." + op + "\n" +
         sum + "\nweft.return " + values + " : " + types + "\n}\n";
}

int64_t countOf(const std::vector<int64_t> &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// Runs a program on every level, whole and in parts, and compares its first
/// result.
void expectBits(const Shape &shape, const std::string &program,
                const std::vector<std::string> &inputs,
                const std::string &want) {
  for (const char *level : {"cpu:x86-64-v2", "cpu:x86-64-v3", "cpu"}) {
    CompiledKernels compiled(program, level);
    ASSERT_TRUE(compiled.ok());
    for (RunStyle style : {RunStyle{0, false}, RunStyle{8, true}})
      EXPECT_TRUE(compiled.runProgram(inputs, style).front() == want)
          << shape.name << " on " << level;
  }
}

} // namespace

TEST(RandomKernels, DropElements) {
  constexpr double p = 0.3;
  const int64_t rng[] = {42, 1000};
  for (const Shape &shape : kShapes) {
    const int64_t count = countOf(shape.sizes), row = count / shape.sizes[0];
    std::vector<float> x, want;
    for (int64_t i = 0; i < count; ++i) {
      uint32_t number = philoxNumber(philoxKey(42, 6), 1000 + i / row, i % row);
      x.push_back(static_cast<float>(i % 97) - 48.5f);
      want.push_back(number >> 8 >= philoxDropThreshold(p)
                         ? x.back() * philoxKeepScale(p)
                         : 0.0f);
    }
    const std::string type = typeOf(shape.sizes, "f32");
    std::string program = drawProgram(
        shape,
        "%x: " + type +
            " {weft.input = \"x\"}, %r: tensor<2xi64> "
            "{weft.input = \"r\"}",
        "dropout %x rng %r : tensor<2xi64> {p = 0.3 : f64, op_id = 6} : " +
            type,
        "f32");
    auto bytes = [](const void *from, size_t size) {
      return std::string(static_cast<const char *>(from), size);
    };
    expectBits(shape, program,
               {bytes(x.data(), count * 4), bytes(rng, sizeof rng)},
               bytes(want.data(), count * 4));
  }
}

TEST(RandomKernels, DrawInitialValues) {
  const PhiloxKey key = philoxKey(7, philoxNameHash("w", 1));
  const int64_t seed = 7;
  for (const Shape &shape : kShapes) {
    const int64_t count = countOf(shape.sizes);
    std::string uniforms, normals;
    for (int64_t i = 0; i < count; ++i) {
      float unit = philoxUnit(philoxNumber(key, 0, i)) * 4.0f;
      float uniform = -1.0f + unit, scaled = 2.0f * philoxNormal(key, 0, i);
      float normal = 0.5f + scaled;
      uniforms.append(reinterpret_cast<const char *>(&uniform), 4);
      normals.append(reinterpret_cast<const char *>(&normal), 4);
    }
    const std::string argument = "%seed: tensor<i64> {weft.input = \"seed\"}";
    const std::string type = " : " + typeOf(shape.sizes, "f32");
    const std::string input(reinterpret_cast<const char *>(&seed), 8);
    expectBits(
        shape,
        drawProgram(shape, argument,
                    "random_uniform %seed {key = \"w\", low = -1.0 : f64, "
                    "high = 3.0 : f64}" +
                        type,
                    "f32"),
        {input}, uniforms);
    expectBits(
        shape,
        drawProgram(shape, argument,
                    "random_normal %seed {key = \"w\", mean = 0.5 : f64, "
                    "std = 2.0 : f64}" +
                        type,
                    "f32"),
        {input}, normals);
  }
}

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
