//===- EmulatedBlasLtTest.cpp - Errors of the emulated cuBLASLt -----------===//

#include "ProductHarness.h"

#include "cuda/BlasLt.h"

using namespace weft;

namespace {

/// D = A B + beta C of column-major f32 matrices: 2 x 3 by 3 x 2.
struct Call {
  std::unique_ptr<BlasLt> library;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  Floats dataA = {1, 2, 3, 4, 5, 6}, dataB = {1, 0, 0, 0, 1, 0};
  Floats dataD = Floats(8, 0.0f);
  void *workspace = nullptr;
  size_t workspaceBytes = 0;

  Call() : library(std::move(*BlasLt::open())) {
    EXPECT_EQ(
        0, lt().MatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    EXPECT_EQ(0, lt().MatrixLayoutCreate(&a, CUDA_R_32F, 2, 3, 2));
    EXPECT_EQ(0, lt().MatrixLayoutCreate(&b, CUDA_R_32F, 3, 2, 3));
    EXPECT_EQ(0, lt().MatrixLayoutCreate(&d, CUDA_R_32F, 2, 2, 2));
    EXPECT_EQ(0, lt().MatmulPreferenceCreate(&preference));
    // Floats of a vector are no further aligned than their allocation.
    for (auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      prefer(attribute, uint32_t(8));
  }
  ~Call() {
    lt().MatmulPreferenceDestroy(preference);
    for (cublasLtMatrixLayout_t layout : {a, b, d})
      lt().MatrixLayoutDestroy(layout);
    lt().MatmulDescDestroy(operation);
  }

  const BlasLtEntries &lt() const { return library->entries(); }
  template <typename T>
  int set(cublasLtMatmulDescAttributes_t attribute, T value) {
    return lt().MatmulDescSetAttribute(operation, attribute, &value,
                                       sizeof value);
  }
  template <typename T>
  int set(cublasLtMatrixLayout_t layout,
          cublasLtMatrixLayoutAttribute_t attribute, T value) {
    return lt().MatrixLayoutSetAttribute(layout, attribute, &value,
                                         sizeof value);
  }
  template <typename T>
  int prefer(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    return lt().MatmulPreferenceSetAttribute(preference, attribute, &value,
                                             sizeof value);
  }

  cublasLtMatmulHeuristicResult_t found = {};
  int ask() {
    int count = 0;
    return lt().MatmulAlgoGetHeuristic(library->handle(), operation, a, b, d, d,
                                       preference, 1, &found, &count);
  }
  int run(const float *factor, float *result, float beta = 0.0f) {
    const float one = 1.0f;
    return lt().Matmul(library->handle(), operation, &one, factor, a,
                       dataB.data(), b, &beta, result, d, result, d,
                       &found.algo, workspace, workspaceBytes, nullptr);
  }
  int run() { return run(dataA.data(), dataD.data()); }
};

} // namespace

TEST(EmulatedBlasLt, Multiplies) {
  Call call;
  ASSERT_EQ(call.ask(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(call.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call.dataD, (Floats{1, 2, 3, 4, 0, 0, 0, 0}));
  ASSERT_EQ(call.run(call.dataA.data(), call.dataD.data(), 2.0f), 0);
  EXPECT_EQ(call.dataD, (Floats{3, 6, 9, 12, 0, 0, 0, 0}));
}

TEST(EmulatedBlasLt, KnowsRowsInOrder) {
  Call call;
  const int32_t order = CUBLASLT_ORDER_ROW;
  EXPECT_EQ(0, call.set(call.a, CUBLASLT_MATRIX_LAYOUT_ORDER, order));
  EXPECT_EQ(0, call.set(call.a, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(3)));
  EXPECT_EQ(0, call.set(call.d, CUBLASLT_MATRIX_LAYOUT_ORDER, order));
  EXPECT_EQ(0, call.set(call.d, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(4)));
  ASSERT_EQ(call.ask(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(call.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call.dataD, (Floats{1, 2, 0, 0, 4, 5, 0, 0}));
}

TEST(EmulatedBlasLt, AddsUpAFactor) {
  for (auto [epilogue, want] :
       {std::pair(CUBLASLT_EPILOGUE_BGRADA, Floats{9, 12, -1}),
        std::pair(CUBLASLT_EPILOGUE_BGRADB, Floats{1, 1, -1})}) {
    Call call;
    Floats sums(3, -1.0f);
    call.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(epilogue));
    call.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (void *)sums.data());
    ASSERT_EQ(call.ask(), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(call.run(call.dataA.data(), call.dataD.data(), 2.0f), 0);
    EXPECT_EQ(call.dataD, (Floats{1, 2, 3, 4, 0, 0, 0, 0}));
    EXPECT_EQ(sums, want);
  }
}

TEST(EmulatedBlasLt, RefusesWrongShapes) {
  auto expect = [](int status, auto change) {
    Call call;
    change(call);
    EXPECT_EQ(call.ask(), status);
  };
  const int wrong = CUBLAS_STATUS_INVALID_VALUE;
  const int unknown = CUBLAS_STATUS_NOT_SUPPORTED;
  expect(wrong, [](Call &c) { // rows longer than their distance
    c.set(c.a, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(1));
  });
  expect(wrong, [](Call &c) { // 3 x 2 by 3 x 2
    c.set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t(CUBLAS_OP_T));
  });
  expect(wrong, [](Call &c) { // a batch of D alone
    c.set(c.d, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
    c.set(c.d, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, int64_t(4));
  });
  expect(wrong, [](Call &c) { // results on each other
    for (cublasLtMatrixLayout_t layout : {c.a, c.b, c.d})
      c.set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
  });
  expect(wrong, [](Call &c) { // a bias without address
    c.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_BIAS));
  });
  expect(unknown, [](Call &c) { // a bias of another type
    c.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_BIAS));
    c.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (void *)c.dataB.data());
    c.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t(CUDA_R_16BF));
  });
  expect(wrong, [](Call &c) { // aux of rows of 2
    c.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_GELU_AUX));
    c.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, (void *)c.dataB.data());
    c.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t(2));
  });
  expect(wrong, [](Call &c) { // the sum of A without address
    c.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_BGRADA));
  });
  expect(unknown, [](Call &c) { // the sum of B, and relu
    c.set(CUBLASLT_MATMUL_DESC_EPILOGUE,
          uint32_t(CUBLASLT_EPILOGUE_BGRADB | CUBLASLT_EPILOGUE_RELU));
  });
  expect(unknown, [](Call &c) { // bits of relu
    c.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_RELU_AUX));
  });
  expect(unknown, [](Call &c) { // factors of two types
    c.set(c.b, CUBLASLT_MATRIX_LAYOUT_TYPE, uint32_t(CUDA_R_16F));
  });
  expect(unknown, [](Call &c) { // factors rounded to f16
    c.set(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE,
          int32_t(CUBLAS_COMPUTE_32F_FAST_16F));
  });
}

