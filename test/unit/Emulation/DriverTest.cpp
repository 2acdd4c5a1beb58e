//===- DriverTest.cpp - Programs on the emulated driver -------------------===//

#include "Driver.h"
#include "Driven.h"

#include <cmath>
#include <unistd.h>

namespace weft::emulation {
namespace {

TEST(Driver, TellsOfItsDevice) {
  Program program;
  int count, version, value;
  char name[64];
  size_t free, total;
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 1);
  EXPECT_OK(cuDriverGetVersion(&version));
  EXPECT_EQ(version, CUDA_VERSION);
  EXPECT_OK(cuDeviceGetName(name, sizeof(name), 0));
  EXPECT_STREQ(name, "emulated sm_90");
  EXPECT_OK(cuDeviceGetAttribute(
      &value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  EXPECT_EQ(value, 9);
  EXPECT_OK(cuDeviceTotalMem(&total, 0));
  EXPECT_EQ(total, size_t(1) << 30);
  EXPECT_OK(cuMemGetInfo(&free, &total));
  EXPECT_EQ(free, total - 512);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST(Driver, ProcessesHaveUuidsOfTheirRank) {
  Program program;
  auto uuidOf = [](const char *variable, const char *value) {
    CUuuid uuid;
    setenv(variable, value, 1);
    EXPECT_OK(cuDeviceGetUuid(&uuid, 0));
    return std::string(uuid.bytes, sizeof(uuid.bytes));
  };
  const std::string first = uuidOf("LOCAL_RANK", "0");
  const std::string second = uuidOf("LOCAL_RANK", "1");
  EXPECT_NE(first, second);
  EXPECT_EQ(uuidOf("WEFT_EMULATION_UUID", "0"), first);
  unsetenv("LOCAL_RANK");
  EXPECT_EQ(uuidOf("WEFT_EMULATION_UUID", "1"), second);
  unsetenv("WEFT_EMULATION_UUID");
  CUuuid uuid;
  EXPECT_OK(cuDeviceGetUuid(&uuid, 0));
  EXPECT_EQ(std::string(uuid.bytes, sizeof(uuid.bytes)), first);
  EXPECT_EQ(cuDeviceGetUuid(&uuid, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetUuid(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(Driver, NamesItsErrors) {
  const char *text;
  EXPECT_OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(CUresult(12345), &text), CUDA_ERROR_INVALID_VALUE);
}

TEST(Driver, CopiesAndRunsKernels) {
  Program program;
  program.fillHost(1);
  EXPECT_OK(cuMemcpyHtoDAsync(program.x, program.host, 256, program.stream));
  EXPECT_OK(program.launchAdd(program.y, program.x, 2));
  EXPECT_OK(cuMemcpyDtoDAsync(program.x, program.y, 128, program.stream));
  EXPECT_OK(cuMemsetD8Async(program.x + 128, 0, 128, program.stream));
  std::vector<float> values(64);
  EXPECT_OK(cuMemcpyDtoHAsync(values.data(), program.x, 256, program.stream));
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[31], 3);
  EXPECT_EQ(values[32], 0);
  EXPECT_EQ(values[63], 0);
}

TEST(Driver, SharedMemoryOfALaunch) {
  Program program;
  program.fillHost(3);
  EXPECT_OK(cuMemcpyHtoDAsync(program.x, program.host, 256, program.stream));
  void *arguments[] = {&program.x};
  EXPECT_OK(cuLaunchKernel(program.exchange, 1, 1, 1, 64, 1, 1, 256,
                           program.stream, arguments, nullptr));
  EXPECT_OK(cuMemcpyDtoHAsync(program.host, program.x, 256, program.stream));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_EQ(program.host[5], 6);
}

TEST(Driver, NothingIsDoneBeforeSomebodyWaits) {
  Program program;
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  program.fillHost(1);
  EXPECT_OK(cuMemcpyDtoHAsync(program.host, program.x, 256, program.stream));
  EXPECT_TRUE(std::isnan(program.host[0]));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_EQ(program.host[0], 0);
}

TEST(Driver, ArgumentsAreThoseOfTheCall) {
  Program program;
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  float value = 7;
  void *arguments[] = {&program.y, &program.x, &value};
  EXPECT_OK(cuLaunchKernel(program.add, 2, 1, 1, 32, 1, 1, 0, program.stream,
                           arguments, nullptr));
  value = 0;
  EXPECT_OK(cuMemcpyDtoHAsync(program.host, program.y, 256, program.stream));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_EQ(program.host[63], 7);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

/// Two streams with an event between them, or none; the result.
float runTwoStreams(bool waits) {
  Program program;
  CUstream other;
  CUevent event;
  EXPECT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  EXPECT_OK(cuMemsetD8Async(program.y, 0, 256, program.stream));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_OK(program.launchAdd(program.x, program.x, 1));
  EXPECT_OK(cuEventRecord(event, program.stream));
  if (waits)
    EXPECT_OK(cuStreamWaitEvent(other, event, 0));
  EXPECT_OK(program.launchAdd(program.y, program.x, 1, other));
  EXPECT_OK(cuMemcpyDtoHAsync(program.host, program.y, 256, other));
  EXPECT_OK(cuStreamSynchronize(other));
  float result = program.host[0];
  EXPECT_OK(cuEventDestroy(event));
  EXPECT_OK(cuStreamDestroy(other));
  return result;
}

/// A process of its own, since the seed is read once.
#define EXPECT_RESULT(seed, waits, result)                                     \
  EXPECT_EXIT(                                                                 \
      {                                                                        \
        setenv("WEFT_EMULATION_SEED", std::to_string(seed).c_str(), 1);        \
        std::fprintf(stderr, "result %g", runTwoStreams(waits));               \
        _exit(testing::Test::HasFailure());                                    \
      },                                                                       \
      testing::ExitedWithCode(0), "result " result)

TEST(Driver, EventsOrderStreams) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int seed = 0; seed < 8; ++seed)
    EXPECT_RESULT(seed, true, "2");
}

TEST(Driver, SeedsShowThatAnEventIsMissing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_RESULT(0, false, "2");
  EXPECT_RESULT(2, false, "1");
}

TEST(Driver, EventsTellTime) {
  Program program;
  CUevent begin, end;
  float milliseconds = -1;
  EXPECT_OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  EXPECT_OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_OK(cuEventRecord(begin, program.stream));
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  EXPECT_OK(cuEventRecord(end, program.stream));
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end),
            CUDA_ERROR_NOT_READY);
  EXPECT_OK(cuEventSynchronize(end));
  EXPECT_OK(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 0);
  EXPECT_OK(cuEventDestroy(begin));
  EXPECT_OK(cuEventDestroy(end));
}

TEST(Driver, TheLegacyStreamWaitsForOthers) {
  Program program;
  CUstream blocking;
  EXPECT_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, blocking));
  EXPECT_OK(program.launchAdd(program.x, program.x, 1, nullptr));
  EXPECT_OK(program.launchAdd(program.x, program.x, 1, blocking));
  EXPECT_OK(cuMemcpyDtoHAsync(program.host, program.x, 256, blocking));
  EXPECT_OK(cuStreamSynchronize(blocking));
  EXPECT_EQ(program.host[0], 2);
  EXPECT_OK(cuStreamDestroy(blocking));
}

TEST(Driver, WorkOfTheHost) {
  Program program;
  static int count;
  count = 0;
  auto increase = [](void *data) { count += *static_cast<int *>(data); };
  int one = 1;
  EXPECT_OK(cuLaunchHostFunc(program.stream, increase, &one));
  EXPECT_OK(weft_emulation_enqueue(program.stream, increase, new int(10),
                                   [](void *data) {
                                     delete static_cast<int *>(data);
                                     count += 100;
                                   }));
  EXPECT_EQ(count, 0);
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_EQ(count, 111);
}

/// In its stream, and in a graph each time that is launched.
TEST(Driver, PoisonIsWorkOfTheFirstStream) {
  Program program;
  CUdeviceptr memory;
  CUgraph graph;
  CUgraphExec executable;
  EXPECT_OK(cuMemAlloc(&memory, 1000));
  auto read = [&] {
    EXPECT_OK(cuMemcpyDtoHAsync(program.host, memory, 8, program.stream));
    EXPECT_OK(cuStreamSynchronize(program.stream));
    return std::string(reinterpret_cast<char *>(program.host), 8);
  };
  const std::string zeros(8, 0), half = std::string(4, 0) + "\xff\xff\xff\xff";
  EXPECT_OK(cuMemsetD8Async(memory, 0, 1000, program.stream));
  EXPECT_EQ(read(), zeros);
  EXPECT_OK(weft_emulation_poison(1000, 4, 100));
  EXPECT_EQ(read(), half);
  EXPECT_OK(cuStreamBeginCapture(program.stream,
                                 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_OK(cuMemsetD8Async(memory, 1, 1000, program.stream));
  EXPECT_OK(weft_emulation_poison(1000, 4, 100));
  EXPECT_OK(cuMemsetD8Async(memory, 0, 4, program.stream));
  EXPECT_OK(cuStreamEndCapture(program.stream, &graph));
  EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(cuMemsetD8Async(memory, 0, 1000, program.stream));
    EXPECT_EQ(read(), zeros);
    EXPECT_OK(cuGraphLaunch(executable, program.stream));
    EXPECT_EQ(read(), half);
  }
  EXPECT_EQ(weft_emulation_poison(1001, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(weft_emulation_poison(256, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(weft_emulation_poison(1000, 999, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuMemFree(memory));
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TEST(Driver, GraphsRunAgain) {
  Program program;
  CUstream other;
  CUevent fork, join;
  CUgraph graph;
  CUgraphExec executable;
  EXPECT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  EXPECT_OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_OK(cuStreamBeginCapture(program.stream,
                                 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_OK(program.launchAdd(program.x, program.x, 1));
  EXPECT_OK(cuEventRecord(fork, program.stream));
  EXPECT_OK(cuStreamWaitEvent(other, fork, 0));
  EXPECT_OK(program.launchAdd(program.y, program.x, 10, other));
  EXPECT_OK(cuEventRecord(join, other));
  EXPECT_OK(cuStreamWaitEvent(program.stream, join, 0));
  EXPECT_OK(cuMemcpyDtoHAsync(program.host, program.y, 256, program.stream));
  EXPECT_OK(cuStreamEndCapture(program.stream, &graph));
  EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
  EXPECT_OK(cuGraphDestroy(graph));
  for (int i = 1; i < 4; ++i) {
    EXPECT_OK(cuGraphLaunch(executable, program.stream));
    EXPECT_OK(cuStreamSynchronize(program.stream));
    EXPECT_EQ(program.host[0], 10 + i);
  }
  EXPECT_OK(cuGraphExecDestroy(executable));
  for (CUevent event : {fork, join})
    EXPECT_OK(cuEventDestroy(event));
  EXPECT_OK(cuStreamDestroy(other));
}

/// A graph adds 1 to x and records an event. The values that another stream
/// reads after each of two launches.
std::string runExternalEvents(bool waits) {
  Program program;
  CUstream other;
  CUevent added, read;
  CUgraph graph;
  CUgraphExec executable;
  EXPECT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  for (CUevent *event : {&added, &read})
    EXPECT_OK(cuEventCreate(event, CU_EVENT_DISABLE_TIMING));
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, program.stream));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  EXPECT_OK(cuStreamBeginCapture(program.stream,
                                 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_OK(cuStreamWaitEvent(program.stream, read, CU_EVENT_WAIT_EXTERNAL));
  EXPECT_OK(program.launchAdd(program.x, program.x, 1));
  EXPECT_OK(
      cuEventRecordWithFlags(added, program.stream, CU_EVENT_RECORD_EXTERNAL));
  EXPECT_OK(cuStreamEndCapture(program.stream, &graph));
  EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
  std::string result;
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(cuGraphLaunch(executable, program.stream));
    if (waits)
      EXPECT_OK(cuStreamWaitEvent(other, added, 0));
    EXPECT_OK(cuMemcpyDtoHAsync(program.host + i, program.x, 4, other));
    if (waits)
      EXPECT_OK(cuEventRecord(read, other));
  }
  EXPECT_OK(cuStreamSynchronize(other));
  EXPECT_OK(cuStreamSynchronize(program.stream));
  result = std::to_string(int(program.host[0])) + " " +
           std::to_string(int(program.host[1]));
  EXPECT_OK(cuEventDestroy(added));
  EXPECT_EQ(cuGraphLaunch(executable, program.stream),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_OK(cuEventDestroy(read));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuStreamDestroy(other));
  return result;
}

#define EXPECT_EXTERNAL(seed, waits, result)                                   \
  EXPECT_EXIT(                                                                 \
      {                                                                        \
        setenv("WEFT_EMULATION_SEED", std::to_string(seed).c_str(), 1);        \
        std::fprintf(stderr, "reads %s", runExternalEvents(waits).c_str());    \
        _exit(testing::Test::HasFailure());                                    \
      },                                                                       \
      testing::ExitedWithCode(0), "reads " result)

TEST(Driver, ExternalEventsOrderGraphsAndStreams) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int seed = 0; seed < 8; ++seed)
    EXPECT_EXTERNAL(seed, true, "1 2");
  EXPECT_EXTERNAL(0, false, "1 2");
  EXPECT_EXTERNAL(2, false, "0 0");
}

TEST(Driver, CapturesThatCannotBe) {
  Program program;
  CUgraph graph;
  EXPECT_EQ(cuStreamEndCapture(program.stream, &graph),
            CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_OK(
      cuStreamBeginCapture(program.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(cuStreamSynchronize(program.stream),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuMemsetD8Async(program.x, 0, 256, program.stream),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamEndCapture(program.stream, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

  CUstream other;
  CUevent event;
  EXPECT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  // External events are of captures alone.
  EXPECT_EQ(cuEventRecordWithFlags(event, other, CU_EVENT_RECORD_EXTERNAL),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitEvent(other, event, CU_EVENT_WAIT_EXTERNAL),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(
      cuStreamBeginCapture(program.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(cuEventRecord(event, program.stream));
  EXPECT_OK(cuStreamWaitEvent(other, event, 0));
  EXPECT_EQ(cuStreamEndCapture(other, &graph),
            CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_OK(cuMemsetD8Async(program.x, 0, 256, other));
  EXPECT_EQ(cuStreamEndCapture(program.stream, &graph),
            CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_OK(cuEventDestroy(event));
  EXPECT_OK(cuStreamDestroy(other));
}

} // namespace
} // namespace weft::emulation
