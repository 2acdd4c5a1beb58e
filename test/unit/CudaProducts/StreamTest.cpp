//===- StreamTest.cpp - Products in a stream of the emulated driver -------===//
//
// A program of its own: here memory of the device is closed to the host, and
// nothing is computed before somebody waits for it.
//
//===----------------------------------------------------------------------===//

#include "weft/Abi/CudaProducts.h"
#include "weft/Runtime/Devices/Launch.h"

#include <cstring>
#include <cuda.h>
#include <gtest/gtest.h>
#include <vector>

using namespace weft;

#define EXPECT_OK(call) EXPECT_EQ(call, CUDA_SUCCESS)

static CUstream testStream;
static float knownFlag;

void *weft::deviceStream(WeftContext &) { return testStream; }

std::optional<float> weft::deviceFlag(WeftContext &, const void *) {
  return knownFlag;
}

Status weft::copyToDevice(WeftContext &, void *to, const void *from,
                          int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return Status::success();
}

Expected<float> weft::timeOnDevice(WeftContext &,
                                   const std::function<void()> &work) {
  work();
  return 0.0f;
}

void weft::fillOnDevice(WeftContext &, const WeftCommand &, void *to,
                        unsigned char byte, int64_t bytes) {
  EXPECT_OK(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to), byte, bytes,
                            testStream));
}

namespace {

constexpr int64_t kSize = 64, kBytes = kSize * kSize * 4,
                  kWorkspaceBytes = 1 << 20;

/// C = A A, and C += A A where the flag says so, of 64 x 64 elements.
class ProductStream : public ::testing::Test {
protected:
  void SetUp() override {
    CUcontext primary;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
    EXPECT_OK(cuCtxSetCurrent(primary));
    EXPECT_OK(cuStreamCreate(&testStream, CU_STREAM_NON_BLOCKING));
    for (CUdeviceptr *place : {&a, &c, &workspace, &flag})
      EXPECT_OK(
          cuMemAlloc(place, place == &workspace ? kWorkspaceBytes : kBytes));
    // 2 on the diagonal.
    std::vector<float> values(kSize * kSize, 0.0f);
    for (int64_t i = 0; i < kSize; ++i)
      values[i * (kSize + 1)] = 2.0f;
    EXPECT_OK(cuMemcpyHtoDAsync(a, values.data(), kBytes, testStream));
  }
  void TearDown() override {
    EXPECT_OK(cuStreamSynchronize(testStream));
    for (CUdeviceptr place : {a, c, workspace, flag})
      EXPECT_OK(cuMemFree(place));
    EXPECT_OK(cuStreamDestroy(testStream));
    EXPECT_OK(cuDevicePrimaryCtxRelease(0));
  }

  void multiply(float isLater, int64_t k = kSize) {
    knownFlag = isLater;
    WeftGemmRecord s = {};
    s.batch = 1, s.m = s.n = kSize, s.k = k;
    s.lda = s.ldb = s.ldc = kSize;
    s.accumulate = WEFT_ADD_IF_FLAG;
    WeftCommand command = {};
    command.name = "product";
    command.kind = WEFT_GEMM;
    command.record = &s;
    command.recordBytes = sizeof s;
    command.workspaceBytes = kWorkspaceBytes;
    void *buffers[] = {reinterpret_cast<void *>(a), reinterpret_cast<void *>(a),
                       reinterpret_cast<void *>(c),
                       reinterpret_cast<void *>(flag),
                       reinterpret_cast<void *>(workspace)};
    command.numBuffers = 5;
    weft_cuda_gemm_prepare(&context, &command, buffers);
    weft_cuda_gemm(&context, &command, buffers);
    EXPECT_FALSE(context.failed()) << context.message();
  }
  CUgraphExec record(float isLater) {
    CUgraph graph;
    CUgraphExec made;
    EXPECT_OK(cuStreamBeginCapture(testStream, CU_STREAM_CAPTURE_MODE_RELAXED));
    multiply(isLater);
    EXPECT_OK(cuStreamEndCapture(testStream, &graph));
    EXPECT_OK(cuGraphInstantiate(&made, graph, 0));
    EXPECT_OK(cuGraphDestroy(graph));
    return made;
  }
  /// An element of the diagonal.
  float result() {
    std::vector<float> values(kSize * kSize);
    EXPECT_OK(cuMemcpyDtoHAsync(values.data(), c, kBytes, testStream));
    EXPECT_OK(cuStreamSynchronize(testStream));
    EXPECT_EQ(values[1], 0.0f);
    return values[kSize + 1];
  }

  WeftContext context;
  CUdeviceptr a = 0, c = 0, workspace = 0, flag = 0;
};

} // namespace

TEST_F(ProductStream, RunsInOrder) {
  multiply(0.0f); // over memory that nothing has written
  EXPECT_EQ(result(), 4.0f);
  multiply(1.0f);
  multiply(1.0f);
  EXPECT_EQ(result(), 12.0f);
}

/// Two recordings of one program: of the first micro-step and of later ones.
TEST_F(ProductStream, IsRecordedForEachFlag) {
  CUgraphExec first = record(0.0f), later = record(1.0f);
  for (int step = 0; step < 2; ++step) {
    EXPECT_OK(cuGraphLaunch(first, testStream));
    EXPECT_OK(cuGraphLaunch(later, testStream));
    EXPECT_OK(cuGraphLaunch(later, testStream));
    EXPECT_EQ(result(), 12.0f);
  }
  EXPECT_OK(cuGraphExecDestroy(first));
  EXPECT_OK(cuGraphExecDestroy(later));
}

TEST_F(ProductStream, ClearsWhereThereIsNothingToAdd) {
  multiply(0.0f, /*k=*/0);
  EXPECT_EQ(result(), 0.0f);
  multiply(1.0f);
  multiply(1.0f, /*k=*/0);
  EXPECT_EQ(result(), 4.0f);
}
