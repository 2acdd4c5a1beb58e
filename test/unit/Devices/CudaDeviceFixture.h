//===- CudaDeviceFixture.h - A program on the fake driver -------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_DEVICES_CUDADEVICEFIXTURE_H
#define WEFT_TEST_UNIT_DEVICES_CUDADEVICEFIXTURE_H

#include "FakeDriver.h"
#include "TransferPrograms.h"
#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Devices/Launch.h"
#include "weft/Runtime/Devices/Ports.h"

#include <gtest/gtest.h>

#include <optional>

namespace weft {

/// z = 2 x, or z += 2 x if the flag is not 0; launched by a routine.
inline void addIfFlag(WeftContext *context, const WeftCommand *command,
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

inline void doubleKernel(void *const *values) {
  const auto *x = static_cast<const float *>(values[0]);
  auto *y = static_cast<float *>(values[1]);
  for (int i = 0; i < 4; ++i)
    y[i] = 2.0f * x[i];
}

inline void addKernel(void *const *values) {
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

  /// Runs the program and checks its output.
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

} // namespace weft

#endif // WEFT_TEST_UNIT_DEVICES_CUDADEVICEFIXTURE_H
