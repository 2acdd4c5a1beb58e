//===- CudaDeviceErrorsTest.cpp - Failures of CUDA devices --------------===//

#include "CudaDeviceFixture.h"

#include "weft/Abi/CollectiveRecords.h"
#include <cstring>

#include <algorithm>
#include <set>

using namespace weft;

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Those that may find no memory left.
static bool takesMemory(const std::string &call) {
  return call == "cuMemAllocHost_v2" || call == "cuMemCreate" ||
         call.find("Launch") != std::string::npos ||
         call.find("Instantiate") != std::string::npos;
}

/// Those of ranks that are processes, and of what says why a call failed.
static bool isOfOthers(const std::string &call) {
  return call.rfind("cuGetError", 0) == 0 || call == "cuDeviceGetUuid_v2" ||
         call == "cuDeviceGetPCIBusId" || call == "cuMulticastGetGranularity" ||
         call == "cuStreamWriteValue32_v2" ||
         call == "cuCtxGetStreamPriorityRange" ||
         call == "cuStreamCreateWithPriority";
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
  if (!isOfOthers(#name))                                                      \
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
                  isFull ? "" : "is the NVIDIA driver 525 or later?");
      if (calls[i] == "cuMemAllocHost_v2" && isFull)
        EXPECT_NE(status.error().message().find("of pinned memory of the host"),
                  std::string::npos);
    }
}

/// The beginning of machine code of a toolkit: version 8 of the ABI is CUDA 13.
static std::string makeImage(char abiVersion) {
  return std::string("\x7f"
                     "ELF\x02\x01\x01\x41",
                     8) +
         abiVersion;
}

TEST_F(CudaDeviceTest, AnOldDriverRunsCodeOfItsToolkit) {
  const std::string of12 = makeImage(7), of13 = makeImage(8);
  fake.version = 12000;
  images[1].data = images[2].data = of12.data();
  images[1].bytes = images[2].bytes = int64_t(of12.size());
  EXPECT_TRUE(open());
  context.reset();
  // Code of another chip says nothing.
  images[0].data = of13.data(), images[0].bytes = int64_t(of13.size());
  EXPECT_TRUE(open());
  context.reset();
  images[2].data = of13.data();
  Status status = open();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exitStatus(), 9);
  EXPECT_EQ(status.error().message(),
            "expects an NVIDIA driver for CUDA 13.0, which the machine code of "
            "the program needs, but got one for CUDA 12.0");
  EXPECT_EQ(status.error().hintText(),
            "install driver 580 or later, or compile the program with a "
            "CUDA 12 toolkit (WEFT_CUDA_HOME)");
  fake.version = 13000;
  EXPECT_TRUE(open());
}

TEST(CudaImages, NeedADriver) {
  WeftImage images[] = {{"sm_90", "\x7f", 1}, {"sm_100", "\x7f", 1}};
  WeftExecutable executable = {};
  executable.images = images, executable.numImages = 2;
  EXPECT_EQ(leastDriver(executable, "sm_90"), 12000);
  EXPECT_EQ(leastDriver(executable, "sm_100"), 12080);
  EXPECT_EQ(driverText(12000), "525");
  EXPECT_EQ(driverText(12080), "570");
  EXPECT_EQ(driverText(13000), "580");
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
            "selects devices of the machine");
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
            "GPU|some virtual GPUs lack it: use a complete GPU");
  fake.mapsMemory = 1;
  fake.freeBytes = fake.totalBytes = size_t(19) << 20;
  EXPECT_EQ(openError(), "4: the program needs 20.00 MiB, but Fake GPU has "
                         "19.00 MiB free of 19.00 MiB: arena 20.00 MiB, "
                         "outside it 0 B of this program and 0 B of the "
                         "context and other programs|compile with a smaller "
                         "--batch or --seq");
  EXPECT_EQ(fake.count("cuMemCreate"), 0);
}

static const char *const kTakenHint =
    "|other processes use memory of the device (nvidia-smi lists them): end "
    "them, choose another device with CUDA_VISIBLE_DEVICES, or compile with a "
    "smaller --batch or --seq";

TEST_F(CudaDeviceTest, SaysThatOthersHoldTheMemory) {
  fake.freeBytes = size_t(19) << 20;
  EXPECT_EQ(openError(), std::string("4: the program needs 20.00 MiB, but Fake "
                                     "GPU has 19.00 MiB free of 2.00 GiB: "
                                     "arena 20.00 MiB, outside it 0 B of this "
                                     "program and 1.98 GiB of the context and "
                                     "other programs") +
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
                        "GiB free of 2.00 GiB: arena 20.00 MiB, outside it 0 "
                        "B of this program and 1.00 GiB of the context and "
                        "other programs") +
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
