//===- KernelTest.cpp - Compiled kernels against the interpreter ----------===//
//
// Every op in programs of odd sizes: values against the interpreter (doubles),
// and the same bits for any cut of the range and any alignment.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

namespace weft {
namespace {

/// Programs over x, y: RxC, v: C, w: Rx1, s: scalar, t: 2xRxC, m: RxC booleans,
/// i, j: RxC integers. '@' becomes RxC, '$' C, '&' Rx1; the last value is %z.
struct Program {
  const char *body;
  const char *result = "@xf32";
};

const Program kPrograms[] = {
    {"%z = weft.neg %x : tensor<@xf32>"},
    {"%z = weft.abs %x : tensor<@xf32>"},
    {"%z = weft.sign %x : tensor<@xf32>"},
    {"%z = weft.exp %x : tensor<@xf32>"},
    {"%a = weft.abs %x : tensor<@xf32>\n %z = weft.log %a : tensor<@xf32>"},
    {"%a = weft.abs %x : tensor<@xf32>\n %z = weft.log1p %a : tensor<@xf32>"},
    {"%a = weft.abs %x : tensor<@xf32>\n %z = weft.sqrt %a : tensor<@xf32>"},
    {"%a = weft.abs %x : tensor<@xf32>\n %z = weft.rsqrt %a : tensor<@xf32>"},
    {"%z = weft.reciprocal %x : tensor<@xf32>"},
    {"%z = weft.tanh %x : tensor<@xf32>"},
    {"%z = weft.erf %x : tensor<@xf32>"},
    {"%z = weft.sin %x : tensor<@xf32>"},
    {"%z = weft.cos %x : tensor<@xf32>"},
    {"%z = weft.sigmoid %x : tensor<@xf32>"},
    {"%z = weft.relu %x : tensor<@xf32>"},
    {"%z = weft.silu %x : tensor<@xf32>"},
    {"%z = weft.softplus %x : tensor<@xf32>"},
    {"%z = weft.gelu %x : tensor<@xf32>"},
    {"%z = weft.gelu %x {approximate = #weft.gelu_kind<tanh>} : tensor<@xf32>"},
    {"%z = weft.add %x, %v : tensor<@xf32>, tensor<$xf32>"},
    {"%z = weft.sub %w, %x : tensor<&xf32>, tensor<@xf32>"},
    {"%z = weft.mul %x, %s : tensor<@xf32>, tensor<f32>"},
    {"%z = weft.div %x, %y : tensor<@xf32>, tensor<@xf32>"},
    {"%z = weft.max %w, %v : tensor<&xf32>, tensor<$xf32>"},
    {"%z = weft.min %t, %x : tensor<2x@xf32>, tensor<@xf32>", "2x@xf32"},
    {"%a = weft.abs %x : tensor<@xf32>\n"
     "%z = weft.pow %a, %y : tensor<@xf32>, tensor<@xf32>"},
    {"%c = weft.compare gt %x, %v : tensor<@xf32>, tensor<$xf32>\n"
     "%n = weft.not %c : tensor<@xi1>\n"
     "%o = weft.or %n, %m : tensor<@xi1>, tensor<@xi1>\n"
     "%z = weft.select %o, %x, %s : tensor<@xi1>, tensor<@xf32>, tensor<f32>"},
    {"%z = weft.and %m, %m : tensor<@xi1>, tensor<@xi1>", "@xi1"},
    {"%z = weft.div %i, %j : tensor<@xi32>, tensor<@xi32>", "@xi32"},
    {"%z = weft.compare le %i, %j : tensor<@xi32>, tensor<@xi32>", "@xi1"},
    {"%z = weft.cast %x : tensor<@xf32> to tensor<@xi64>", "@xi64"},
    {"%z = weft.cast %m : tensor<@xi1> to tensor<@xf32>"},
    {"%z = weft.cast %i : tensor<@xi32> to tensor<@xf64>", "@xf64"},
    {"%a = weft.cast %x : tensor<@xf32> to tensor<@xbf16>\n"
     "%b = weft.mul %a, %a : tensor<@xbf16>, tensor<@xbf16>\n"
     "%z = weft.cast %b : tensor<@xbf16> to tensor<@xf32>"},
    {"%z = weft.cast %x : tensor<@xf32> to tensor<@xf16>", "@xf16"},
    {"%a = weft.cast %x : tensor<@xf32> to tensor<@xf64>\n"
     "%z = weft.tanh %a : tensor<@xf64>",
     "@xf64"},
    {"%z = weft.softmax %x : tensor<@xf32>"},
    {"%z = weft.softmax %x {dim = 0} : tensor<@xf32>"},
    {"%z = weft.log_softmax %x : tensor<@xf32>"},
    {"%z, %p, %q = weft.layer_norm %x, %v, %v {eps = 1.0e-5 : f64}"
     " : tensor<@xf32>, tensor<$xf32>"},
    {"%z, %q = weft.rms_norm %x, %v {eps = 1.0e-6 : f64}"
     " : tensor<@xf32>, tensor<$xf32>"},
    {"%z = weft.reduce sum %x dims [0] : tensor<@xf32>", "$xf32"},
    {"%z = weft.reduce mean %x dims [1] {keep_dims} : tensor<@xf32>", "&xf32"},
    {"%z = weft.reduce max %x dims [0, 1] : tensor<@xf32>", "f32"},
    {"%z = weft.reduce min %t dims [1] : tensor<2x@xf32>", "2x$xf32"},
    {"%z = weft.reduce sum %t dims [0, 2] : tensor<2x@xf32>", "Rxf32"},
    {"%a = weft.mul %x, %y : tensor<@xf32>, tensor<@xf32>\n"
     "%b = weft.reduce sum %a dims [0] : tensor<@xf32>\n"
     "%z = weft.accumulate %v, %b, %s : tensor<$xf32>",
     "$xf32"},
    {"%z = weft.mse %x, %y : tensor<@xf32>", "f32"},
    {"%z = weft.bce_with_logits %x, %y : tensor<@xf32>", "f32"},
    {"%a = weft.transpose %t [1, 0, 2] : tensor<2x@xf32>\n"
     "%b = weft.slice %a offsets [0, 1, 0] sizes [R, 1, C] strides [1, 1, 1]"
     " : tensor<Rx2xCxf32>\n"
     "%z = weft.exp %b : tensor<Rx1xCxf32>",
     "Rx1xCxf32"},
    {"%a = weft.reshape %t : tensor<2x@xf32> to tensor<2xNxf32>\n"
     "%b = weft.exp %a : tensor<2xNxf32>\n"
     "%c = weft.reshape %b : tensor<2xNxf32> to tensor<2x@xf32>\n"
     "%z = weft.add %c, %v : tensor<2x@xf32>, tensor<$xf32>",
     "2x@xf32"},
    {"%z = weft.iota [0, 1] : tensor<@xi32>", "@xi32"},
    {"%a = weft.transpose %t [1, 0, 2] : tensor<2x@xf32>\n"
     "%b = weft.iota [0] : tensor<Rx2xCxi32>\n"
     "%c = weft.iota [0, 1] : tensor<2xCxi64>\n"
     "%d = weft.cast %b : tensor<Rx2xCxi32> to tensor<Rx2xCxf32>\n"
     "%e = weft.cast %c : tensor<2xCxi64> to tensor<2xCxf32>\n"
     "%f = weft.mul %a, %d : tensor<Rx2xCxf32>, tensor<Rx2xCxf32>\n"
     "%z = weft.add %f, %e : tensor<Rx2xCxf32>, tensor<2xCxf32>",
     "Rx2xCxf32"},
    {"%a = weft.iota [0] : tensor<&xi64>\n"
     "%b = weft.iota [1] : tensor<1xCxi64>\n"
     "%c = weft.constant dense<[7, -9]> : tensor<2xi64>\n"
     "%d = weft.slice %c offsets [0] sizes [1] strides [1] : tensor<2xi64>\n"
     "%e = weft.philox uniform %d, %d, %a, %b : tensor<1xi64>, tensor<1xi64>, "
     "tensor<&xi64>, tensor<1xCxi64>\n"
     "%f = weft.mul %x, %e : tensor<@xf32>, tensor<@xf32>\n"
     "%z = weft.reduce sum %f dims [0] : tensor<@xf32>",
     "$xf32"},
    {"%a = weft.constant dense<[7, -9]> : tensor<2xi64>\n"
     "%z = weft.dropout %t rng %a : tensor<2xi64> {p = 0.3 : f64, op_id = 4}"
     " : tensor<2x@xf32>",
     "2x@xf32"},
    {"%a = weft.constant dense<5> : tensor<i64>\n"
     "%z = weft.random_normal %a {key = \"w\", mean = 1.0 : f64, std = 2.0 : "
     "f64} : tensor<@xf32>"},
    {"%a = weft.constant dense<5> : tensor<i64>\n"
     "%z = weft.random_uniform %a {key = \"w\", low = -1.0 : f64, high = 2.0 : "
     "f64} : tensor<2x@xf16>",
     "2x@xf16"},
    {"%a = weft.slice %i offsets [0, 0] sizes [R, 1] strides [1, 1]"
     " : tensor<@xi32>\n"
     "%b = weft.reshape %a : tensor<&xi32> to tensor<Rxi32>\n"
     "%c = weft.abs %v : tensor<$xf32>\n"
     "%z, %d, %e = weft.cross_entropy %x, %b weight %c : tensor<$xf32>"
     " {ignore_index = 3, label_smoothing = 0.1 : f64}"
     " : tensor<@xf32>, tensor<Rxi32>",
     "f32"},
    {"%a = weft.slice %i offsets [0, 0] sizes [R, 1] strides [1, 1]"
     " : tensor<@xi32>\n"
     "%b = weft.reshape %a : tensor<&xi32> to tensor<Rxi32>\n"
     "%z = weft.accuracy %x, %b {ignore_index = 3}"
     " : tensor<@xf32>, tensor<Rxi32>",
     "f32"},
    {"%a = weft.slice %i offsets [0, 0] sizes [R, 1] strides [1, 1]"
     " : tensor<@xi32>\n"
     "%b = weft.reshape %a : tensor<&xi32> to tensor<Rxi32>\n"
     "%c = weft.reduce max %x dims [1] : tensor<@xf32>\n"
     "%z = weft.cross_entropy_grad %s, %x, %b, %c, %s weight %v : tensor<$xf32>"
     " {ignore_index = 3, label_smoothing = 0.1 : f64}"
     " : tensor<f32>, tensor<@xf32>, tensor<Rxi32>, tensor<Rxf32>"},
    {"%a = weft.slice %i offsets [0, 0] sizes [R, 1] strides [1, 1]"
     " : tensor<@xi32>\n"
     "%b = weft.reshape %a : tensor<&xi32> to tensor<Rxi32>\n"
     "%c = weft.cast %b : tensor<Rxi32> to tensor<Rxi64>\n"
     "%d = weft.reduce max %x dims [1] : tensor<@xf32>\n"
     "%z = weft.cross_entropy_grad %s, %x, %c, %d, %s"
     " : tensor<f32>, tensor<@xf32>, tensor<Rxi64>, tensor<Rxf32>"},
};

std::string substitute(std::string text, int64_t rows, int64_t columns) {
  std::string r = std::to_string(rows), c = std::to_string(columns);
  std::string out;
  for (char letter : text) {
    switch (letter) {
    case '@':
      out += r + "x" + c;
      break;
    case '$':
    case 'C':
      out += c;
      break;
    case '&':
      out += r + "x1";
      break;
    case 'R':
      out += r;
      break;
    case 'N':
      out += std::to_string(rows * columns);
      break;
    default:
      out += letter;
    }
  }
  return out;
}

/// All programs at one size, as one module.
std::string makeModule(int64_t rows, int64_t columns) {
  std::string text;
  for (size_t i = 0; i < std::size(kPrograms); ++i) {
    const Program &program = kPrograms[i];
    std::string result = substitute(program.result, rows, columns);
    std::string body = substitute(program.body, rows, columns);
    text += "weft.program @p" + std::to_string(i);
    text += substitute(R"((%x: tensor<@xf32> {weft.input = "x"},
        %y: tensor<@xf32> {weft.input = "y"},
        %v: tensor<$xf32> {weft.input = "v"},
        %w: tensor<&xf32> {weft.input = "w"},
        %s: tensor<f32> {weft.input = "s"},
        %t: tensor<2x@xf32> {weft.input = "t"},
        %m: tensor<@xi1> {weft.input = "m"},
        %i: tensor<@xi32> {weft.input = "i"},
        %j: tensor<@xi32> {weft.input = "j"}))",
                       rows, columns);
    text += " -> (tensor<" + result + "> {weft.output = \"z\"})";
    text += " attributes {kind = #weft.kind<eval>} {\n" + body;
    text += "\nweft.return %z : tensor<" + result + ">\n}\n";
  }
  return text;
}

