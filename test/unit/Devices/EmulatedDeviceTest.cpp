//===- EmulatedDeviceTest.cpp - The runtime on the emulated driver --------===//
//
// The driver of test/emulation keeps the rules of the real one: nothing is done
// before somebody waits, streams run in any order that events allow, and memory
// that is used too early or too late ends the process.
//
//===----------------------------------------------------------------------===//

#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/Launch.h"
#include "weft/Runtime/Devices/Ports.h"

#include "../Emulation/Driven.h"
#include "TransferPrograms.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;

namespace {
constexpr int64_t kX = 0, kFlag = 256, kSum = 512, kMade = 1024, kCount = 64,
                  kStagedX = 1536, kStagedFlag = 1792, kStagedSum = 2048,
                  kStagedMade = 2560, kWeights = 4096,
                  kWeightBytes = int64_t(17) << 20;

void launchAdd(WeftContext &context, const WeftCommand &command, void *to,
               void *from, float value) {
  LaunchShape shape;
  shape.grid[0] = 2;
  shape.block[0] = 32;
  void *arguments[] = {&to, &from, &value};
  launchKernel(context, command, "add", shape, arguments);
}

/// made = x + 2; sum = 0 or, if the flag is not 0, itself; sum = sum + 1.
void routine(WeftContext *context, const WeftCommand *command,
             void *const *buffers) {
  launchAdd(*context, *command, buffers[3], buffers[0], 2.0f);
  if (deviceFlag(*context, buffers[1]).value_or(-1.0f) == 0.0f)
    fillOnDevice(*context, *command, buffers[2], 0, kCount * 4);
  launchAdd(*context, *command, buffers[2], buffers[2], 1.0f);
}

/// A program on a device of its own.
class Emulated {
public:
  /// For `without` see TransferCommands.
  explicit Emulated(bool graphs, int runsInAdvance = 3,
                    const std::string &without = "") {
    setenv("WEFT_TWINS", TEST_TWINS, 1);
    std::ofstream(TEST_CUBIN, std::ios::binary)
        .write(cubin.data(), std::streamsize(cubin.size()));
    image.data = cubin.data();
    image.bytes = int64_t(cubin.size());
    command.name = "routine";
    command.scope = "";
    command.library = routine;
    command.offsets = offsets;
    command.numBuffers = 4;
    list.emplace(
        std::vector<TransferCommands::Copy>{{kStagedX, kX, kCount * 4},
                                            {kStagedFlag, kFlag, 4}},
        std::vector<WeftCommand>{command},
        std::vector<TransferCommands::Copy>{{kSum, kStagedSum, kCount * 4},
                                            {kMade, kStagedMade, kCount * 4}},
        without);
    program = {"micro", "micro", list->data(), inputs, outputs, list->size(),
               2,       2};
    executable.abiVersion = WEFT_ABI_VERSION;
    executable.numPrograms = 1;
    executable.programs = &program;
    executable.arenaBytes = kWeights + kWeightBytes;
    executable.images = &image;
    executable.numImages = 1;
    options.graphs = graphs;
    options.runsInAdvance = runsInAdvance;
    auto opened = openDevice(executable, options);
    EXPECT_TRUE(opened) << opened.error().str();
    if (opened)
      context = std::move(*opened);
  }

  /// Runs the program and checks its outputs.
  void run(float x, float flag) {
    writeInputs(x, flag);
    Status status = runChecked(*context, program);
    ASSERT_TRUE(status) << status.error().str();
    runs = flag == 0 ? 1 : runs + 1;
    expectOutputs(x, runs);
  }

  /// As many runs as the device takes at once; inputs change as soon as one of
  /// them is started.
  void runAhead() {
    Device &device = context->device();
    struct Run {
      float x, runs;
    };
    std::deque<Run> inFlight;
    auto finish = [&] {
      ASSERT_TRUE(device.finish(*context)) << context->message();
      expectOutputs(inFlight.front().x, inFlight.front().runs);
      inFlight.pop_front();
    };
    for (int i = 0; i < 12; ++i) {
      if (int(inFlight.size()) == std::max(1, device.runsInAdvance()))
        finish();
      const float x = float(i) * 3, flag = i % 5 == 0 ? 0.0f : 1.0f;
      writeInputs(x, flag);
      ASSERT_TRUE(device.start(*context, program)) << context->message();
      writeInputs(-1, -1);
      runs = flag == 0 ? 1 : runs + 1;
      inFlight.push_back({x, runs});
      ASSERT_EQ(device.runsInFlight(), int(inFlight.size()));
      if (i == 7)
        ASSERT_TRUE(device.zero(kWeights, 8));
    }
    ASSERT_TRUE(device.synchronize());
    while (!inFlight.empty())
      finish();
  }

  void copyBothWays() {
    std::vector<char> in(kWeightBytes), out(kWeightBytes);
    std::iota(in.begin(), in.end(), char(3));
    Device &device = context->device();
    ASSERT_TRUE(device.copyIn(kWeights, in.data(), kWeightBytes));
    ASSERT_TRUE(device.copyOut(out.data(), kWeights, kWeightBytes));
    EXPECT_EQ(in, out);
    ASSERT_TRUE(device.zero(kWeights, 8));
    ASSERT_TRUE(device.copyOut(out.data(), kWeights, 16));
    EXPECT_EQ(std::string(out.data(), 8), std::string(8, '\0'));
    EXPECT_EQ(out[8], in[8]);
  }

