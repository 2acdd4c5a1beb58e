//===- CudaDeviceTest.cpp - The runtime of CUDA devices -------------------===//

#include "weft/Runtime/Devices/CudaDevice.h"
#include "FakeDriver.h"
#include "Transfers.h"
#include "weft/Runtime/Devices/ArenaBytes.h"
#include "weft/Runtime/Devices/Launch.h"
#include "weft/Runtime/Devices/Ports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

using namespace weft;

namespace {

/// z = 2 x, or z += 2 x if the flag is not 0; launched by a routine.
void addIfFlag(WeftContext *context, const WeftCommand *command,
               void *const *buffers) {
  std::optional<float> flag = deviceFlag(*context, buffers[2]);
  if (!flag)
    return context->fail(70, "expects a flag that the host writes");
  if (*flag == 0)
    fillOnDevice(*context, *command, buffers[1], 0, 16);
  LaunchShape shape;
  shape.sharedBytes = 64 * 1024;
  void *arguments[] = {const_cast<void **>(&buffers[0]),
                       const_cast<void **>(&buffers[1])};
  launchKernel(*context, *command, "add", shape, arguments);
  copyOnDevice(*context, *command, static_cast<char *>(buffers[1]) + 16,
               buffers[1], 16);
}

void doubleKernel(void *const *values) {
  const auto *x = static_cast<const float *>(values[0]);
  auto *y = static_cast<float *>(values[1]);
  for (int i = 0; i < 4; ++i)
    y[i] = 2.0f * x[i];
}

void addKernel(void *const *values) {
  const auto *y = static_cast<const float *>(values[0]);
  auto *z = static_cast<float *>(values[1]);
  for (int i = 0; i < 4; ++i)
    z[i] += y[i];
}

/// A program of two commands, with a large tensor beside it.
class CudaDeviceTest : public testing::Test {
protected:
  // Inputs and the result in transit have places of their own.
  static constexpr int64_t kX = 0, kFlag = 256, kY = 512, kZ = 1024, kW = 2048,
                           kStagedX = 1280, kStagedFlag = 1536, kStagedZ = 1792,
                           kBytes = int64_t(20) << 20;

  CudaDeviceTest() {
    fake.kernels = {{"double", {2, doubleKernel}}, {"add", {2, addKernel}}};
    commands[0].name = "double";
    commands[0].scope = "h.0";
    commands[0].deviceKernel = &kernel;
    commands[0].offsets = first;
    commands[0].numBuffers = 2;
    commands[1].name = "add_if";
    commands[1].scope = "";
    commands[1].library = addIfFlag;
    commands[1].offsets = second;
    commands[1].numBuffers = 3;
    build();
    executable.abiVersion = WEFT_ABI_VERSION;
    executable.numPrograms = 1;
    executable.programs = &program;
    executable.arenaBytes = kW + kBytes;
    executable.images = images;
    executable.numImages = 3;
  }

  void build() {
    list.emplace(std::vector<TransferCommands::Copy>{{kStagedX, kX, 16},
                                                     {kStagedFlag, kFlag, 4}},
                 std::vector<WeftCommand>{commands[0], commands[1]},
                 std::vector<TransferCommands::Copy>{{kZ, kStagedZ, 16}});
    program = {"micro", "micro", list->data(), inputs, &output, list->size(),
               2,       1};
  }

  Status open() {
    auto opened = CudaDevice::open(fake.table(), executable, options);
    if (!opened)
      return opened.takeError();
    context = std::make_unique<WeftContext>(options, ThreadTeam());
    void *arena = (*opened)->arenaAddress();
    context->attach(executable, std::move(*opened), arena);
    return Status::success();
  }
  std::string openError() {
    Status status = open();
    context.reset();
    EXPECT_EQ(fake.leaks(), "");
    return status
               ? ""
               : std::to_string(status.error().exitStatus()) + ": " +
                     status.error().message() + "|" + status.error().hintText();
  }

  /// Runs the program and compares with what it had to make.
  Status run(float value, float flag) {
    for (int i = 0; i < 4; ++i)
      writeNumber(*context, inputs[0], value + float(i), i);
    writeNumber(*context, inputs[1], flag);
    if (Status s = runChecked(*context, program); !s)
      return s;
    for (int i = 0; i < 4; ++i) {
      expected[i] = (flag == 0 ? 0 : expected[i]) + 2 * (value + float(i));
      EXPECT_EQ(readNumber(*context, output, i), expected[i]);
    }
    return Status::success();
  }

