//===- UnpackTest.cpp - Packed tables become the structs that run ---------===//

#include "weft/Runtime/Execute/Unpack.h"
#include "weft/Abi/RecordTypes.h"

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
const int64_t kLists[] = {64, 128, 0, 7, 2, 3};
struct {
  int64_t other;
  WeftFillRecord fill;
} const kRecords = {1, {WEFT_F64, 7, 0.25}};
const WeftKernelFn kKernels[] = {kernel};
const WeftLibraryFn kLibraries[] = {routine};
const WeftImage kImage = {"sm_90", "code", 4};

/// A struct with the fields that `fill` sets.
template <typename Packed, typename Fill> Packed make(Fill fill) {
  Packed packed = {};
  fill(packed);
  return packed;
}

const WeftPackedProgram kProgram = make<WeftPackedProgram>([](auto &p) {
  p.symbol = {W}, p.kind = {Eval}, p.numCommands = 3, p.numInputs = 1,
  p.numOutputs = 1;
});

const WeftPackedCommand kCommands[] = {
    // a kernel on buffers 64, 128
    make<WeftPackedCommand>([](auto &c) {
      c.name = {K1}, c.scope = {None}, c.kernel = {0}, c.library = {-1};
      c.deviceKernel = {-1};
      c.offsets = {0}, c.numBuffers = 2, c.record = {-1};
      c.extent = 8, c.grain = 4;
    }),
    // a library call on buffer 0
    make<WeftPackedCommand>([](auto &c) {
      c.name = {Gemm}, c.scope = {H0}, c.kernel = {-1}, c.library = {0};
      c.deviceKernel = {-1};
      c.offsets = {2}, c.numBuffers = 1, c.kind = WEFT_FILL;
      c.record = {sizeof kRecords.other},
      c.recordBytes = sizeof(WeftFillRecord), c.workspaceBytes = 640;
    }),
    // the second kernel of a device
    make<WeftPackedCommand>([](auto &c) {
      c.name = {K1}, c.scope = {None}, c.kernel = {-1}, c.library = {-1};
      c.deviceKernel = {1}, c.record = {-1};
    })};

const WeftPackedKernelLaunch kDeviceKernels[] = {
    make<WeftPackedKernelLaunch>([](auto &k) { k.name = {X}; }),
    make<WeftPackedKernelLaunch>([](auto &k) {
      k.name = {K1}, k.blocks = 5, k.threadsX = 32, k.threadsY = 8;
    })};

const WeftPackedPort kPorts[] = {
    // input x: f32 2x3 at 64; output y: i64 scalar at 128
    make<WeftPackedPort>([](auto &p) {
      p.name = {X}, p.dtype = WEFT_F32, p.rank = 2, p.dims = {4};
      p.offset = 64, p.bytes = 24;
    }),
    make<WeftPackedPort>([](auto &p) {
      p.name = {Y}, p.dtype = WEFT_I64, p.offset = 128, p.bytes = 8;
    })};

const WeftPackedTensor kTensor = make<WeftPackedTensor>([](auto &t) {
  t.name = {W}, t.param = {None}, t.source = {X}, t.kind = WEFT_WORKING;
  t.dtype = WEFT_F16, t.rank = 1, t.trainable = 1, t.dims = {5};
  t.offset = 192, t.bytes = 6;
});

// a flat one of k_1 [2, 3] and the scalar x, one of two slices
const WeftPackedTensor kFlat = make<WeftPackedTensor>([](auto &t) {
  t.name = {Y}, t.param = {None}, t.source = {None}, t.kind = WEFT_OPTIMIZER;
  t.rank = 1, t.dims = {5}, t.offset = 200, t.bytes = 16;
  t.slot = {Eval}, t.numSegments = 2, t.slices = 2;
});
const WeftPackedTensor kTensors[] = {kTensor, kFlat, kFlat};

const WeftPackedSegment kFirst = make<WeftPackedSegment>([](auto &s) {
  s.param = {K1}, s.source = {None}, s.rank = 2, s.dims = {4};
  s.begin = 1, s.end = 7;
});
const WeftPackedSegment kSecond = make<WeftPackedSegment>(
    [](auto &s) { s.param = {X}, s.source = {W}, s.begin = 7, s.end = 8; });
const WeftPackedSegment kSegments[] = {kFirst, kSecond, kSecond, kFirst};

const WeftTables kTables = {WEFT_ABI_VERSION,
                            1,
                            3,
                            4,
                            &kProgram,
                            kCommands,
                            kPorts,
                            kTensors,
                            kSegments,
                            kTexts,
                            kLists,
                            reinterpret_cast<const char *>(&kRecords),
                            kKernels,
                            kDeviceKernels,
                            kLibraries,
                            256,
                            "{}",
                            2,
                            &kImage,
                            1,
                            2};

