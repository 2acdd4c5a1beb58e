//===- AttentionGraphs.h - Attention as graphs of cuDNN ---------*- C++ -*-===//
//
// Operation by operation the graphs that cudnn-frontend 1.32 makes of sdpa and
// sdpa_backward (causal mask, statistics, deterministic algorithm or not): the
// library knows attention by this form.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_ATTENTIONGRAPHS_H
#define WEFT_KERNELS_CUDA_ATTENTIONGRAPHS_H

#include "Cudnn.h"

#include "weft/Abi/CudnnAttention.h"
#include "weft/Abi/Records.h"

namespace weft::cuda {

/// Numbers of the tensors that a run gives.
enum AttentionTensor : int64_t {
  kQuery = 1,
  kKey = 2,
  kValue = 3,
  kOut = 4,
  kStatistics = 5,
  kGradOut = 6,
  kGradQuery = 7,
  kGradKey = 8,
  kGradValue = 9,
  kRowSums = 10,
  kScale = 11,     // of scores
  kMasked = 12,    // the score of a key that is not seen; causal alone
  kOne = 13,       // what sums of rows are multiplied with
  kQuerySums = 14, // f32 gradients of queries; without a fixed order alone
};

/// Plans for a record without wrong fields (CudnnAttention.h) in at most that
/// many bytes, on a chip: 90 for sm_90.
Expected<CudnnPlan> planForward(const Cudnn &library,
                                const WeftAttentionRecord &record,
                                int64_t mostBytes);
Expected<CudnnPlan> planBackward(const Cudnn &library,
                                 const WeftAttentionGradRecord &record,
                                 int64_t mostBytes, int64_t chip,
                                 CudnnOrder order = CudnnOrder::Fixed);

} // namespace weft::cuda

#endif // WEFT_KERNELS_CUDA_ATTENTIONGRAPHS_H
