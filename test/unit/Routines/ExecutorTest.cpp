//===- ExecutorTest.cpp - Context and command tables ----------------------===//

#include "GemmPlan.h"
#include "Harness.h"
#include "weft/Runtime/Devices/HostDevice.h"
#include "weft/Runtime/Execute/Context.h"

#include <sys/mman.h>

using namespace weft;

namespace {

void doubleKernel(void *const *buffers, int64_t begin, int64_t end) {
  const float *from = static_cast<const float *>(buffers[0]);
  float *to = static_cast<float *>(buffers[1]);
  for (int64_t i = begin; i < end; ++i)
    to[i] = 2.0f * from[i];
}

void failRoutine(WeftContext *context, const WeftCommand *, void *const *) {
  context->fail(3, "first");
  context->fail(70, "second");
}

/// One program: y = 2 x (kernel), then z = 2 y (kernel) or an error (library).
struct Fixture {
  int64_t dims[1] = {1000};
  int64_t first[2] = {0, 4096}, second[2] = {4096, 8192};
  WeftCommand commands[2] = {};
  WeftPort input = {"x", WEFT_F32, 1, dims, 0, 4000};
  WeftPort output = {"z", WEFT_F32, 1, dims, 8192, 4000};
  WeftTensor tensor = {};
  WeftProgram program = {};
  WeftExecutable executable = {};

  Fixture(const Fixture &) = delete;
  Fixture() {
    for (WeftCommand &command : commands) {
      command.name = "k";
      command.scope = "";
      command.kernel = doubleKernel;
      command.numBuffers = 2;
      command.extent = 1000;
      command.grain = 16;
    }
    commands[0].offsets = first;
    commands[1].offsets = second;
    tensor.name = "w";
    tensor.offset = 4096;
    tensor.bytes = 4000;
    program = {"eval", "eval", commands, &input, &output, 2, 1, 1};
    executable.abiVersion = WEFT_ABI_VERSION;
    executable.numPrograms = 1;
    executable.numTensors = 1;
    executable.programs = &program;
    executable.tensors = &tensor;
    executable.arenaBytes = 8192 + 4000;
  }

  std::unique_ptr<WeftContext> make() {
    std::string error;
    auto context = WeftContext::create(
        executable, TestContext::options(2, kBestIsa), error);
    EXPECT_EQ(error, "");
    return context;
  }

  std::string errorOf() {
    std::string error;
    EXPECT_EQ(WeftContext::create(executable, {}, error), nullptr);
    return error;
  }
};

} // namespace

TEST(Executor, RunsCommandsInOrder) {
  Fixture fixture;
  auto context = fixture.make();
  const WeftProgram *program = context->findProgram("eval");
  ASSERT_NE(program, nullptr);
  float *x = static_cast<float *>(
      context->at(WeftContext::findInput(*program, "x")->offset));
  for (int i = 0; i < 1000; ++i)
    x[i] = static_cast<float>(i);
  for (int run = 0; run < 2; ++run)
    ASSERT_TRUE(runProgram(*context, "eval"));
  float *z = static_cast<float *>(
      context->at(WeftContext::findOutput(*program, "z")->offset));
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(z[i], 4.0f * i);
}

TEST(Executor, Lookups) {
  Fixture fixture;
  auto context = fixture.make();
  EXPECT_EQ(context->findTensor("w"), &fixture.tensor);
  EXPECT_EQ(context->findTensor("v"), nullptr);
  EXPECT_EQ(context->findProgram("micro"), nullptr);
  EXPECT_EQ(WeftContext::findInput(fixture.program, "z"), nullptr);
  EXPECT_EQ(WeftContext::findOutput(fixture.program, "x"), nullptr);
  EXPECT_EQ(context->device().hostView(), context->at(0));
  EXPECT_EQ(context->arenaBytes(), 8192 + 4000);
}

// The second program is another part of the same kind.
TEST(Executor, FindsProgramsBySymbol) {
  Fixture fixture;
  WeftProgram programs[] = {fixture.program, fixture.program};
  programs[1].symbol = "eval_half";
  programs[1].numCommands = 1;
  fixture.executable.programs = programs;
  fixture.executable.numPrograms = 2;
  auto context = fixture.make();
  EXPECT_EQ(context->findProgram("eval"), &programs[0]);
  EXPECT_EQ(context->findProgram("eval_half"), &programs[1]);
  *static_cast<float *>(context->at(0)) = 1.5f;
  ASSERT_TRUE(runProgram(*context, "eval_half"));
  EXPECT_EQ(*static_cast<float *>(context->at(4096)), 3.0f);
  EXPECT_EQ(*static_cast<float *>(context->at(8192)), 0.0f);
}