Tensor makeInput(mlir::RankedTensorType type, std::mt19937 &random) {
  Tensor tensor(type);
  std::uniform_real_distribution<double> numbers(-2.0, 2.0);
  std::uniform_int_distribution<int64_t> integers(1, 9);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.isFloat())
      tensor.at(i) = numbers(random);
    else
      tensor.intAt(i) = tensor.kind() == ElementKind::I1 ? random() % 2
                        : random() % 2                   ? integers(random)
                                                         : -integers(random);
  }
  tensor.roundElements();
  return tensor;
}

double toleranceOf(ElementKind kind) {
  return kind == ElementKind::F16 || kind == ElementKind::BF16 ? 1e-2 : 2e-5;
}

void expectClose(const Tensor &actual, const Tensor &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (int64_t i = 0; i < actual.size(); ++i) {
    double x = actual.value(i), y = expected.value(i);
    if (std::isnan(x) && std::isnan(y))
      continue;
    double limit = toleranceOf(actual.kind()) * (1.0 + std::fabs(y));
    ASSERT_LE(std::fabs(x - y), limit)
        << "element " << i << ": " << x << " instead of " << y;
  }
}

std::string textOf(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream);
  return text;
}

/// bf16 arithmetic rounds after each op; the interpreter's doubles do not.
bool isRounded(KernelOp kernel) {
  bool rounded = false;
  kernel.walk([&](mlir::Operation *op) {
    for (mlir::Value result : op->getResults()) {
      mlir::Type element = mlir::getElementTypeOrSelf(result.getType());
      rounded |= element.isBF16();
    }
  });
  return rounded;
}