  /// Everything that a run does with a device, until something fails.
  Status everything() {
    if (Status s = open(); !s)
      return s;
    Device &device = context->device();
    std::vector<char> bytes(kBytes, 'x');
    if (Status s = device.copyIn(kW, bytes.data(), kBytes); !s)
      return s;
    if (Status s = device.copyOut(bytes.data(), kW, kBytes); !s)
      return s;
    if (Status s = device.zero(kW, 64); !s)
      return s;
    for (float value : {1.0f, 2.0f, 3.0f})
      if (Status s = run(value, 0.0f); !s)
        return s;
    context->traceHook = [](const TraceEvent &) {};
    context->checkHook = [](const WeftProgram &, const WeftCommand &,
                            void *const *) { return true; };
    if (Status s = run(4.0f, 0.0f); !s)
      return s;
    return device.synchronize();
  }

  FakeDriver fake;
  DeviceOptions options;
  int64_t dims[1] = {4};
  int64_t first[2] = {kX, kY}, second[3] = {kY, kZ, kFlag};
  WeftDeviceKernel kernel = {"double", 1, 32, 4};
  WeftCommand commands[2] = {};
  WeftPort inputs[2] = {{"x", WEFT_F32, 1, dims, kStagedX, 16},
                        {"accumulate", WEFT_F32, 0, nullptr, kStagedFlag, 4}};
  WeftPort output = {"loss", WEFT_F32, 1, dims, kStagedZ, 16};
  WeftImage images[3] = {
      {"sm_80", "a", 1}, {"sm_90", "b", 1}, {"sm_90", "c", 1}};
  std::optional<TransferCommands> list;
  WeftProgram program = {};
  WeftExecutable executable = {};
  std::unique_ptr<WeftContext> context;
  float expected[4] = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, RunsTheSameWithAndWithoutGraphs) {
  for (bool graphs : {true, false}) {
    fake.calls.clear();
    options.graphs = graphs;
    ASSERT_TRUE(open());
    EXPECT_EQ(context->device().describe(), "Fake GPU (sm_90)");
    EXPECT_EQ(fake.count("cuModuleLoadData"), 2);
    for (float flag : {0, 1, 1, 0, 1, 0, 0})
      ASSERT_TRUE(run(flag + 0.25f, flag));
    // A graph for each value of the flag, recorded in its second run; one
    // launch for a run.
    EXPECT_EQ(fake.count("cuGraphInstantiateWithFlags"), graphs ? 2 : 0);
    EXPECT_EQ(fake.count("cuGraphLaunch"), graphs ? 5 : 0);
    // Inputs have been copied, in both graphs.
    EXPECT_EQ(fake.count("cuEventRecordWithFlags"), graphs ? 2 : 0);
    EXPECT_EQ(fake.count("cuFuncSetAttribute"), 1);
    context.reset();
    EXPECT_EQ(fake.leaks(), "");
  }
}

/// Runs that are under way, and what each has to make.
TEST_F(CudaDeviceTest, RunsAheadOfTheHost) {
  for (int depth : {0, 1, 3}) {
    options.runsAhead = depth;
    ASSERT_TRUE(open());
    Device &device = context->device();
    EXPECT_EQ(device.runsAhead(), depth);
    for (int first = 0; first < 3; ++first) {
      const int runs = std::max(1, depth);
      for (int i = 0; i < runs; ++i) {
        writeNumber(*context, inputs[0], first * 10 + i, 0);
        writeNumber(*context, inputs[1], 0);
        ASSERT_TRUE(device.start(*context, program));
        writeNumber(*context, inputs[0], -1, 0);
        EXPECT_EQ(device.runsUnderWay(), i + 1);
      }
      for (int i = 0; i < runs; ++i) {
        ASSERT_TRUE(device.finish(*context));
        EXPECT_EQ(readNumber(*context, output, 0), 2 * (first * 10 + i));
        EXPECT_EQ(device.runsUnderWay(), runs - 1 - i);
      }
    }
    // What wants results at once finishes what is under way.
    ASSERT_TRUE(device.start(*context, program));
    EXPECT_TRUE(run(5, 0));
    EXPECT_EQ(device.runsUnderWay(), 0);
    context.reset();
    EXPECT_EQ(fake.leaks(), "");
  }
}

// Whatever call fails while runs are under way.
TEST_F(CudaDeviceTest, NothingIsUnderWayAfterAnError) {
  auto startBoth = [&] {
    writeNumber(*context, inputs[1], 0);
    return context->device().start(*context, program) &&
           context->device().start(*context, program);
  };
  ASSERT_TRUE(open());
  const size_t begin = fake.calls.size();
  ASSERT_TRUE(startBoth() && context->device().finish(*context));
  const std::vector<std::string> calls(fake.calls.begin() + long(begin),
                                       fake.calls.end());
  for (size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + calls[i]);
    if (calls[i].find("Destroy") != std::string::npos)
      continue; // nobody's any more
    context.reset();
    fake.calls.clear();
    ASSERT_TRUE(open());
    fake.failAt = int(begin + i);
    EXPECT_FALSE(startBoth() && context->device().finish(*context));
    EXPECT_EQ(context->error(), 9);
    EXPECT_NE(context->message().find(calls[i]), std::string::npos);
    EXPECT_EQ(context->device().runsUnderWay(), 0);
    context->clearError();
    fake.failAt = -1;
    EXPECT_TRUE(run(2, 0));
  }
}

