//===- GemmPlan.h - How a matrix product runs through cuBLASLt --*- C++ -*-===//

#ifndef WEFT_KERNELS_CUDA_GEMMPLAN_H
#define WEFT_KERNELS_CUDA_GEMMPLAN_H

#include "BlasLt.h"

#include "weft/Runtime/Execute/Records.h"

#include <array>

namespace weft::cuda {

/// Device addresses; null where the record has none.
struct GemmOperands {
  const void *a, *b;
  void *c;
  const void *bias;
  void *aux, *columnSum;
};

/// Largest powers of two, at most 256, that divide the addresses of the
/// operands: algorithms ask for some.
using GemmAlignments = std::array<int64_t, 5>;
GemmAlignments alignmentsOf(const GemmOperands &operands);

/// A product as cuBLASLt is told: it is column-major, so C^T = B^T A^T, and its
/// first factor is B.
struct GemmPlan {
  MatmulDescription operation{nullptr, nullptr};
  MatrixLayout first{nullptr, nullptr}, second{nullptr, nullptr},
      target{nullptr, nullptr};
  cublasLtMatmulAlgo_t algorithm;
  size_t workspaceBytes = 0; // of the algorithm
};

/// Plans a product that is not empty, of a record without wrong fields and
/// after mergeBatch(), for operands of the given alignments in at most
/// `workspaceBytes`. Exit 4 where that is too little.
///
/// The algorithm is the first of the library's own order; a list of measured
/// ones would be asked for here, before the library.
Expected<GemmPlan> makePlan(const BlasLt &library, const WeftGemmRecord &record,
                            const GemmOperands &operands,
                            int64_t workspaceBytes);

/// Gives the product to the stream; `adds`: to what C holds, which is not read
/// otherwise.
Status enqueue(const BlasLt &library, const GemmPlan &plan,
               const GemmOperands &operands, bool adds, void *workspace,
               void *stream);

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_GEMMPLAN_H
