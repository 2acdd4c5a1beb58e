//===- CudnnTest.cpp - Attention through cuDNN ----------------------------===//
//
// A library of the tests is in cuDNN's place: it takes attention in the form
// that the real one knows, and computes it by plain loops.
//
//===----------------------------------------------------------------------===//

#include "AttentionReference.h"

#include "weft/Abi/CudnnAttention.h"

#include <dlfcn.h>
#include <fstream>

using namespace weft;

namespace {

WeftLibraryFn routineOf(WeftCommandKind kind,
                        CudnnOrder order = CudnnOrder::Fixed) {
  if (kind == WEFT_ATTENTION)
    return weft_cuda_attention_cudnn;
  return order == CudnnOrder::Fixed
             ? weft_cuda_attention_grad_cudnn
             : weft_cuda_attention_grad_cudnn_nondeterministic;
}

/// Runs a command with the workspace that the compiler gives it, or with one
/// that is `less` bytes smaller.
void call(WeftContext &context, WeftLibraryFn routine, WeftCommandKind kind,
          std::vector<const void *> buffers, const RecordBytes &record,
          int64_t chip = 90, int64_t less = 0,
          CudnnOrder order = CudnnOrder::Fixed) {
  const int64_t bytes =
      cudnnWorkspaceBytes(kind, record.data(), chip, order) - less;
  Guarded<char> memory(bytes);
  emulation::DeviceMemory::get().markWritten(memory.data(), bytes);
  buffers.push_back(memory.data());
  callWith(context, routine, buffers, bytes, record, kind);
}

AttentionResult attentionOfCudnn(WeftContext &context, const AttentionCase &c,
                                 const AttentionInputs &inputs,
                                 int64_t chip = 90,
                                 CudnnOrder order = CudnnOrder::Fixed) {
  return attentionOf(
      c, inputs,
      [&](WeftCommandKind kind, const std::vector<const void *> &buffers,
          const RecordBytes &record) {
        call(context, routineOf(kind, order), kind, buffers, record, chip,
             /*less=*/0, order);
        ASSERT_FALSE(context.failed()) << context.message();
      });
}

/// A case whose heads and rows are multiples of 16 bytes.
AttentionCase makeCase(int64_t dtype = WEFT_F16) {
  AttentionCase c;
  c.dtype = dtype;
  c.t = c.s = 12;
  return c;
}

void check(const AttentionCase &c, int64_t chip = 90,
           CudnnOrder order = CudnnOrder::Fixed) {
  SCOPED_TRACE(testing::Message()
               << "b " << c.b << " t " << c.t << " s " << c.s << " h " << c.h
               << " hkv " << c.hkv << " d " << c.d << " causal " << c.causal
               << " dtype " << c.dtype << " gap " << c.gap);
  const double bound = c.dtype == WEFT_F16 ? 3e-3 : 2e-2;
  AttentionInputs inputs(c);
  AttentionResult want = attentionInF64(c, inputs);
  TestContext context(1);
  AttentionResult got = attentionOfCudnn(context, c, inputs, chip, order);
  EXPECT_LT(relativeError(got.out, want.out), bound);
  EXPECT_LT(relativeError(got.lse, want.lse), 1e-5);
  EXPECT_LT(relativeError(got.dq, want.dq), bound);
  EXPECT_LT(relativeError(got.dk, want.dk), bound);
  EXPECT_LT(relativeError(got.dv, want.dv), bound);
}

/// Buffers of a command that is not run.
std::vector<const void *> someBuffers(int count, size_t shift = 0) {
  alignas(256) static char memory[1 << 12];
  return std::vector<const void *>(count, memory + shift);
}

/// The error of a command that must fail.
std::string errorOf(WeftCommandKind kind, const RecordBytes &record, int code,
                    int64_t less = 0, size_t shift = 0) {
  TestContext context(1);
  call(context, weft_cuda_attention_cudnn_prepare, kind,
       someBuffers(kind == WEFT_ATTENTION ? 5 : 9, shift), record, 90, less);
  EXPECT_EQ(context.error(), code);
  return context.message();
}

int64_t countObjects() {
  void *library = ::dlopen(TEST_CUDNN, RTLD_NOW);
  void *count =
      library ? ::dlsym(library, "weft_emulation_cudnn_objects") : nullptr;
  return count ? reinterpret_cast<int64_t (*)()>(count)() : -1;
}

} // namespace

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