TEST(EmulatedBlasLt, RefusesWrongAttributes) {
  Call call;
  const int wrong = CUBLAS_STATUS_INVALID_VALUE;
  EXPECT_EQ(wrong, call.set(CUBLASLT_MATMUL_DESC_TRANSA, int64_t(0)));
  EXPECT_EQ(wrong, call.set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t(0)));
  EXPECT_EQ(wrong, call.set(call.a, CUBLASLT_MATRIX_LAYOUT_LD, int32_t(2)));
  EXPECT_EQ(wrong,
            call.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint32_t(0)));
}

TEST(EmulatedBlasLt, RefusesWrongCalls) {
  Call call;
  ASSERT_EQ(call.ask(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(call.run(nullptr, call.dataD.data()), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call.run(call.dataA.data() + 1, call.dataD.data()),
            CUBLAS_STATUS_INVALID_VALUE); // asked for 8 bytes
  EXPECT_EQ(call.run(call.dataA.data(), call.dataD.data() + 1),
            CUBLAS_STATUS_INVALID_VALUE);
  // The algorithm is for another product.
  call.set(call.d, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(4));
  EXPECT_EQ(call.run(), CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST(EmulatedBlasLt, RefusesWrongWorkspaces) {
  Variable needed("WEFT_EMULATION_WORKSPACE", "64");
  Call call;
  EXPECT_EQ(call.ask(), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(
      0, call.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(64)));
  ASSERT_EQ(call.ask(), CUBLAS_STATUS_SUCCESS);
  alignas(16) char room[80];
  EXPECT_EQ(call.run(), CUBLAS_STATUS_INVALID_VALUE);
  call.workspaceBytes = 64;
  EXPECT_EQ(call.run(), CUBLAS_STATUS_INVALID_VALUE);
  call.workspace = room + 1;
  EXPECT_EQ(call.run(), CUBLAS_STATUS_INVALID_VALUE);
  call.workspace = room;
  EXPECT_EQ(call.run(), CUBLAS_STATUS_SUCCESS);
}

/// The fastest algorithms of long sums round what they add, or add in D itself,
/// unless they may not.
TEST(EmulatedBlasLt, OffersTheSchemesThatAreAllowed) {
  Call call;
  for (auto [layout, attribute] :
       {std::pair(call.a, CUBLASLT_MATRIX_LAYOUT_COLS),
        std::pair(call.b, CUBLASLT_MATRIX_LAYOUT_ROWS)})
    EXPECT_EQ(0, call.set(layout, attribute, uint64_t(64)));
  EXPECT_EQ(0, call.set(call.b, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(64)));
  auto scheme = [&] {
    uint32_t value = 99;
    EXPECT_EQ(call.ask(), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(0, call.lt().MatmulAlgoConfigGetAttribute(
                     &call.found.algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                     &value, sizeof value, nullptr));
    return value;
  };
  auto allow = [&](uint32_t schemes) {
    call.prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
  };
  EXPECT_EQ(scheme(), CUBLASLT_REDUCTION_SCHEME_INPLACE);
  allow(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
  EXPECT_EQ(scheme(), CUBLASLT_REDUCTION_SCHEME_NONE);
  call.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(1024));
  EXPECT_EQ(scheme(), CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
  allow(CUBLASLT_REDUCTION_SCHEME_MASK);
  EXPECT_EQ(scheme(), CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
}

TEST(EmulatedBlasLt, RefusesWhatIsDestroyed) {
  Call call;
  cublasLtMatrixLayout_t layout = nullptr;
  EXPECT_EQ(0, call.lt().MatrixLayoutCreate(&layout, CUDA_R_32F, 2, 2, 2));
  EXPECT_EQ(0, call.lt().MatrixLayoutDestroy(layout));
  EXPECT_EQ(call.lt().MatrixLayoutDestroy(layout), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call.set(layout, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(2)),
            CUBLAS_STATUS_INVALID_VALUE);
}

TEST(EmulatedBlasLt, HasAVersion) {
  Call call;
  EXPECT_EQ(call.library->describe().find("cuBLASLt 13."), 0u)
      << call.library->describe();
}
