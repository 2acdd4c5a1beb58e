//===- CudnnAttention.h - Attention that cuDNN computes ---------*- C++ -*-===//
//
// Rules that the compiler and the runtime share for --attention=cudnn: the
// records that cuDNN accepts, and its workspaces. The routines have the records
// and buffers of weft_cuda_attention and weft_cuda_attention_grad.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_CUDNNATTENTION_H
#define WEFT_ABI_CUDNNATTENTION_H

#include "weft/Abi/Executable.h"
#include "weft/Abi/RecordTypes.h"

#include <string>

namespace weft {

/// Alignment of tensors, rows and heads, in elements: 16 bytes.
constexpr int64_t kCudnnElements = 8;
/// Alignment in bytes of workspaces and of their parts.
constexpr int64_t kCudnnAlignment = 256;

/// Largest head size, forward and backward. `chip` is 90 for sm_90.
inline int64_t mostCudnnHeadSize(int64_t chip) {
  return chip / 10 == 9 ? 256 : 128;
}

/// The rule of cuDNN that attention breaks on a chip, or "".
inline std::string findWrongCudnnAttention(const WeftAttentionRecord &s,
                                           int64_t chip) {
  const std::string on = " with --attention=cudnn, but got ";
  const int64_t most = mostCudnnHeadSize(chip);
  if (s.dtype != WEFT_F16 && s.dtype != WEFT_BF16)
    return "expects heads of f16 or bf16" + on + "f32";
  if (s.headSize % kCudnnElements != 0 || s.headSize > most)
    return "expects heads of a multiple of 8 elements, at most " +
           std::to_string(most) + " on sm_" + std::to_string(chip) + "," + on +
           std::to_string(s.headSize);
  if (s.dropout != 0.0)
    return "expects no dropout, because cuDNN draws other masks," + on +
           std::to_string(s.dropout);
  if (s.causal && s.queries != s.keys)
    return "expects as many keys as queries of causal attention" + on +
           std::to_string(s.keys) + " and " + std::to_string(s.queries);
  return "";
}

/// The same for a tensor with these strides.
inline std::string findWrongCudnnStrides(const WeftHeadStrides &strides) {
  for (int64_t stride : {strides.batch, strides.row, strides.head})
    if (stride % kCudnnElements != 0)
      return "expects strides of multiples of 8 elements with "
             "--attention=cudnn, but got " +
             std::to_string(stride);
  return "";
}

/// The same for what may follow the record: the graphs have none of it.
inline std::string findWrongCudnnVariant(const WeftAttentionVariant &variant) {
  const std::string on = " with --attention=cudnn, but got ";
  if (variant.window)
    return "expects no window" + on + std::to_string(variant.window);
  if (variant.hasSegments)
    return "expects no segments with --attention=cudnn, but got some";
  if (variant.softcap != 0.0)
    return "expects no softcap" + on + std::to_string(variant.softcap);
  return "";
}

inline std::string
findWrongCudnnForward(const WeftAttentionRecord &s, int64_t chip,
                      const WeftAttentionVariant &variant = {}) {
  std::string wrong = findWrongCudnnAttention(s, chip);
  if (wrong.empty())
    wrong = findWrongCudnnVariant(variant);
  for (const WeftHeadStrides *strides : {&s.q, &s.k, &s.v, &s.out})
    if (wrong.empty())
      wrong = findWrongCudnnStrides(*strides);
  return wrong;
}

inline std::string
findWrongCudnnGradient(const WeftAttentionGradRecord &s, int64_t chip,
                       const WeftAttentionVariant &variant = {}) {
  std::string wrong = findWrongCudnnForward(s.forward, chip, variant);
  for (const WeftHeadStrides *strides : {&s.dout, &s.dq, &s.dk, &s.dv})
    if (wrong.empty())
      wrong = findWrongCudnnStrides(*strides);
  return wrong;
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

inline int64_t roundUpCudnn(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The sums over dout * out of all rows, which our graph keeps in the
/// workspace.
inline int64_t cudnnRowSumBytes(const WeftAttentionRecord &s) {
  return roundUpCudnn(s.batch * s.heads * s.queries * 4, kCudnnAlignment);
}

/// Forward engines need at most 256 bytes. This number and the following ones
/// come from the plans of cuDNN 9.19 (docs/explanation/kernels-cuda.md).
constexpr int64_t kCudnnEngineBytes = 256;

/// How cuDNN adds up the gradients of queries. `Any` differs from run to run.
enum class CudnnOrder { Fixed, Any };

/// The f32 sums of the gradients of queries, which a graph of the order `Any`
/// keeps in the workspace.
inline int64_t cudnnQuerySumBytes(const WeftAttentionRecord &s,
                                  CudnnOrder order) {
  return order == CudnnOrder::Fixed
             ? 0
             : roundUpCudnn(s.batch * s.heads * s.queries * s.headSize * 4,
                            kCudnnAlignment);
}

/// Backward in a fixed order, before sm_100: the gradients of the scores, two
/// bytes each, in tiles of 64 queries and 128 keys. If heads share keys:
/// gradients of keys and values for each query head, two bytes each, or four
/// from sm_100 on. In any order, before sm_90: sums of the gradients of queries
/// once more, in tiles of 8 queries.
inline int64_t cudnnGradEngineBytes(const WeftAttentionRecord &s, int64_t chip,
                                    CudnnOrder order = CudnnOrder::Fixed) {
  int64_t bytes = kCudnnEngineBytes;
  if (chip < 100 && order == CudnnOrder::Fixed)
    bytes += s.batch * s.heads * roundUpCudnn(s.queries, 64) *
             roundUpCudnn(s.keys, 128) * 2;
  if (chip < 90 && order == CudnnOrder::Any)
    bytes += s.batch * s.heads * roundUpCudnn(s.queries, 8) * s.headSize * 4;
  if (s.keyHeads != s.heads)
    bytes += 2 * roundUpCudnn(s.batch * s.heads * s.keys * s.headSize *
                                  (chip < 100 ? 2 : 4),
                              kCudnnAlignment);
  return bytes;
}

/// Workspace bytes of a WEFT_ATTENTION or WEFT_ATTENTION_GRAD command,
/// including the padding that aligns it to kCudnnAlignment.
inline int64_t cudnnWorkspaceBytes(WeftCommandKind kind, const void *record,
                                   int64_t chip,
                                   CudnnOrder order = CudnnOrder::Fixed) {
  const auto &s = *static_cast<const WeftAttentionRecord *>(record);
  return kCudnnAlignment +
         (kind == WEFT_ATTENTION_GRAD
              ? cudnnRowSumBytes(s) + cudnnQuerySumBytes(s, order) +
                    cudnnGradEngineBytes(s, chip, order)
              : kCudnnEngineBytes);
}

} // namespace weft

#endif // WEFT_ABI_CUDNNATTENTION_H