TEST(Unpack, Commands) {
  UnpackedTables tables(kTables);
  const WeftExecutable &made = tables.executable();
  EXPECT_EQ(made.maxThreads, 4);
  ASSERT_EQ(made.numPrograms, 1);
  const WeftProgram &program = made.programs[0];
  EXPECT_STREQ(program.symbol, "w");
  EXPECT_STREQ(program.kind, "eval");
  ASSERT_EQ(program.numCommands, 3);
  const WeftCommand &first = program.commands[0], &second = program.commands[1];
  EXPECT_STREQ(first.name, "k_1");
  EXPECT_STREQ(first.scope, "");
  EXPECT_EQ(first.kernel, &kernel);
  EXPECT_EQ(first.library, nullptr);
  ASSERT_EQ(first.numBuffers, 2);
  EXPECT_EQ(first.offsets[1], 128);
  EXPECT_EQ(first.kind, WEFT_KERNEL);
  EXPECT_EQ(first.record, nullptr);
  EXPECT_EQ(first.extent, 8);
  EXPECT_EQ(first.grain, 4);
  EXPECT_EQ(first.workspaceBytes, 0);
  EXPECT_EQ(second.workspaceBytes, 640);
  EXPECT_STREQ(second.scope, "h.0");
  EXPECT_EQ(second.kernel, nullptr);
  EXPECT_EQ(second.library, &routine);
  EXPECT_EQ(second.offsets[0], 0);
  EXPECT_EQ(second.numBuffers, 1);
  const auto *record = findRecord<WEFT_FILL>(second);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->elements, 7);
  EXPECT_EQ(record->value, 0.25);
}

TEST(Unpack, KernelsOfADevice) {
  UnpackedTables tables(kTables);
  const WeftExecutable &made = tables.executable();
  const WeftCommand &command = made.programs[0].commands[2];
  EXPECT_EQ(command.kernel, nullptr);
  EXPECT_EQ(command.library, nullptr);
  ASSERT_NE(command.deviceKernel, nullptr);
  EXPECT_STREQ(command.deviceKernel->name, "k_1");
  EXPECT_EQ(command.deviceKernel->blocks, 5);
  EXPECT_EQ(command.deviceKernel->threadsX, 32);
  EXPECT_EQ(command.deviceKernel->threadsY, 8);
  EXPECT_EQ(made.programs[0].commands[0].deviceKernel, nullptr);
  ASSERT_EQ(made.numImages, 1);
  EXPECT_EQ(made.images, &kImage);
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
  ASSERT_EQ(made.numTensors, 3);
  const WeftTensor &tensor = made.tensors[0];
  EXPECT_STREQ(tensor.name, "w");
  EXPECT_STREQ(tensor.param, "");
  EXPECT_STREQ(tensor.source, "x");
  EXPECT_EQ(tensor.kind, WEFT_WORKING);
  EXPECT_EQ(tensor.dtype, WEFT_F16);
  EXPECT_EQ(tensor.rank, 1);
  EXPECT_EQ(tensor.trainable, 1);
  EXPECT_EQ(tensor.dims[0], 3);
  EXPECT_EQ(tensor.offset, 192);
  EXPECT_EQ(tensor.bytes, 6);
  EXPECT_EQ(tensor.numSegments, 0);
  EXPECT_EQ(tensor.segments, nullptr);
  EXPECT_EQ(made.arenaBytes, 256);
  EXPECT_EQ(made.metadataBytes, 2);
}

// The segments of all tensors follow each other.
TEST(Unpack, Segments) {
  UnpackedTables tables(kTables);
  const WeftTensor &flat = tables.executable().tensors[1];
  EXPECT_STREQ(flat.slot, "eval");
  EXPECT_EQ(flat.slices, 2);
  ASSERT_EQ(flat.numSegments, 2);
  const WeftSegment &first = flat.segments[0], &second = flat.segments[1];
  EXPECT_STREQ(first.param, "k_1");
  EXPECT_STREQ(first.source, "");
  ASSERT_EQ(first.rank, 2);
  EXPECT_EQ(first.dims[0], 2);
  EXPECT_EQ(first.dims[1], 3);
  EXPECT_EQ(first.begin, 1);
  EXPECT_EQ(first.end, 7);
  EXPECT_STREQ(second.param, "x");
  EXPECT_STREQ(second.source, "w");
  EXPECT_EQ(second.rank, 0);
  EXPECT_EQ(second.begin, 7);
  const WeftTensor &other = tables.executable().tensors[2];
  ASSERT_EQ(other.numSegments, 2);
  EXPECT_STREQ(other.segments[0].param, "x");
  EXPECT_STREQ(other.segments[1].param, "k_1");
}

TEST(Unpack, AnotherVersionIsNotRead) {
  WeftTables other = kTables;
  other.abiVersion = WEFT_ABI_VERSION + 1;
  other.programs = nullptr;
  UnpackedTables tables(other);
  EXPECT_EQ(tables.executable().abiVersion, WEFT_ABI_VERSION + 1);
  EXPECT_EQ(tables.executable().numPrograms, 0);
  EXPECT_EQ(tables.executable().numTensors, 0);
}

} // namespace