  std::unique_ptr<WeftContext> context;

private:
  void writeInputs(float x, float flag) {
    for (int64_t i = 0; i < kCount; ++i)
      writeNumber(*context, inputs[0], x + float(i), i);
    writeNumber(*context, inputs[1], flag);
  }
  void expectOutputs(float x, float sum) {
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(readNumber(*context, outputs[0], i), sum);
      ASSERT_EQ(readNumber(*context, outputs[1], i), x + float(i) + 2);
    }
  }

  std::vector<char> cubin = emulation::makeCubin();
  int64_t dims[1] = {kCount};
  int64_t offsets[4] = {kX, kFlag, kSum, kMade};
  WeftCommand command = {};
  std::optional<TransferCommands> list;
  WeftPort inputs[2] = {{"x", WEFT_F32, 1, dims, kStagedX, kCount * 4},
                        {"accumulate", WEFT_F32, 0, nullptr, kStagedFlag, 4}};
  WeftPort outputs[2] = {{"sum", WEFT_F32, 1, dims, kStagedSum, kCount * 4},
                         {"made", WEFT_F32, 1, dims, kStagedMade, kCount * 4}};
  WeftImage image = {"sm_90", nullptr, 0};
  WeftProgram program = {};
  WeftExecutable executable = {};
  DeviceOptions options;
  float runs = 0;
};

void runAll() {
  for (bool graphs : {true, false}) {
    Emulated emulated(graphs);
    ASSERT_TRUE(emulated.context);
    EXPECT_EQ(emulated.context->device().describe(), "emulated sm_90 (sm_90)");
    emulated.copyBothWays();
    for (float flag : {0, 1, 1, 0, 1, 0})
      emulated.run(flag * 10 + 1, flag);
    int traced = 0;
    emulated.context->traceHook = [&](const TraceEvent &) { ++traced; };
    emulated.run(5, 0);
    EXPECT_EQ(traced, 15);
    EXPECT_TRUE(emulated.context->device().synchronize());
    for (int depth : {0, 1, 2, 3, 5})
      Emulated(graphs, depth).runAhead();
  }
}

/// In a process of its own, which reads the environment once.
void expectRun(const char *variable, const char *value) {
  SCOPED_TRACE(value);
  EXPECT_EXIT(
      {
        setenv(variable, value, 1);
        runAll();
        std::exit(testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0), "");
}
} // namespace

TEST(EmulatedDeviceDeathTest, RunsTheSameInEveryOrder) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char *seed : {"0", "1", "2", "3", "4", "5"})
    expectRun("WEFT_EMULATION_SEED", seed);
}

/// Whether runs ahead give the right results without that event, in the order
/// of a seed. Ends a process of its own, in a way of its own if they do not.
static bool survives(const std::string &without, const char *seed,
                     bool graphs) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_EMULATION_SEED", seed, 1);
    if (!freopen("/dev/null", "w", stderr) ||
        !freopen("/dev/null", "w", stdout))
      _exit(9);
    Emulated(graphs, 3, without).runAhead();
    _exit(testing::Test::HasFailure());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A program with one event taken out is wrong in some order; the whole one in
// none of them.
TEST(EmulatedDeviceTest, EveryEventIsNeeded) {
  const std::vector<std::string> seeds = {"1", "2", "3", "4",  "5",  "6",
                                          "7", "8", "9", "10", "11", "12"};
  auto countWrong = [&](const std::string &without) {
    return std::count_if(seeds.begin(), seeds.end(),
                         [&](const std::string &seed) {
                           return !survives(without, seed.c_str(), true);
                         });
  };
  EXPECT_EQ(countWrong(""), 0);
  for (const char *kind : {"record", "wait"})
    for (int event = 0; event < 4; ++event) {
      const std::string without =
          std::string(kind) + " " + std::to_string(event);
      EXPECT_GT(countWrong(without), 0) << without;
    }
}

/// Opens the device with a setting of the machine and exits with its error.
static void openAndExit(const char *variable, const char *value) {
  setenv(variable, value, 1);
  setenv("WEFT_TWINS", TEST_TWINS, 1);
  WeftImage image = {"sm_90", nullptr, 0};
  WeftExecutable executable = {};
  executable.abiVersion = WEFT_ABI_VERSION;
  executable.arenaBytes = int64_t(100) << 20;
  executable.images = &image;
  executable.numImages = 1;
  auto opened = openDevice(executable, {});
  std::exit(opened ? 0 : opened.error().report());
}

TEST(EmulatedDeviceDeathTest, RefusesAnotherChipAndTooLittleMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(openAndExit("WEFT_EMULATION_CHIP", "sm_80"),
              testing::ExitedWithCode(9),
              "expects a device of sm_90, but got emulated sm_80 \\(sm_80\\)\n"
              "hint: compile with --target=cuda:sm_80");
  EXPECT_EXIT(openAndExit("WEFT_EMULATION_MEMORY", "50000000"),
              testing::ExitedWithCode(4),
              "the program needs 100.00 MiB, but emulated sm_90 has 47.68 MiB "
              "free of 47.68 MiB");
  EXPECT_EXIT(openAndExit("WEFT_EMULATION_FAIL", "cuInit:1:999"),
              testing::ExitedWithCode(9),
              "expects cuInit to succeed, but got CUDA_ERROR_UNKNOWN \\(999");
}

// The driver itself refuses to start without a device.
TEST(EmulatedDeviceDeathTest, NamesWhatChoosesDevicesWhereThereIsNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char *list : {"", "-1", "1,0"})
    EXPECT_EXIT(openAndExit("CUDA_VISIBLE_DEVICES", list),
                testing::ExitedWithCode(9),
                "error: expects a CUDA device, but got none\nhint: "
                "CUDA_VISIBLE_DEVICES selects devices of the machine");
}