TEST_F(CudaDeviceTest, BringsBytesInAndOut) {
  ASSERT_TRUE(open());
  Device &device = context->device();
  EXPECT_EQ(device.hostView(), nullptr);
  EXPECT_GE(device.peakBytes(), executable.arenaBytes);
  for (int64_t bytes : {int64_t(0), int64_t(1), CudaTransfers::kPieceBytes,
                        CudaTransfers::kPieceBytes * 2 + 5}) {
    std::vector<char> in(size_t(bytes) + 1, 'a'), out(size_t(bytes) + 1, 'b');
    for (size_t i = 0; i < size_t(bytes); ++i)
      in[i] = char(i * 7 % 251);
    ASSERT_TRUE(device.copyIn(kW + 3, in.data(), bytes));
    ASSERT_TRUE(device.copyOut(out.data(), kW + 3, bytes));
    EXPECT_EQ(out.back(), 'b');
    out.back() = 'a';
    EXPECT_EQ(in, out) << bytes;
  }
  ASSERT_TRUE(device.zero(kW + 4, 2));
  char four[4];
  ASSERT_TRUE(device.copyOut(four, kW + 3, 4));
  EXPECT_EQ(std::string(four, 4), std::string("\0\0\0\x15", 4));
}

// Files go through pieces of memory of the host.
TEST_F(CudaDeviceTest, ReadsAndWritesTheArenaInPieces) {
  ASSERT_TRUE(open());
  int64_t sum = 0, pieces = 0;
  ASSERT_TRUE(writeArena(*context, kW, kBytes,
                         [](char *out, int64_t at, int64_t bytes) {
                           for (int64_t i = 0; i < bytes; ++i)
                             out[i] = char((at + i) % 127);
                           return Status::success();
                         }));
  ASSERT_TRUE(
      readArena(*context, kW, kBytes, [&](const char *data, int64_t bytes) {
        for (int64_t i = 0; i < bytes; ++i)
          sum += data[i] != char((sum + i) % 127) ? kBytes : 0;
        pieces += 1;
        return Status::success();
      }));
  EXPECT_EQ(pieces, 2);
  auto view = ArenaView::of(*context, kW + 1, 2);
  ASSERT_TRUE(view);
  EXPECT_EQ(std::string(view->data(), 2), "\x01\x02");
}

TEST_F(CudaDeviceTest, TheArenaIsOfWholeUnits) {
  for (size_t unit : {size_t(256), size_t(2) << 20, size_t(32) << 20}) {
    fake.granularity = unit;
    ASSERT_TRUE(open());
    EXPECT_EQ(fake.memoryBytes % unit, 0u);
    EXPECT_GE(fake.memoryBytes, size_t(kW + kBytes));
    EXPECT_LT(fake.memoryBytes, size_t(kW + kBytes) + unit);
  }
}

TEST_F(CudaDeviceTest, MemoryStartsAsZeroOrPoisoned) {
  for (bool poisoned : {false, true}) {
    options.poisoned = poisoned;
    ASSERT_TRUE(open());
    unsigned char byte = 7;
    ASSERT_TRUE(context->device().copyOut(&byte, kW, 1));
    EXPECT_EQ(byte, poisoned ? 0xFF : 0);
  }
}

