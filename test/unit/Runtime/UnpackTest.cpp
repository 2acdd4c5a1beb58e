//===- UnpackTest.cpp - Packed tables become the structs that run ---------===//

#include "weft/Runtime/Unpack.h"

#include "gtest/gtest.h"

using namespace weft;

namespace {

void kernel(void *const *, int64_t, int64_t) {}
void routine(WeftContext *, const WeftCommand *, void *const *) {}

const char kTexts[] = "eval\0k_1\0\0gemm\0h.0\0x\0y\0w";
enum : int64_t {
  Eval = 0,
  K1 = 5,
  None = 9,
  Gemm = 10,
  H0 = 15,
  X = 19,
  Y = 21,
  W = 23
};
const int64_t kInts[] = {64, 128, 0, 7, 2, 3};
const double kFloats[] = {0.5, 0.25};
const WeftKernelFn kKernels[] = {kernel};
const WeftLibraryFn kLibraries[] = {routine};
const int64_t kRecords[] = {
    // program: name, commands, inputs, outputs
    Eval, 2, 1, 1,
    // a kernel on buffers 64, 128, range 8, grain 4
    K1, None, 0, -1, 0, 2, 0, 0, 0, 0, 8, 4,
    // a library call on buffer 0 with int 7 and float 0.25
    Gemm, H0, -1, 0, 2, 1, 3, 1, 1, 1, 0, 0,
    // input x: f32 2x3 at 64; output y: i64 scalar at 128
    X, WEFT_F32, 2, 4, 64, 24, Y, WEFT_I64, 0, 0, 128, 8,
    // tensor w
    W, None, X, WEFT_PARAM, WEFT_F16, 1, 1, 5, 192, 6};

const WeftTables kTables = {WEFT_ABI_VERSION, 1,     1,       kRecords,
                            kTexts,           kInts, kFloats, kKernels,
                            kLibraries,       256,   "{}",    2};

TEST(Unpack, Commands) {
  UnpackedTables tables(kTables);
  const WeftExecutable &made = tables.executable();
  ASSERT_EQ(made.numPrograms, 1);
  const WeftProgram &program = made.programs[0];
  EXPECT_STREQ(program.name, "eval");
  ASSERT_EQ(program.numCommands, 2);
  const WeftCommand &first = program.commands[0], &second = program.commands[1];
  EXPECT_STREQ(first.name, "k_1");
  EXPECT_STREQ(first.scope, "");
  EXPECT_EQ(first.kernel, &kernel);
  EXPECT_EQ(first.library, nullptr);
  ASSERT_EQ(first.numBuffers, 2);
  EXPECT_EQ(first.offsets[1], 128);
  EXPECT_EQ(first.numInts, 0);
  EXPECT_EQ(first.extent, 8);
  EXPECT_EQ(first.grain, 4);
  EXPECT_STREQ(second.scope, "h.0");
  EXPECT_EQ(second.kernel, nullptr);
  EXPECT_EQ(second.library, &routine);
  EXPECT_EQ(second.offsets[0], 0);
  ASSERT_EQ(second.numInts, 1);
  EXPECT_EQ(second.ints[0], 7);
  ASSERT_EQ(second.numFloats, 1);
  EXPECT_EQ(second.floats[0], 0.25);
}

TEST(Unpack, PortsAndTensors) {
  UnpackedTables tables(kTables);
  const WeftExecutable &made = tables.executable();
  ASSERT_EQ(made.programs[0].numInputs, 1);
  ASSERT_EQ(made.programs[0].numOutputs, 1);
  const WeftPort &input = made.programs[0].inputs[0];
  const WeftPort &output = made.programs[0].outputs[0];
  EXPECT_STREQ(input.name, "x");
  ASSERT_EQ(input.rank, 2);
  EXPECT_EQ(input.dims[1], 3);
  EXPECT_EQ(input.bytes, 24);
  EXPECT_STREQ(output.name, "y");
  EXPECT_EQ(output.dtype, WEFT_I64);
  EXPECT_EQ(output.offset, 128);
  ASSERT_EQ(made.numTensors, 1);
  const WeftTensor &tensor = made.tensors[0];
  EXPECT_STREQ(tensor.name, "w");
  EXPECT_STREQ(tensor.param, "");
  EXPECT_STREQ(tensor.source, "x");
  EXPECT_EQ(tensor.dtype, WEFT_F16);
  EXPECT_EQ(tensor.trainable, 1);
  EXPECT_EQ(tensor.dims[0], 3);
  EXPECT_EQ(tensor.offset, 192);
  EXPECT_EQ(tensor.bytes, 6);
  EXPECT_EQ(made.arenaBytes, 256);
  EXPECT_EQ(made.metadataBytes, 2);
}

TEST(Unpack, AnotherVersionIsNotRead) {
  WeftTables other = kTables;
  other.abiVersion = WEFT_ABI_VERSION + 1;
  other.records = nullptr;
  UnpackedTables tables(other);
  EXPECT_EQ(tables.executable().abiVersion, WEFT_ABI_VERSION + 1);
  EXPECT_EQ(tables.executable().numPrograms, 0);
  EXPECT_EQ(tables.executable().numTensors, 0);
}

} // namespace