void checkKernel(CompiledKernels &compiled, KernelOp kernel,
                 std::mt19937 &random) {
  std::vector<Tensor> inputs;
  std::vector<std::string> bytes;
  for (mlir::Type type : kernel.getArgumentTypes()) {
    inputs.push_back(
        makeInput(mlir::cast<mlir::RankedTensorType>(type), random));
    bytes.push_back(toBytes(inputs.back()));
  }
  std::vector<std::string> whole = compiled.run(kernel, bytes, {});
  EXPECT_EQ(whole, compiled.run(kernel, bytes, {0, /*manyParts=*/true}))
      << textOf(kernel);
  EXPECT_EQ(whole, compiled.run(kernel, bytes, {4, /*manyParts=*/false}))
      << textOf(kernel);
  EXPECT_EQ(whole, compiled.run(kernel, bytes, {20, /*manyParts=*/true}))
      << textOf(kernel);
  std::vector<Tensor> expected = compiled.interpret(kernel, inputs);
  ASSERT_EQ(expected.size(), whole.size());
  for (size_t i = 0; i < whole.size() && !isRounded(kernel); ++i) {
    auto type = mlir::cast<mlir::RankedTensorType>(kernel.getResultTypes()[i]);
    SCOPED_TRACE(textOf(kernel));
    expectClose(fromBytes(type, whole[i]), expected[i]);
  }
}

