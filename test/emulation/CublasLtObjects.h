//===- CublasLtObjects.h - Objects of the emulated cuBLASLt -----*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_CUBLASLTOBJECTS_H
#define WEFT_TEST_EMULATION_CUBLASLTOBJECTS_H

#include <cublasLt.h>
#include <functional>
#include <vector>

namespace weft::emulation {

/// cublasLtMatmulDesc_t.
struct Operation {
  int32_t computeType = 0, scaleType = 0;
  int32_t pointerMode = CUBLASLT_POINTER_MODE_HOST;
  int32_t transA = CUBLAS_OP_N, transB = CUBLAS_OP_N, transC = CUBLAS_OP_N;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr;
  int64_t biasStride = 0;
  int32_t biasType = -1;
  void *aux = nullptr;
  int64_t auxLd = 0, auxStride = 0;
  int32_t auxType = -1;
  int32_t processors = 0; // multiprocessors that it may use; 0: all
};

/// Multiprocessors of the emulated device.
int32_t allProcessors();

/// cublasLtMatrixLayout_t.
struct Layout {
  uint32_t type = 0;
  int32_t order = CUBLASLT_ORDER_COL;
  uint64_t rows = 0, columns = 0;
  int64_t ld = 0;
  int32_t batch = 1;
  int64_t stride = 0;

  int64_t at(int64_t matrix, int64_t row, int64_t column) const {
    return matrix * stride + (order == CUBLASLT_ORDER_COL ? row + column * ld
                                                          : row * ld + column);
  }
};

/// cublasLtMatmulPreference_t.
struct Preference {
  uint64_t workspaceBytes = 0;
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignmentA = 256, alignmentB = 256, alignmentC = 256,
           alignmentD = 256;
};

/// Where an attribute is kept, and its size.
struct Field {
  size_t offset, bytes;
};
/// The field of an attribute; null for one that products do not use.
const Field *fieldOf(cublasLtMatmulDescAttributes_t attribute);
const Field *fieldOf(cublasLtMatrixLayoutAttribute_t attribute);
const Field *fieldOf(cublasLtMatmulPreferenceAttributes_t attribute);

/// The product that an algorithm, cublasLtMatmulAlgo_t, was chosen for, and its
/// properties. A call with another product must ask for another algorithm.
struct Algorithm {
  uint64_t product; // a digest of types, shapes and attributes
  uint64_t workspaceBytes;
  uint32_t scheme;
  int32_t parts;         // that K is cut into
  uint8_t alignments[4]; // of A, B, C, D: powers of two
  int32_t number;        // kernels that compute the same have several
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

/// Everything about one call, by value: it runs later.
struct Product {
  Operation operation;
  Layout a, b, c, d;
  const void *dataA, *dataB, *dataC;
  void *dataD;
  float alpha, beta;
  Algorithm algorithm;
  void *workspace;

  /// The factor that an epilogue adds up over K into the bias.
  bool sumsA() const { return operation.epilogue == CUBLASLT_EPILOGUE_BGRADA; }
  bool sumsB() const { return operation.epilogue == CUBLASLT_EPILOGUE_BGRADB; }
  bool isTf32() const {
    return operation.computeType == CUBLAS_COMPUTE_32F_FAST_TF32;
  }
  int32_t processors() const {
    return operation.processors ? operation.processors : allProcessors();
  }
  int64_t depth() const {
    return static_cast<int64_t>(operation.transA == CUBLAS_OP_N ? a.columns
                                                                : a.rows);
  }
};

/// Whether there is such a product at all, whatever the algorithm.
cublasStatus_t checkProduct(const Product &product);
/// Algorithms for it, the fastest first.
std::vector<Algorithm> algorithmsFor(const Product &product,
                                     const Preference &wish);
/// Whether the algorithm is one of the product.
cublasStatus_t checkAlgorithm(const Product &product);
/// Time on the clock of the emulated driver, in addition to the real time: one
/// of the algorithms of a product is faster than the others.
double millisecondsOf(const Algorithm &algorithm);
/// Whether a call may use its algorithm and addresses.
cublasStatus_t checkCall(const Product &product, size_t workspaceBytes);

/// Computes it: f32 sums in the order of K, part by part.
void multiply(const Product &product);

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_CUBLASLTOBJECTS_H
