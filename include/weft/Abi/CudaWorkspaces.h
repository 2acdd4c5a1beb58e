//===- CudaWorkspaces.h - Workspaces of CUDA routines -----------*- C++ -*-===//
//
// As CpuWorkspaces.h says of the CPU, in bytes from the record of a command;
// the workspace is device memory.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_CUDAWORKSPACES_H
#define WEFT_ABI_CUDAWORKSPACES_H

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Abi/RecordTypes.h"

namespace weft {

/// Elements of a head at most: the compiler says so before.
constexpr int64_t kMostHeadSize = 256;
/// The widths of heads that attention has kernels for.
constexpr int64_t kHeadWidths[] = {64, 128, kMostHeadSize};
/// The least one that a head fits.
constexpr int64_t cudaHeadWidth(int64_t headSize) {
  for (int64_t width : kHeadWidths)
    if (headSize <= width)
      return width;
  return kMostHeadSize;
}
/// Each constant that the device keeps begins at a multiple of it.
constexpr int64_t kConstantAlignment = 256;
inline int64_t alignConstant(int64_t bytes) {
  return (bytes + kConstantAlignment - 1) / kConstantAlignment *
         kConstantAlignment;
}

/// The sums over dout * out of all rows.
inline int64_t
cudaAttentionGradWorkspaceBytes(const WeftAttentionGradRecord &s) {
  const WeftAttentionRecord &f = s.forward;
  return f.batch * f.heads * f.queries * 4;
}

/// Positions sorted by id, twice, and where each row's begin.
inline int64_t
cudaEmbeddingGradWorkspaceBytes(const WeftEmbeddingGradRecord &s) {
  return s.count * 16 + (s.rows + 1) * 4;
}

/// The slices of all ranks, of a type that can be summed.
inline int64_t cudaReduceScatterBytes(const WeftReduceScatterRecord &s) {
  const int64_t elementBytes = s.dtype == WEFT_F64   ? 8
                               : s.dtype == WEFT_F32 ? 4
                                                     : 2;
  return s.among.ranks * s.elements * elementBytes;
}

/// The numbers of all ranks as f64.
inline int64_t cudaAllReduceBytes(const WeftAllReduceRecord &s) {
  return s.among.ranks * s.count * int64_t(sizeof(double));
}

/// Bytes of the workspace of a command with that record; 0: it has none.
inline int64_t cudaWorkspaceBytes(WeftCommandKind kind, const void *record) {
  switch (kind) {
  case WEFT_ATTENTION_GRAD:
    return cudaAttentionGradWorkspaceBytes(
        *static_cast<const WeftAttentionGradRecord *>(record));
  case WEFT_EMBEDDING_GRAD:
    return cudaEmbeddingGradWorkspaceBytes(
        *static_cast<const WeftEmbeddingGradRecord *>(record));
  default:
    return 0;
  }
}

} // namespace weft

#endif // WEFT_ABI_CUDAWORKSPACES_H
