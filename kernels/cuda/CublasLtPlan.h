//===- CublasLtPlan.h - Choice of a cuBLASLt algorithm ----------*- C++ -*-===//

#ifndef WEFT_KERNELS_CUDA_CUBLASLTPLAN_H
#define WEFT_KERNELS_CUDA_CUBLASLTPLAN_H

#include "BlasLt.h"

#include "weft/Abi/Records.h"

#include <array>
#include <cstddef>
#include <tuple>
#include <vector>

namespace weft::cuda {

/// Device addresses; null where the record has none.
struct GemmOperands {
  const void *a, *b;
  void *c;
  const void *bias;
  void *aux, *columnSum;
  void *factorSum; // of A or of B

  /// The pointer that the library reads or writes as a bias. A call has at most
  /// one of the three.
  const void *biasOrSum() const {
    return bias ? bias : columnSum ? columnSum : factorSum;
  }
};

/// Largest powers of two, at most 256, that divide the addresses of the
/// operands: algorithms ask for some.
using GemmAlignments = std::array<int64_t, 5>;
GemmAlignments alignmentsOf(const GemmOperands &operands);

/// The key by which an algorithm is chosen: the fields of a record in order but
/// for the last one, besideCollectives, the alignments of its operands and the
/// bytes of its workspace.
using GemmFields = std::array<int64_t, sizeof(WeftGemmRecord) / 8 - 1>;
static_assert(offsetof(WeftGemmRecord, besideCollectives) ==
              sizeof(GemmFields));
using GemmKey = std::tuple<GemmFields, GemmAlignments, int64_t>;
GemmKey keyOf(const WeftGemmRecord &record, const GemmOperands &operands,
              int64_t workspaceBytes);
/// "a product of 1 x 64 x 512 x 128 (batch, M, N, K)"
inline std::string describeProduct(const WeftGemmRecord &s) {
  return concat("a product of ", s.batch, " x ", s.m, " x ", s.n, " x ", s.k,
                " (batch, M, N, K)");
}

/// A product as cuBLASLt is told: it is column-major, so C^T = B^T A^T, and its
/// first factor is B.
struct GemmPlan {
  MatmulDescription operation{nullptr, nullptr};
  MatrixLayout first{nullptr, nullptr}, second{nullptr, nullptr},
      target{nullptr, nullptr};
  cublasLtMatmulAlgo_t algorithm;
  size_t workspaceBytes = 0; // of the algorithm
  /// Whether bits do not depend on the number of multiprocessors that run it:
  /// each element of C is the work of one block. Without a workspace blocks
  /// have no place to meet.
  bool mayShare = false;
};

/// Plans a product that is not empty, of a record without wrong fields and
/// after mergeBatch(), for operands of the given alignments in at most
/// `workspaceBytes`. Exit 4 where that is too little.
///
/// The algorithm is `tuned` if it is not null, exit 3 where that will not do;
/// else the first of the library's own order.
Expected<GemmPlan> makePlan(const BlasLt &library, const WeftGemmRecord &record,
                            const GemmOperands &operands,
                            int64_t workspaceBytes,
                            const cublasLtMatmulAlgo_t *tuned = nullptr);

/// One algorithm of the library, and the bytes it works in.
struct GemmAlgorithm {
  cublasLtMatmulAlgo_t algorithm;
  size_t workspaceBytes;
};

/// All that makePlan could choose among, in the library's own order.
Expected<std::vector<GemmAlgorithm>>
findAlgorithms(const BlasLt &library, const WeftGemmRecord &record,
               const GemmPlan &plan, const GemmOperands &operands,
               int64_t workspaceBytes);

/// How one call of a product runs.
struct GemmCall {
  bool adds;   // to what C holds, which is not read otherwise
  bool shares; // leaves multiprocessors to collectives, if the plan may
};

/// Gives the product to the stream.
Status enqueue(const BlasLt &library, const GemmPlan &plan,
               const GemmOperands &operands, GemmCall call, void *workspace,
               void *stream);

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_CUBLASLTPLAN_H
