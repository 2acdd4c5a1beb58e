//===- EmulatedCudnnTest.cpp - Errors of the emulated cuDNN ---------------===//

#include "AttentionGraphs.h"

#include "weft/Abi/Executable.h"

#include <gtest/gtest.h>

using namespace weft;
using namespace weft::cuda;

namespace {

class EmulatedCudnn : public testing::Test {
protected:
  void SetUp() override {
    Expected<std::unique_ptr<Cudnn>> opened = Cudnn::open();
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    library = std::move(*opened);
  }

  /// The error of a graph that must not be planned.
  std::string errorOf(CudnnGraph &graph) {
    Expected<CudnnPlan> plan =
        graph.plan("nothing", 1 << 20, /*repeatsBits=*/true, nullptr);
    return plan ? "" : plan.error().message();
  }
  void expectError(Expected<CudnnPlan> plan, const std::string &text) {
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.error().message().find(text), std::string::npos)
        << plan.error().message();
  }

  std::unique_ptr<Cudnn> library;
};

WeftAttentionRecord makeRecord() {
  WeftAttentionRecord s = {};
  s.batch = s.keyHeads = 1, s.heads = 2, s.queries = s.keys = 16;
  s.headSize = 8, s.dtype = WEFT_F16, s.scale = 0.5, s.causal = 1;
  s.q = s.out = {256, 16, 8};
  s.k = s.v = {128, 8, 8};
  return s;
}

} // namespace

TEST_F(EmulatedCudnn, TakesAttention) {
  EXPECT_TRUE(planForward(*library, makeRecord(), 256).ok());
}

TEST_F(EmulatedCudnn, RefusesGraphsThatAreNoAttention) {
  CudnnGraph graph(*library);
  CudnnGraph::Tensor a =
      graph.memory(1, CUDNN_DATA_HALF, {1, 1, 8, 8}, {64, 64, 8, 1});
  CudnnGraph::Tensor b =
      graph.memory(2, CUDNN_DATA_HALF, {1, 1, 8, 8}, {64, 64, 8, 1});
  graph.multiply(a, b, graph.between(CUDNN_DATA_FLOAT, {1, 1, 8, 8}));
  EXPECT_NE(errorOf(graph).find("no engine knows the graph"),
            std::string::npos);
}

TEST_F(EmulatedCudnn, RefusesFactorsThatDoNotFit) {
  CudnnGraph graph(*library);
  CudnnGraph::Tensor a =
      graph.memory(1, CUDNN_DATA_HALF, {1, 1, 8, 8}, {64, 64, 8, 1});
  CudnnGraph::Tensor b =
      graph.memory(2, CUDNN_DATA_HALF, {1, 1, 16, 8}, {128, 128, 8, 1});
  graph.multiply(a, b, graph.between(CUDNN_DATA_FLOAT, {1, 1, 8, 8}));
  EXPECT_NE(errorOf(graph).find("the factors of a product do not fit"),
            std::string::npos);
}

TEST_F(EmulatedCudnn, RefusesToReadWhatIsNotWritten) {
  CudnnGraph graph(*library);
  CudnnGraph::Tensor x = graph.between(CUDNN_DATA_FLOAT, {1, 1, 8, 8});
  graph.apply(CUDNN_POINTWISE_EXP,
              graph.between(CUDNN_DATA_FLOAT, {1, 1, 8, 8}), x);
  EXPECT_NE(errorOf(graph).find("read before it is written"),
            std::string::npos);
}

TEST_F(EmulatedCudnn, RefusesTwoTensorsOfOneId) {
  CudnnGraph graph(*library);
  const CudnnSizes sizes = {1, 1, 8, 8}, strides = {64, 64, 8, 1};
  CudnnGraph::Tensor a = graph.memory(1, CUDNN_DATA_HALF, sizes, strides);
  CudnnGraph::Tensor b = graph.memory(1, CUDNN_DATA_HALF, sizes, strides);
  graph.multiply(a, b, graph.between(CUDNN_DATA_FLOAT, sizes));
  EXPECT_NE(errorOf(graph).find("two tensors have one id"), std::string::npos);
}

TEST_F(EmulatedCudnn, RefusesTensorsOfAttentionOutOfPlace) {
  WeftAttentionRecord s = makeRecord();
  s.q.row = 18;
  expectError(planForward(*library, s, 256),
              "tensor q has rows that are not aligned");
  s = makeRecord(), s.headSize = 264, s.q = s.out = {8448, 528, 264},
  s.k = s.v = {4224, 264, 264};
  expectError(planForward(*library, s, 256), "no engine has such sizes");
  s = makeRecord(), s.keys = 24;
  expectError(planForward(*library, s, 256), "no engine has such sizes");
}

TEST_F(EmulatedCudnn, TakesTheEngineThatRepeatsItsBitsAndFits) {
  Expected<CudnnPlan> plan = planForward(*library, makeRecord(), 256);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->workspaceBytes, 256);
  expectError(planForward(*library, makeRecord(), 255),
              "works in 255 bytes, but got one that takes 256 bytes");
}

TEST_F(EmulatedCudnn, HasNoEngineThatRepeatsSumsInAnyOrder) {
  WeftAttentionGradRecord record = {};
  record.forward = makeRecord();
  record.dout = record.dq = record.forward.q;
  record.dk = record.dv = record.forward.k;
  const int64_t most = cudnnGradEngineBytes(record.forward, 90);
  EXPECT_TRUE(planBackward(*library, record, most, 90).ok());
  const int64_t least =
      cudnnGradEngineBytes(record.forward, 90, CudnnOrder::Any);
  EXPECT_LT(least, most);
  Expected<CudnnPlan> plan =
      planBackward(*library, record, least, 90, CudnnOrder::Any);
  ASSERT_TRUE(plan.ok()) << plan.error().message();
  EXPECT_EQ(plan->workspaceBytes, least);
  expectError(planBackward(*library, record, least - 1, 90, CudnnOrder::Any),
              "but got one that takes " + std::to_string(least) + " bytes");
}
