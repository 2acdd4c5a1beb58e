//===- AttentionChoiceTest.cpp - cuDNN or own kernels ---------------------===//
//
// Commands with both implementations, next to a cuDNN of the tests.
//
//===----------------------------------------------------------------------===//

#include "AttentionReference.h"

#include "weft/Abi/CudaWorkspaces.h"
#include "weft/Abi/CudnnAttention.h"
#include "weft/Runtime/Execute/CudaAttentionRun.h"

#include <algorithm>

using namespace weft;

namespace {

AttentionCase makeCase() {
  AttentionCase c;
  c.dtype = WEFT_F16;
  c.t = c.s = 12;
  return c;
}

/// With the larger workspace of both implementations.
void call(WeftContext &context, WeftLibraryFn routine, WeftCommandKind kind,
          std::vector<const void *> buffers, const RecordBytes &record) {
  const int64_t bytes = std::max(cudnnWorkspaceBytes(kind, record.data(), 90),
                                 cudaWorkspaceBytes(kind, record.data()));
  Guarded<char> memory(bytes);
  emulation::DeviceMemory::get().markWritten(memory.data(), bytes);
  buffers.push_back(memory.data());
  callWith(context, routine, buffers, bytes, record, kind);
}

AttentionResult run(WeftContext &context, WeftLibraryFn forward,
                    WeftLibraryFn backward) {
  AttentionCase c = makeCase();
  return attentionOf(
      c, AttentionInputs(c),
      [&](WeftCommandKind kind, const std::vector<const void *> &buffers,
          const RecordBytes &record) {
        call(context, kind == WEFT_ATTENTION ? forward : backward, kind,
             buffers, record);
        ASSERT_FALSE(context.failed()) << context.message();
      });
}

AttentionResult runChosen(WeftContext &context) {
  return run(context, weft_cuda_attention_cudnn_or_own,
             weft_cuda_attention_grad_cudnn_or_own);
}

AttentionResult runCudnn() {
  TestContext context(1);
  return run(context, weft_cuda_attention_cudnn,
             weft_cuda_attention_grad_cudnn);
}

AttentionResult runOwn() {
  AttentionCase c = makeCase();
  return attentionOfCuda(c, AttentionInputs(c));
}

void prepare(WeftContext &context, const RecordBytes &record,
             WeftCommandKind kind,
             WeftLibraryFn routine = weft_cuda_attention_cudnn_or_own_prepare) {
  alignas(256) static char memory[1 << 12];
  call(context, routine, kind,
       std::vector<const void *>(kind == WEFT_ATTENTION ? 5 : 9, memory),
       record);
}

/// Lets cuDNN plan both commands.
void prepareBoth(WeftContext &context) {
  prepare(context, makeCase().record(), WEFT_ATTENTION);
  prepare(context, makeCase().gradRecord(), WEFT_ATTENTION_GRAD);
}

void expectEqual(const AttentionResult &got, const AttentionResult &want) {
  EXPECT_EQ(got.out, want.out);
  EXPECT_EQ(got.lse, want.lse);
  EXPECT_EQ(got.dq, want.dq);
  EXPECT_EQ(got.dk, want.dk);
  EXPECT_EQ(got.dv, want.dv);
}

/// A context that cannot use cuDNN runs own kernels, without an error.
void expectOwn(const std::string &reason) {
  TestContext context(1);
  prepareBoth(context);
  ASSERT_FALSE(context.failed()) << context.message();
  EXPECT_NE(cudnnRefusal(context).find(reason), std::string::npos)
      << cudnnRefusal(context);
  EXPECT_EQ(cudnnVersion(context), "");
  expectEqual(runChosen(context), runOwn());
}

} // namespace

TEST(AttentionChoice, RunsCudnnWhereItIs) {
  TestContext context(1);
  prepareBoth(context);
  ASSERT_FALSE(context.failed()) << context.message();
  EXPECT_EQ(cudnnRefusal(context), "");
  EXPECT_EQ(cudnnVersion(context), "9.19.0");
  const AttentionResult got = runChosen(context);
  expectEqual(got, runCudnn());
  EXPECT_NE(got.dq, runOwn().dq);
}

TEST(AttentionChoice, RunsOwnKernelsBesideAnOldLibrary) {
  Variable version("WEFT_EMULATION_CUDNN", "91400");
  expectOwn("expects cuDNN 9 from 9.19.0, but got cuDNN 9.14.0 (");
}

TEST(AttentionChoice, RunsOwnKernelsWhereAPlanNeedsMoreMemory) {
  Variable needs("WEFT_EMULATION_CUDNN_WORKSPACE", "1000000");
  expectOwn("attention of 2 x 2 x 12 x 12 x 8");
}

TEST(AttentionChoice, RunsOwnKernelsAfterAFailedCall) {
  for (const char *entry : {"cudnnCreate", "cudnnBackendCreateDescriptor",
                            "cudnnBackendFinalize"}) {
    Variable fault("WEFT_EMULATION_FAIL", std::string(entry) + ":1:5000");
    expectOwn("expects " + std::string(entry) + " to succeed");
  }
}

TEST(AttentionChoice, GivesUpPlansForAnotherRank) {
  TestContext context(1);
  prepareBoth(context);
  forgoCudnn(context, "rank 1: no library");
  EXPECT_EQ(cudnnRefusal(context), "rank 1: no library");
  EXPECT_EQ(cudnnVersion(context), "");
  expectEqual(runChosen(context), runOwn());
}

TEST(AttentionChoice, KeepsErrorsOfTables) {
  TestContext context(1);
  AttentionCase c = makeCase();
  c.gap = 4;
  prepare(context, c.record(), WEFT_ATTENTION);
  EXPECT_EQ(context.error(), 70);
  EXPECT_EQ(cudnnRefusal(context), "");
}

TEST(AttentionChoice, OwnKernelsHaveAFixedOrderOfGradients) {
  auto runAnyOrder = [](WeftContext &context, const char *seed) {
    Variable variable("WEFT_EMULATION_SEED", seed);
    return run(context, weft_cuda_attention_cudnn_or_own,
               weft_cuda_attention_grad_cudnn_or_own_nondeterministic);
  };
  auto plan = [](WeftContext &context) {
    prepare(context, makeCase().record(), WEFT_ATTENTION);
    prepare(context, makeCase().gradRecord(), WEFT_ATTENTION_GRAD,
            weft_cuda_attention_grad_cudnn_or_own_nondeterministic_prepare);
    EXPECT_FALSE(context.failed()) << context.message();
  };
  {
    TestContext context(1);
    plan(context);
    EXPECT_EQ(cudnnRefusal(context), "");
    EXPECT_NE(runAnyOrder(context, "0").dq, runOwn().dq);
  }
  Variable version("WEFT_EMULATION_CUDNN", "91400");
  TestContext context(1);
  plan(context);
  EXPECT_NE(cudnnRefusal(context), "");
  expectEqual(runAnyOrder(context, "0"), runOwn());
  expectEqual(runAnyOrder(context, "7"), runOwn());
}
