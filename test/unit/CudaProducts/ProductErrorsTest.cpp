//===- ProductErrorsTest.cpp - Products that fail, and their library ------===//

#include "ProductHarness.h"

#include "weft/Base/Text.h"

using namespace weft;

static void expectFailure(int code, const std::string &message,
                          const Product &p) {
  TestContext context(1);
  runProduct(context, p);
  EXPECT_EQ(context.error(), code);
  EXPECT_EQ(context.message(), "routine in h.3: " + message);
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

TEST(CudaProduct, AnAlgorithmHasToFit) {
  Product p = productOf(4, 8, 100);
  p.workspaceBytes = -1;
  TestContext context(1);
  checkProduct(context, p); // one that needs none

  Variable needed("WEFT_EMULATION_WORKSPACE", "8192");
  p.workspaceBytes = -1;
  expectFailure(4,
                "expects an algorithm of cuBLASLt for a product of 1 x 4 x 8 x "
                "100 (batch, M, N, K) that works in 0 bytes, but got one that "
                "takes 8192 bytes (8.00 KiB)",
                p);
  p.workspaceBytes = 8192 + 256;
  checkProduct(context, p);
}

TEST(CudaProduct, AWorkspaceIsWhatTheChipIsAdvised) {
  const WeftGemmRecord s = productOf(4, 8, 100).s;
  EXPECT_EQ(cudaGemmWorkspaceBytes(s, 80), 8 << 20);
  EXPECT_EQ(cudaGemmWorkspaceBytes(s, 90), 32 << 20);
  EXPECT_EQ(cudaGemmWorkspaceBytes(s, 100), 32 << 20);
}

//===----------------------------------------------------------------------===//
// Wrong records
//===----------------------------------------------------------------------===//

TEST(CudaProduct, WrongRecords) {
  auto expect = [](const char *message, auto change) {
    Product p = productOf(4, 8, 5);
    change(p.s);
    expectFailure(70, message, p);
  };
  expect("expects lda of at least the length of a row of A, but got 4",
         [](WeftGemmRecord &s) { s.lda = 4; });
  expect("expects an epilogue of 0 to 4, but got 5",
         [](WeftGemmRecord &s) { s.epilogue = 5; });
  expect("expects no aux of relu, of which cuBLASLt keeps bits, but got 1",
         [](WeftGemmRecord &s) { s.epilogue = 1, s.hasAux = 1; });
  expect("expects no aux of relu, of which cuBLASLt keeps bits, but got 2",
         [](WeftGemmRecord &s) { s.epilogue = 2, s.hasAux = 1; });
  expect("expects an epilogue that has an aux, but got 0",
         [](WeftGemmRecord &s) { s.hasAux = 1; });
  expect("expects an aux for a gradient, but got 0",
         [](WeftGemmRecord &s) { s.epilogue = 4; });
  expect("expects a gradient without bias, but got 1",
         [](WeftGemmRecord &s) { s.epilogue = 4, s.hasAux = s.hasBias = 1; });
  expect("expects rows of aux of a multiple of 8 elements, but got 7",
         [](WeftGemmRecord &s) { s.n = 7, s.epilogue = 3, s.hasAux = 1; });
  expect("expects a bias of the type of C, but got 3",
         [](WeftGemmRecord &s) { s.dtype = WEFT_BF16, s.hasBias = 1; });
  expect("expects a column sum only with gelu_grad (4), but got 0",
         [](WeftGemmRecord &s) { s.hasColumnSum = 1; });
  expect("expects a column sum of the type of C, f32 (0), but got 3",
         [](WeftGemmRecord &s) {
           s.dtype = s.dtypeC = WEFT_BF16;
           s.epilogue = 4, s.hasAux = s.hasColumnSum = 1;
         });
  expect("expects a column sum of one matrix, but got 2",
         [](WeftGemmRecord &s) {
           s.batch = 2;
           s.batchStrideA = 20, s.batchStrideB = 40, s.batchStrideC = 32;
           s.epilogue = 4, s.hasAux = s.hasColumnSum = 1;
         });
}

TEST(CudaProduct, WrongSumsOfFactors) {
  auto expect = [](const char *message, auto change) {
    Product p = productOf(4, 8, 5);
    p.s.hasSumB = 1;
    change(p.s);
    expectFailure(70, message, p);
  };
  expect("expects the sum of one factor, but got both",
         [](WeftGemmRecord &s) { s.hasSumA = 1; });
  expect("expects the sum of a factor without an epilogue, but got 1",
         [](WeftGemmRecord &s) { s.epilogue = 1; });
  expect(
      "expects the sum of a factor without an epilogue, but got 4",
      [](WeftGemmRecord &s) { s.epilogue = 4, s.hasAux = s.hasColumnSum = 1; });
  expect("expects only the sum of a factor, but got a bias",
         [](WeftGemmRecord &s) { s.hasBias = 1; });
  expect("expects the sum of a factor of the type of C, f32 (0), but got 3",
         [](WeftGemmRecord &s) { s.dtype = s.dtypeC = WEFT_BF16; });
  expect("expects the sum of a factor of one matrix, but got 2",
         [](WeftGemmRecord &s) {
           s.batch = 2;
           s.batchStrideA = 20, s.batchStrideB = 40, s.batchStrideC = 32;
         });
  expect("expects the sum of a factor only with a product that has elements, "
         "but got "
         "0",
         [](WeftGemmRecord &s) { s.m = 0; });
}

TEST(CudaProduct, MissingBuffers) {
  TestContext context(1);
  Product p = productOf(1, 1, 1);
  p.s.hasBias = 1;
  Floats ones(1, 1.0f);
  GuardedWorkspace workspace(4096);
  const float *data = ones.data();
  callIn(workspace, 4096, context, weft_cuda_gemm, {data, data, data}, p.s,
         WEFT_GEMM);
  EXPECT_EQ(context.error(), 70);
  EXPECT_EQ(context.message(), "routine in h.3: expects 4 buffers, but got 3");
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

TEST(CudaProduct, DescriptorsAreDestroyed) {
  const int64_t before = countLtObjects();
  {
    TestContext context(1);
    checkProduct(context, productOf(4, 8, 100));
    EXPECT_EQ(countLtObjects(), before + 5); // the handle, four of the plan
  }
  EXPECT_EQ(countLtObjects(), before);
}

TEST(CudaProduct, PreparedProductsAskForNothing) {
  for (const char *entry :
       {"cublasLtMatmulAlgoGetHeuristic", "cublasLtCreate"}) {
    Variable fault("WEFT_EMULATION_FAIL", std::string(entry) + ":2:14");
    TestContext context(1);
    runProduct(context, productOf(4, 8, 100), /*prepares=*/true);
    EXPECT_FALSE(context.failed()) << context.message();
  }
}

TEST(CudaProduct, PreparingReportsWhatDoesNotFit) {
  Variable needed("WEFT_EMULATION_WORKSPACE", "1048576");
  TestContext context(1);
  Product p = productOf(4, 8, 100);
  Floats data(1000, 1.0f);
  GuardedWorkspace workspace(4096);
  callIn(workspace, 4096, context, weft_cuda_gemm_prepare,
         {data.data(), data.data(), data.data()}, p.s, WEFT_GEMM);
  EXPECT_EQ(context.error(), 4) << context.message();
}

/// Every call of every entry point except calls that destroy an object.
TEST(CudaProduct, EveryCallMayFail) {
  const char *entries[] = {"Create",
                           "Matmul",
                           "MatmulAlgoConfigGetAttribute",
                           "MatmulAlgoGetHeuristic",
                           "MatmulDescCreate",
                           "MatmulDescSetAttribute",
                           "MatmulPreferenceCreate",
                           "MatmulPreferenceSetAttribute",
                           "MatrixLayoutCreate",
                           "MatrixLayoutSetAttribute"};
  Product p = productOf(4, 8, 100);
  setBatch(p, 2);
  p.s.hasBias = 1;
  const int64_t before = countLtObjects();
  for (const char *entry : entries) {
    const std::string name = std::string("cublasLt") + entry;
    int calls = 0;
    for (bool failed = true; failed && calls < 100; calls += failed) {
      Variable fault("WEFT_EMULATION_FAIL",
                     name + ":" + std::to_string(calls + 1) + ":14");
      TestContext context(1);
      runProduct(context, p);
      failed = context.failed();
      if (failed) {
        EXPECT_EQ(context.error(), 9);
        EXPECT_EQ(context.message(),
                  "routine in h.3: expects " + name +
                      " to succeed, but got CUBLAS_STATUS_INTERNAL_ERROR (14)");
      }
    }
    EXPECT_GT(calls, 0) << name;
    EXPECT_EQ(countLtObjects(), before) << name;
  }
}

/// That is exit 4, as where the driver finds no memory.
TEST(CudaProduct, ALibraryMayFindNoMemory) {
  Variable fault("WEFT_EMULATION_FAIL", "cublasLtMatmul:1:3");
  TestContext context(1);
  runProduct(context, productOf(4, 8, 100));
  EXPECT_EQ(context.error(), 4);
  EXPECT_EQ(context.message(),
            "routine in h.3: expects cublasLtMatmul to succeed, but got "
            "CUBLAS_STATUS_ALLOC_FAILED (3)");
  EXPECT_EQ(context.hint(),
            "other processes may use memory of the device (nvidia-smi lists "
            "them); a smaller --batch or --seq needs less");
}

/// A failure of the end changes nothing.
TEST(CudaProduct, DestroyingMayFail) {
  for (const char *entry : {"Destroy", "MatmulDescDestroy",
                            "MatmulPreferenceDestroy", "MatrixLayoutDestroy"}) {
    const int64_t before = countLtObjects();
    Variable fault("WEFT_EMULATION_FAIL",
                   std::string("cublasLt") + entry + ":1:14");
    {
      TestContext context(1);
      checkProduct(context, productOf(4, 8, 100));
    }
    EXPECT_EQ(countLtObjects(), before + 1) << entry;
  }
}

TEST(CudaProduct, AnotherLibraryIsRefused) {
  Variable version("WEFT_EMULATION_BLASLT", "140203");
  TestContext context(1);
  runProduct(context, productOf(4, 8, 100));
  EXPECT_EQ(context.error(), 9);
  EXPECT_EQ(context.message().find(
                "routine in h.3: expects cuBLASLt 12 or 13, but got cuBLASLt "
                "14.2.3 ("),
            0u)
      << context.message();
}

TEST(CudaProduct, AnAlgorithmOfASumMayBeMissing) {
  Variable needed("WEFT_EMULATION_WORKSPACE", "2000000000000");
  TestContext context(1);
  Product p = productOf(4, 8, 100);
  p.s.hasSumA = 1;
  runProduct(context, p);
  EXPECT_EQ(context.error(), 9);
  EXPECT_TRUE(endsWith(context.message(),
                       "but got none for epilogue 0 and the sum of a factor"))
      << context.message();
  EXPECT_EQ(context.hint(), "compile with --epilogues=off");
}

TEST(CudaProduct, AnAlgorithmMayBeMissing) {
  Variable needed("WEFT_EMULATION_WORKSPACE", "2000000000000");
  TestContext context(1);
  runProduct(context, productOf(4, 8, 100));
  EXPECT_EQ(context.error(), 9);
  const std::string &text = context.message();
  EXPECT_EQ(text.find("routine in h.3: expects an algorithm of cuBLASLt 13."),
            0u)
      << text;
  EXPECT_TRUE(endsWith(text, " for a product of 1 x 4 x 8 x 100 (batch, M, N, "
                             "K), but got none for epilogue 0"))
      << text;
}