TEST(CudnnAttention, AgreesWithTheDefinition) {
  for (int64_t dtype : {WEFT_F16, WEFT_BF16})
    for (int64_t causal : {0, 1})
      for (int64_t keyHeads : {1, 2, 4}) {
        AttentionCase c = makeCase(dtype);
        c.h = 4, c.hkv = keyHeads, c.d = 16, c.causal = causal;
        check(c);
      }
}

TEST(CudnnAttention, TakesRowsOfAnyLength) {
  for (int64_t t : {1, 7, 65}) {
    AttentionCase c = makeCase();
    c.b = 1, c.t = c.s = t;
    check(c);
  }
  AttentionCase c = makeCase();
  c.causal = 0, c.t = 5, c.s = 19;
  check(c);
}

TEST(CudnnAttention, TakesHeadsWhereTheyLie) {
  AttentionCase packed = makeCase();
  packed.rowGap = 64;
  check(packed);
  AttentionCase apart = makeCase();
  apart.gap = 8;
  check(apart);
  AttentionCase headsFirst = makeCase();
  headsFirst.headsFirst = 1;
  check(headsFirst);
}

TEST(CudnnAttention, TakesTheOrderedEngineOfSm100) {
  Variable chip("WEFT_EMULATION_CHIP", "sm_100");
  AttentionCase c = makeCase();
  c.h = 4;
  check(c, 100);
}

TEST(CudnnAttention, AddsUpGradientsInAnyOrder) {
  for (int64_t dtype : {WEFT_F16, WEFT_BF16})
    for (int64_t keyHeads : {1, 4}) {
      AttentionCase c = makeCase(dtype);
      c.h = 4, c.hkv = keyHeads, c.d = 16;
      check(c, 90, CudnnOrder::Any);
    }
  for (int64_t chip : {80, 100}) {
    Variable variable("WEFT_EMULATION_CHIP", "sm_" + std::to_string(chip));
    check(makeCase(), chip, CudnnOrder::Any);
  }
}

/// The order of the test's library depends on the seed.
TEST(CudnnAttention, FixesTheOrderOfGradientsUnlessItMayBeAny) {
  // So many elements that rounding to f16 does not hide the order of all.
  AttentionCase c = makeCase();
  c.t = c.s = 129, c.d = 64;
  const AttentionInputs inputs(c);
  auto run = [&](const char *seed, CudnnOrder order) {
    Variable variable("WEFT_EMULATION_SEED", seed);
    TestContext context(1);
    return attentionOfCudnn(context, c, inputs, 90, order);
  };
  EXPECT_EQ(run("0", CudnnOrder::Fixed).dq, run("7", CudnnOrder::Fixed).dq);
  const AttentionResult one = run("0", CudnnOrder::Any),
                        other = run("7", CudnnOrder::Any);
  EXPECT_NE(one.dq, other.dq);
  EXPECT_EQ(one.dk, other.dk);
  EXPECT_EQ(one.dv, other.dv);
}