TEST_F(CudaDeviceTest, WatchesCommandByCommand) {
  ASSERT_TRUE(open());
  std::vector<std::string> traced;
  int64_t start = 0;
  context->traceHook = [&](const TraceEvent &event) {
    EXPECT_EQ(event.durationNs, 500000);
    traced.push_back(event.command->name);
    // Those before it in its stream.
    if (traced.back() == "double")
      start = event.startNs;
    if (traced.back() == "add_if")
      EXPECT_EQ(event.startNs, start + 500000);
  };
  for (int i = 0; i < 3; ++i) {
    traced.clear();
    ASSERT_TRUE(run(1, 0));
    EXPECT_EQ(traced, (std::vector<std::string>{
                          "wait", "upload", "record", "wait", "copy", "copy",
                          "record", "double", "add_if", "wait", "copy",
                          "record", "wait", "readback", "record"}));
  }
  EXPECT_EQ(fake.count("cuGraphLaunch"), 0);
  context->traceHook = nullptr;
  // Of the transfers, those that bring the inputs.
  std::vector<std::string> seen;
  context->checkHook = [&](const WeftProgram &, const WeftCommand &command,
                           void *const *buffers) {
    seen.push_back(command.name);
    EXPECT_EQ(buffers[0], context->at(command.offsets[0]));
    if (seen.size() == 1)
      return true;
    context->fail(6, "looked");
    return false;
  };
  Status status = run(1, 0);
  EXPECT_EQ(seen, (std::vector<std::string>{"upload", "copy"}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exitStatus(), 6);
  EXPECT_EQ(status.error().message(), "program micro: looked");
}

TEST_F(CudaDeviceTest, ARoutineThatFailsEndsTheProgram) {
  // Its flag is an input of another program.
  int64_t wrong[3] = {kY, kZ, kY};
  commands[1].offsets = wrong;
  build();
  WeftPort other = {"flag", WEFT_F32, 0, nullptr, kY, 4};
  TransferCommands others({{kY, kX, 4}}, {}, {{kZ, kStagedZ, 16}});
  WeftProgram programs[2] = {
      program,
      {"other", "other", others.data(), &other, &output, others.size(), 1, 1}};
  executable.programs = programs;
  executable.numPrograms = 2;
  ASSERT_TRUE(open());
  Status status = run(1, 0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exitStatus(), 70);
  EXPECT_EQ(status.error().message(),
            "program micro: expects a flag that the host writes");
  EXPECT_FALSE(context->failed());
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Those that may find no memory left.
static bool takesMemory(const std::string &call) {
  return call == "cuMemAllocHost_v2" || call == "cuMemCreate" ||
         call.find("Launch") != std::string::npos ||
         call.find("Instantiate") != std::string::npos;
}

/// Entry points that give something back: a failure is nobody's any more.
static bool givesBack(const std::string &call) {
  for (const char *word : {"Destroy", "Free", "Unload", "Release", "Unmap"})
    if (call.find(word) != std::string::npos)
      return true;
  return false;
}

TEST_F(CudaDeviceTest, EveryCallThatFailsIsNamedAndNothingLeaks) {
  ASSERT_TRUE(everything());
  const size_t end = fake.calls.size();
  context.reset();
  ASSERT_EQ(fake.leaks(), "");
  const std::vector<std::string> calls = fake.calls;
  std::set<std::string> seen(calls.begin(), calls.end());
#define WEFT_EXPECT_SEEN(name)                                                 \
  if (std::string(#name).rfind("cuGetError", 0) != 0)                          \
    EXPECT_TRUE(seen.count(#name)) << #name;
  WEFT_CUDA_DRIVER_CALLS(WEFT_EXPECT_SEEN)
#undef WEFT_EXPECT_SEEN
  for (CUresult failure :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_OUT_OF_MEMORY})
    for (size_t i = 0; i < calls.size(); ++i) {
      if (failure == CUDA_ERROR_OUT_OF_MEMORY && !takesMemory(calls[i]))
        continue;
      SCOPED_TRACE(std::to_string(i) + " " + calls[i]);
      fake.calls.clear();
      fake.failAt = int(i);
      fake.failure = failure;
      Status status = everything();
      context.reset();
      EXPECT_EQ(fake.leaks(), "");
      if (i >= end || givesBack(calls[i]))
        continue;
      ASSERT_FALSE(status);
      const bool isFull = failure == CUDA_ERROR_OUT_OF_MEMORY;
      EXPECT_EQ(status.error().exitStatus(), isFull ? 4 : 9);
      EXPECT_NE(status.error().message().find(
                    "expects " + calls[i] + " to succeed, but got " +
                    (isFull ? "CUDA_ERROR_OUT_OF_MEMORY (2, "
                            : "CUDA_ERROR_ILLEGAL_ADDRESS (700, ") +
                    "a failure on purpose)"),
                std::string::npos)
          << status.error().message();
      // That an old driver may be the reason is not said of memory.
      if (calls[i] == "cuModuleLoadData")
        EXPECT_EQ(status.error().hintText(),
                  isFull ? "" : "is the NVIDIA driver 580 or later?");
      if (calls[i] == "cuMemAllocHost_v2" && isFull)
        EXPECT_NE(status.error().message().find("of pinned memory of the host"),
                  std::string::npos);
    }
}

TEST_F(CudaDeviceTest, AFailedLaunchNamesItsCommand) {
  ASSERT_TRUE(open());
  ASSERT_TRUE(run(1, 0));
  size_t launches = 0;
  for (size_t i = 0; i < fake.calls.size() && launches < 2; ++i)
    if (fake.calls[i] == "cuLaunchKernel" && launches++ == 0)
      fake.failAt = int(i);
  context.reset();
  fake.calls.clear();
  ASSERT_TRUE(open());
  Status status = run(1, 0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "program micro: double in h.0: expects cuLaunchKernel to succeed, "
            "but got CUDA_ERROR_ILLEGAL_ADDRESS (700, a failure on purpose)");
}

TEST_F(CudaDeviceTest, RefusesMachinesThatWillNotDo) {
  fake.devices = 0;
  EXPECT_EQ(openError(),
            "9: expects a CUDA device, but got none|CUDA_VISIBLE_DEVICES "
            "chooses among those of the machine");
  fake.devices = 2;
  fake.major = 10;
  EXPECT_EQ(openError(),
            "9: expects a device of sm_80, sm_90, but got Fake GPU (sm_100)|"
            "compile with --target=cuda:sm_100, or choose another device with "
            "CUDA_VISIBLE_DEVICES");
  fake.major = 9;
  fake.mapsMemory = 0;
  EXPECT_EQ(openError(),
            "9: expects a device with virtual memory management, but got Fake "
            "GPU|some virtual GPUs lack it: ask for a whole one");
  fake.mapsMemory = 1;
  fake.freeBytes = fake.totalBytes = size_t(19) << 20;
  EXPECT_EQ(openError(), "4: the program needs 20.00 MiB, but Fake GPU has "
                         "19.00 MiB free of 19.00 MiB|compile with a smaller "
                         "--batch or --seq");
  EXPECT_EQ(fake.count("cuMemCreate"), 0);
}

static const char *const kTakenHint =
    "|other processes hold memory of the device (nvidia-smi lists them): end "
    "them, choose another device with CUDA_VISIBLE_DEVICES, or compile with a "
    "smaller --batch or --seq";

TEST_F(CudaDeviceTest, SaysThatOthersHoldTheMemory) {
  fake.freeBytes = size_t(19) << 20;
  EXPECT_EQ(openError(), std::string("4: the program needs 20.00 MiB, but Fake "
                                     "GPU has 19.00 MiB free of 2.00 GiB") +
                             kTakenHint);
  EXPECT_EQ(fake.count("cuMemCreate"), 0);
}

TEST_F(CudaDeviceTest, SaysThatMemoryWentBetweenCheckAndAllocation) {
  ASSERT_TRUE(open());
  context.reset();
  const auto at = std::find(fake.calls.begin(), fake.calls.end(),
                            std::string("cuMemCreate"));
  fake.failAt = int(at - fake.calls.begin());
  fake.failure = CUDA_ERROR_OUT_OF_MEMORY;
  fake.calls.clear();
  EXPECT_EQ(openError(),
            std::string("4: expects cuMemCreate to succeed, but got "
                        "CUDA_ERROR_OUT_OF_MEMORY (2, a failure on purpose): "
                        "the program needs 20.00 MiB, but Fake GPU has 1.00 "
                        "GiB free of 2.00 GiB") +
                kTakenHint);
}

// The routine's kernel asks for 64 KiB.
TEST_F(CudaDeviceTest, ChecksSharedMemoryOfRoutinesBeforeARun) {
  ASSERT_TRUE(open());
  auto &device = static_cast<CudaDevice &>(context->device());
  ASSERT_TRUE(device.planLibraries(*context));
  EXPECT_EQ(fake.count("cuFuncSetAttribute"), 1);
  EXPECT_EQ(fake.count("cuLaunchKernel"), 0);
  EXPECT_EQ(fake.count("cuMemcpyDtoDAsync_v2"), 0);
  ASSERT_TRUE(run(1, 0));
  fake.sharedBytes = 65535;
  ASSERT_TRUE(open());
  auto &small = static_cast<CudaDevice &>(context->device());
  Status status = small.planLibraries(*context);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exitStatus(), 9);
  EXPECT_EQ(status.error().message(),
            "add_if: expects at most 65535 bytes of shared memory for a block "
            "on Fake GPU (sm_90), but the kernel 'add' needs 65536");
}

TEST_F(CudaDeviceTest, RefusesProgramsWithoutCodeForTheDevice) {
  kernel.name = "missing";
  build();
  EXPECT_EQ(openError(), "9: expects the kernel 'missing' in the images of the "
                         "program, but cuModuleGetFunction finds none|");
  commands[0].deviceKernel = nullptr;
  commands[0].kernel = [](void *const *, int64_t, int64_t) {};
  build();
  EXPECT_EQ(openError(), "70: expects kernels of a device, but got the kernel "
                         "'double' of the CPU|");
}

TEST_F(CudaDeviceTest, RefusesProgramsThatForgetAPort) {
  program.numCommands -= 2; // without readback
  EXPECT_EQ(openError(), "70: expects one command 'readback' in the program "
                         "'micro', but got 0|");
  build();
  inputs[1].offset = kFlag;
  EXPECT_EQ(openError(),
            "70: expects the command 'upload' of the program 'micro' to have "
            "the port 'accumulate', but it has not|");
}

TEST(CudaImages, NamesATargetThatThereIs) {
  auto hint = [](int major, int minor) {
    return compileHint({"GPU", major, minor});
  };
  EXPECT_EQ(hint(8, 9), "compile with --target=cuda:sm_80");
  EXPECT_EQ(hint(9, 0), "compile with --target=cuda:sm_90");
  EXPECT_EQ(hint(10, 3), "compile with --target=cuda:sm_100");
  EXPECT_EQ(hint(7, 5), "no --target makes code for sm_75");
  EXPECT_EQ(hint(12, 0), "no --target makes code for sm_120");
}

TEST_F(CudaDeviceTest, ChoosesTheNewestCodeThatTheDeviceRuns) {
  images[2].chip = "sm_86";
  const auto choice = [&](int major, int minor) {
    auto chosen = chooseChip(executable, {"GPU", major, minor});
    return chosen ? *chosen : "none";
  };
  EXPECT_EQ(choice(8, 0), "sm_80");
  EXPECT_EQ(choice(8, 6), "sm_86");
  EXPECT_EQ(choice(8, 9), "sm_86");
  EXPECT_EQ(choice(9, 0), "sm_90");
  EXPECT_EQ(choice(7, 5), "none");
  EXPECT_EQ(choice(10, 0), "none");
  executable.numImages = 0;
  EXPECT_EQ(choice(9, 0), "none");
}

//===----------------------------------------------------------------------===//
// Without a device
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, ADryRunNeedsNoDevice) {
  options.onlyDescribes = true;
  auto opened = openDevice(executable, options);
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->device().describe(), "a CUDA device (sm_80)");
  EXPECT_TRUE(fake.calls.empty());
  Status status = runChecked(**opened, program);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exitStatus(), 70);
  executable.abiVersion = 1;
  auto wrong = openDevice(executable, options);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().exitStatus(), 70);
}

TEST_F(CudaDeviceTest, SaysWhereItHasLookedForTheDriver) {
  auto driver = CudaDriver::open();
  if (driver)
    GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(driver.error().exitStatus(), 9);
  for (const char *part :
       {"libcuda.so.1", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"})
    EXPECT_NE(driver.error().message().find(part), std::string::npos)
        << driver.error().message();
}