struct Size {
  int64_t rows, columns;
};

class KernelTest : public ::testing::TestWithParam<Size> {};

TEST_P(KernelTest, ComputesWhatTheInterpreterComputes) {
  CompiledKernels compiled(makeModule(GetParam().rows, GetParam().columns));
  ASSERT_TRUE(compiled.ok());
  std::mt19937 random(7);
  for (KernelOp kernel : compiled.kernels())
    checkKernel(compiled, kernel, random);
}

INSTANTIATE_TEST_SUITE_P(Sizes, KernelTest,
                         ::testing::Values(Size{1, 1}, Size{3, 7}, Size{5, 15},
                                           Size{4, 16}, Size{7, 17},
                                           Size{2, 63}, Size{3, 64},
                                           Size{65, 65}, Size{130, 127},
                                           Size{3, 1100}));

/// Without AVX-512, AVX2 or FMA the same kernels give nearly the same values.
TEST(KernelLevels, OlderProcessorsComputeTheSame) {
  for (const char *level : {"cpu:x86-64-v2", "cpu:x86-64-v3"}) {
    CompiledKernels compiled(makeModule(7, 17), level);
    ASSERT_TRUE(compiled.ok());
    std::mt19937 random(7);
    for (KernelOp kernel : compiled.kernels())
      checkKernel(compiled, kernel, random);
  }
}

} // namespace
} // namespace weft