TEST(Executor, FindsTheOnlyProgramOfAKind) {
  Fixture fixture;
  WeftProgram programs[] = {fixture.program, fixture.program};
  programs[0].symbol = "first";
  programs[1].symbol = "second";
  fixture.executable.programs = programs;
  fixture.executable.numPrograms = 1;
  EXPECT_EQ(findProgram(fixture.executable, "eval"), &programs[0]);
  EXPECT_EQ(findProgram(fixture.executable, "micro"), nullptr);
  fixture.executable.numPrograms = 2;
  EXPECT_EQ(findProgram(fixture.executable, "eval"), nullptr);
  programs[1].symbol = "eval";
  EXPECT_EQ(findProgram(fixture.executable, "eval"), &programs[1]);
}

TEST(Executor, StopsAtTheFirstError) {
  Fixture fixture;
  fixture.commands[0].kernel = nullptr;
  fixture.commands[0].library = failRoutine;
  auto context = fixture.make();
  int traced = 0;
  context->traceHook = [&](const TraceEvent &) { ++traced; };
  EXPECT_FALSE(runProgram(*context, "eval"));
  EXPECT_EQ(traced, 1);
  EXPECT_EQ(context->error(), 3);
  EXPECT_EQ(context->message(), "first");
  context->clearError();
  EXPECT_FALSE(context->failed());
}

TEST(Executor, KeepsTheHintOfTheFirstError) {
  Fixture fixture;
  auto context = fixture.make();
  context->fail(9, "first", "do this");
  context->fail(3, "second", "do that");
  EXPECT_EQ(context->hint(), "do this");
  Error error = context->takeError("program eval: ");
  EXPECT_EQ(error.str(), "weft: error: program eval: first\nhint: do this\n");
  EXPECT_EQ(error.exitStatus(), 9);
  EXPECT_FALSE(context->failed());
  EXPECT_EQ(context->hint(), "");
}

TEST(Executor, UnknownProgram) {
  Fixture fixture;
  auto context = fixture.make();
  EXPECT_FALSE(runProgram(*context, "apply"));
  EXPECT_EQ(context->error(), 70);
  EXPECT_EQ(context->message(),
            "expects a program 'apply' in the executable, but got none");
}

TEST(Executor, Hooks) {
  Fixture fixture;
  auto context = fixture.make();
  std::vector<const WeftCommand *> traced;
  int64_t last = 0;
  context->traceHook = [&](const TraceEvent &event) {
    traced.push_back(event.command);
    EXPECT_EQ(event.program, &fixture.program);
    EXPECT_GE(event.startNs, last);
    EXPECT_GE(event.durationNs, 0);
    last = event.startNs;
  };
  EXPECT_TRUE(runProgram(*context, "eval"));
  EXPECT_EQ(traced, (std::vector<const WeftCommand *>{fixture.commands,
                                                      fixture.commands + 1}));
  int checked = 0;
  context->checkHook = [&](const WeftProgram &, const WeftCommand &,
                           void *const *buffers) {
    EXPECT_EQ(buffers[1], context->at(4096));
    ++checked;
    return false;
  };
  EXPECT_FALSE(runProgram(*context, "eval"));
  EXPECT_EQ(checked, 1);
}

/// The error of a fixture after `change`.
template <typename Change> static std::string errorAfter(Change change) {
  Fixture fixture; // holds addresses of its own members: never copied
  change(fixture);
  return fixture.errorOf();
}

TEST(Executor, WrongTables) {
  EXPECT_EQ(errorAfter([](Fixture &f) { f.executable.abiVersion = 99; }),
            "expects ABI version " + std::to_string(WEFT_ABI_VERSION) +
                ", but got 99");
  EXPECT_EQ(errorAfter([](Fixture &f) { f.tensor.offset = 1 << 20; }),
            "expects tensor 'w' inside the arena, but got offset 1048576");
  EXPECT_EQ(errorAfter([](Fixture &f) { f.input.bytes = 1 << 20; }),
            "expects port 'x' of program 'eval' inside the arena, but got "
            "offset 0");
  EXPECT_EQ(errorAfter([](Fixture &f) { f.first[1] = -4; }),
            "expects buffer 1 of 'k' inside the arena, but got offset -4");
  for (int64_t bytes : {int64_t(1) << 20, int64_t(-8)})
    EXPECT_EQ(
        errorAfter([&](Fixture &f) { f.commands[0].workspaceBytes = bytes; }),
        "expects the workspace of '" + std::string(Fixture().commands[0].name) +
            "' inside the arena, but got " + std::to_string(bytes) + " bytes");
  EXPECT_EQ(errorAfter([](Fixture &f) { f.commands[1].kernel = nullptr; }),
            "expects either a kernel or a library routine for 'k', but got "
            "neither");
  EXPECT_EQ(errorAfter([](Fixture &f) { f.commands[1].library = failRoutine; }),
            "expects either a kernel or a library routine for 'k', but got "
            "both");
  EXPECT_EQ(errorAfter(
                [](Fixture &f) { f.executable.arenaBytes = int64_t(1) << 60; }),
            "cannot allocate 1152921504606846976 bytes (1048576.00 TiB) of "
            "memory");
}

