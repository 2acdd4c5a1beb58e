//===- CpuProducts.h - Products that the CPU computes -----------*- C++ -*-===//
//
// Rules for a WeftGemmRecord that the compiler and the routine share.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_CPUPRODUCTS_H
#define WEFT_ABI_CPUPRODUCTS_H

#include "weft/Abi/Executable.h"

#include <algorithm>
#include <string>

namespace weft {

inline int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
inline int64_t countPieces(int64_t size, int64_t piece) {
  return size / piece + (size % piece != 0);
}

/// Limits of a product: of batch, m, n and k, also after mergeBatch(); of the
/// elements of a matrix; of the row stride in elements. They are far above the
/// memory of a machine and below the sizes where oneDNN's arithmetic overflows.
constexpr int64_t kMostRows = int64_t(1) << 30;
constexpr int64_t kMostElements = int64_t(1) << 34;
constexpr int64_t kMostStride = int64_t(1) << 32;

/// The rule that the record breaks, as text for a diagnostic, or "".
inline std::string findWrongProduct(const WeftGemmRecord &s) {
  auto say = [](const char *rule, int64_t value) {
    return std::string("expects ") + rule + ", but got " +
           std::to_string(value);
  };
  int64_t least = std::min({s.batch, s.m, s.n, s.k});
  int64_t most = std::max({s.batch, s.m, s.n, s.k});
  if (least < 1)
    return say("batch, M, N and K of at least 1", least);
  if (most > kMostRows ||
      std::max({s.m * s.k, s.k * s.n, s.m * s.n}) > kMostElements)
    return say("batch, M, N and K of at most 2^30 and matrices of at most 2^34 "
               "elements",
               most);
  if (int64_t stride = std::max({s.lda, s.ldb, s.ldc}); stride > kMostStride)
    return say("rows at most 2^32 elements apart", stride);
  if (s.lda < (s.transA ? s.m : s.k))
    return say("lda of at least the length of a row of A", s.lda);
  if (s.ldb < (s.transB ? s.k : s.n))
    return say("ldb of at least the length of a row of B", s.ldb);
  if (s.ldc < s.n)
    return say("ldc of at least N", s.ldc);
  if (s.batch > 1 && s.batchStrideC < (s.m - 1) * s.ldc + s.n)
    return say("a batch stride of C that keeps results apart", s.batchStrideC);
  if (s.batchStrideA < 0 || s.batchStrideB < 0)
    return say("batch strides of at least 0",
               std::min(s.batchStrideA, s.batchStrideB));
  if (s.batch > 1 && s.batchStrideA == 0 && s.batchStrideB == 0)
    return "expects A or B to differ within a batch, but got strides 0";
  if (s.accumulate < 0 || s.accumulate > 2)
    return say("accumulate of 0, 1 or 2", s.accumulate);
  if (s.dtype != WEFT_F32 && s.dtype != WEFT_F16 && s.dtype != WEFT_BF16)
    return say("A and B of dtype f32 (0), f16 (2) or bf16 (3)", s.dtype);
  if (s.dtypeC != WEFT_F32 && s.dtypeC != s.dtype)
    return say("C of dtype f32 (0) or the dtype of A", s.dtypeC);
  if (s.epilogue < WEFT_EPILOGUE_NONE || s.epilogue > WEFT_EPILOGUE_GELU_GRAD)
    return say("an epilogue of 0 to 4", s.epilogue);
  return "";
}

/// Merges the batches into one larger product if they share B and the rows of A
/// and C follow each other across batches.
inline void mergeBatch(WeftGemmRecord &s) {
  bool rowsFollow = !s.transA && s.batchStrideA == s.m * s.lda &&
                    s.batchStrideC == s.m * s.ldc && s.batchStrideB == 0;
  if (s.batch > 1 && rowsFollow && s.m <= kMostRows / s.batch) {
    s.m *= s.batch;
    s.batch = 1;
  }
  if (s.batch == 1)
    s.batchStrideA = s.batchStrideB = s.batchStrideC = 0;
}

} // namespace weft

#endif // WEFT_ABI_CPUPRODUCTS_H