TEST(CudnnAttention, PassesOverflowOn) {
  AttentionCase c = makeCase();
  AttentionInputs inputs(c);
  inputs.q[0] = INFINITY;
  TestContext context(1);
  AttentionResult got = attentionOfCudnn(context, c, inputs);
  EXPECT_FALSE(std::isfinite(got.out[0]));
  EXPECT_FALSE(std::isfinite(got.dk[0]));
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

TEST(CudnnAttention, PlansOnce) {
  const std::string log = testing::TempDir() + "/weft-cudnn-plans.txt";
  std::remove(log.c_str());
  Variable variable("WEFT_EMULATION_CUDNN_LOG", log);
  AttentionCase c = makeCase();
  AttentionInputs inputs(c);
  {
    TestContext context(1);
    attentionOfCudnn(context, c, inputs);
    attentionOfCudnn(context, c, inputs);
    EXPECT_GT(countObjects(), 0);
  }
  EXPECT_EQ(countObjects(), 0);
  std::ifstream lines(log);
  int graphs = 0;
  for (std::string line; std::getline(lines, line);)
    graphs += line[0] != ' ';
  EXPECT_EQ(graphs, 2);
}

TEST(CudnnAttention, SaysBothNumbersWhereAWorkspaceIsTooSmall) {
  AttentionCase c = makeCase();
  // Four heads of a tile of 64 x 128 scores in two bytes, and 256.
  EXPECT_EQ(
      errorOf(WEFT_ATTENTION_GRAD, c.gradRecord(), 4, /*less=*/257),
      "routine in h.3: expects an engine of cuDNN for gradients of "
      "attention of 2 x 2 x 12 x 12 x 8 (batch, heads, queries, keys, "
      "elements) that works in 65791 bytes (64.25 KiB), but got one that takes "
      "65792 bytes (64.25 KiB)");
  Variable needs("WEFT_EMULATION_CUDNN_WORKSPACE", "1000");
  EXPECT_NE(errorOf(WEFT_ATTENTION, c.record(), 4).find("takes 1000 bytes"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(CudnnAttention, RefusesWhatTheCompilerRefuses) {
  auto expectError = [](const AttentionCase &c, const std::string &message) {
    EXPECT_EQ(errorOf(WEFT_ATTENTION, c.record(), 70),
              "routine in h.3: expects " + message);
    EXPECT_EQ(errorOf(WEFT_ATTENTION_GRAD, c.gradRecord(), 70),
              "routine in h.3: expects " + message);
  };
  AttentionCase c = makeCase(WEFT_F32);
  expectError(c, "heads of f16 or bf16 with --attention=cudnn, but got f32");
  c = makeCase(), c.d = 12;
  expectError(c, "heads of a multiple of 8 elements, at most 256 on sm_90, "
                 "with --attention=cudnn, but got 12");
  c = makeCase(), c.d = 264;
  expectError(c, "heads of a multiple of 8 elements, at most 256 on sm_90, "
                 "with --attention=cudnn, but got 264");
  c = makeCase(), c.dropout = 0.5;
  expectError(c, "no dropout, because cuDNN draws other masks, "
                 "with --attention=cudnn, but got 0.500000");
  c = makeCase(), c.s = 13;
  expectError(c, "as many keys as queries of causal attention with "
                 "--attention=cudnn, but got 13 and 12");
  c = makeCase(), c.gap = 4;
  expectError(c, "strides of multiples of 8 elements with --attention=cudnn, "
                 "but got 12");
}

TEST(CudnnAttention, RefusesBuffersOffAlignment) {
  EXPECT_EQ(errorOf(WEFT_ATTENTION, makeCase().record(), 70, 0, /*shift=*/8),
            "routine in h.3: expects buffers at multiples of 16 bytes, but got "
            "8 more of buffer 0");
}

TEST(CudnnAttention, RefusesAnOldLibrary) {
  Variable version("WEFT_EMULATION_CUDNN", "90800");
  EXPECT_NE(errorOf(WEFT_ATTENTION, makeCase().record(), 9)
                .find("expects cuDNN 9 from 9.19.0, but got cuDNN 9.8.0 ("),
            std::string::npos);
}

TEST(CudnnAttention, FindsNoMemory) {
  AttentionCase c = makeCase();
  AttentionInputs inputs(c);
  for (const char *code : {"4003", "4004"}) {
    Variable fault("WEFT_EMULATION_FAIL",
                   std::string("cudnnBackendExecute:1:") + code);
    TestContext context(1);
    attentionOf(c, inputs,
                [&](WeftCommandKind kind,
                    const std::vector<const void *> &buffers,
                    const RecordBytes &record) {
                  call(context, routineOf(kind), kind, buffers, record);
                });
    EXPECT_EQ(context.error(), 4) << context.message();
    EXPECT_NE(context.hint().find("nvidia-smi"), std::string::npos);
  }
}

TEST(CudnnAttention, NamesEveryCallThatFails) {
  AttentionCase c = makeCase();
  AttentionInputs inputs(c);
  for (const char *entry :
       {"cudnnCreate", "cudnnSetStream", "cudnnBackendCreateDescriptor",
        "cudnnBackendSetAttribute", "cudnnBackendFinalize",
        "cudnnBackendGetAttribute", "cudnnBackendExecute"})
    for (int number : {1, 2}) {
      if (number == 2 && std::string(entry) == "cudnnCreate")
        continue;
      Variable fault("WEFT_EMULATION_FAIL", std::string(entry) + ":" +
                                                std::to_string(number) +
                                                ":5000");
      TestContext context(1);
      attentionOf(c, inputs,
                  [&](WeftCommandKind kind,
                      const std::vector<const void *> &buffers,
                      const RecordBytes &record) {
                    call(context, routineOf(kind), kind, buffers, record);
                  });
      EXPECT_EQ(context.error(), 9) << entry;
      EXPECT_NE(context.message().find("expects " + std::string(entry) +
                                       " to succeed, but got "
                                       "CUDNN_STATUS_EXECUTION_FAILED (5000)"),
                std::string::npos)
          << context.message();
    }
  EXPECT_EQ(countObjects(), 0);
}