TEST(Executor, RefusesKernelsOfAnotherDevice) {
  static const WeftDeviceKernel kernel = {"k0", 1, 32, 1};
  EXPECT_EQ(errorAfter([](Fixture &f) {
              f.commands[1].kernel = nullptr;
              f.commands[1].deviceKernel = &kernel;
            }),
            "expects kernels of the CPU, but got the kernel 'k' of another "
            "device");
}

TEST(Arena, SizesAndAlignment) {
  for (int64_t bytes : {int64_t(1), int64_t(4097), (int64_t(5) << 20) + 1}) {
    Arena arena;
    ASSERT_TRUE(arena.allocate(bytes));
    EXPECT_EQ(arena.size(), bytes);
    int64_t alignment = bytes > (2 << 20) ? 2 << 20 : 4096;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.data()) % alignment, 0u);
    for (int64_t i = 0; i < bytes; i += 511)
      EXPECT_EQ(arena.data()[i], 0);
    arena.data()[bytes - 1] = 1;
  }
}

TEST(Context, HasNoMoreThreadsThanTheProgramIsCompiledFor) {
  ContextOptions options;
  options.threads = 3;
  options.maxThreads = 2;
  WeftContext fewer(options);
  EXPECT_EQ(fewer.threads(), 2);
  EXPECT_EQ(fewer.threadShortage(),
            "the program is compiled for at most 2 (--threads-max)");
  options.maxThreads = 3;
  WeftContext enough(options);
  EXPECT_EQ(enough.threads(), 3);
  EXPECT_EQ(enough.threadShortage(), "");
}

TEST(Context, IsaIsAtMostWhatTheMachineHas) {
  EXPECT_EQ(TestContext(1, CpuIsa::Baseline).isa(), CpuIsa::Baseline);
  EXPECT_EQ(TestContext(1, kBestIsa).isa(), detectCpuIsa());
  EXPECT_STREQ(cpuIsaName(CpuIsa::Avx2), "x86-64-v3");
}

//===----------------------------------------------------------------------===//
// Warm-up
//===----------------------------------------------------------------------===//

static int64_t residentBytes(const WeftContext &context) {
  std::vector<unsigned char> pages((context.arenaBytes() + 4095) / 4096);
  EXPECT_EQ(::mincore(context.at(0), context.arenaBytes(), pages.data()), 0);
  int64_t resident = 0;
  for (unsigned char page : pages)
    resident += (page & 1) * 4096;
  return resident;
}

namespace {
/// C = A B of 96 x 96, with C overwritten or added to as the flag says.
struct ProductFixture : Fixture {
  WeftGemmRecord record = {1,
                           96,
                           96,
                           96,
                           0,
                           0,
                           96,
                           96,
                           96,
                           0,
                           0,
                           0,
                           WEFT_ADD_IF_FLAG,
                           0,
                           WEFT_F32,
                           WEFT_F32,
                           WEFT_EPILOGUE_NONE,
                           0,
                           0,
                           0,
                           0,
                           0};
  int64_t offsets[5] = {0, 40960, 81920, 122880, 131072};

  ProductFixture() {
    commands[0] = {};
    commands[0].name = "product";
    commands[0].scope = "";
    commands[0].library = weft_cpu_gemm;
    commands[0].offsets = offsets;
    commands[0].numBuffers = 5;
    commands[0].workspaceBytes = gemmWorkspaceBytes(record, 16);
    commands[0].kind = WEFT_GEMM;
    commands[0].record = &record;
    commands[0].recordBytes = sizeof record;
    program.numCommands = 1;
    executable.arenaBytes = offsets[4] + commands[0].workspaceBytes;
  }
};
} // namespace

TEST(WarmUp, LeavesNothingForTheFirstRun) {
  ProductFixture fixture;
  auto context = fixture.make();
  *static_cast<float *>(context->at(8000)) = 3.0f;
  ASSERT_LT(residentBytes(*context), context->arenaBytes());
  ASSERT_EQ(stateOf(*context).plans.size(), 0u);
  warmUp(*context, {&fixture.program});
  EXPECT_GE(residentBytes(*context), context->arenaBytes());
  EXPECT_EQ(*static_cast<float *>(context->at(8000)), 3.0f);
  EXPECT_EQ(stateOf(*context).plans.size(), 2u);
  for (float adds : {0.0f, 1.0f}) {
    *static_cast<float *>(context->at(122880)) = adds;
    ASSERT_TRUE(runProgram(*context, fixture.program)) << context->message();
  }
  EXPECT_EQ(stateOf(*context).plans.size(), 2u);
}

TEST(WarmUp, LeavesErrorsToTheRun) {
  ProductFixture fixture;
  fixture.record.m = 0;
  auto context = fixture.make();
  warmUp(*context, {&fixture.program});
  EXPECT_FALSE(context->failed());
  EXPECT_FALSE(runProgram(*context, fixture.program));
  EXPECT_EQ(context->message().substr(0, 7), "product");
}
