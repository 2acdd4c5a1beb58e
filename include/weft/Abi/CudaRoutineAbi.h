//===- CudaRoutineAbi.h - Hand-written CUDA routines ------------*- C++ -*-===//
//
// The contract of CpuRoutineAbi.h holds for a device as well: records, buffers
// (all device addresses) and meaning are the same as for the CPU's routine of
// the kind. A routine checks its record and launches work into the command's
// stream (Launch.h). docs/explanation/kernels-cuda.md says what differs: an id
// out of range makes a row of NaN instead of an error.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_CUDAROUTINEABI_H
#define WEFT_ABI_CUDAROUTINEABI_H

#include "weft/Abi/Executable.h"

/// Every routine of kernels/cuda once: X(symbol).
#define WEFT_CUDA_ROUTINES(X)                                                  \
  X(weft_cuda_attention)                                                       \
  X(weft_cuda_attention_grad)                                                  \
  X(weft_cuda_all_gather)                                                      \
  X(weft_cuda_all_reduce)                                                      \
  X(weft_cuda_constant)                                                        \
  X(weft_cuda_copy)                                                            \
  X(weft_cuda_embedding)                                                       \
  X(weft_cuda_embedding_grad)                                                  \
  X(weft_cuda_fill)                                                            \
  X(weft_cuda_own_slice)                                                       \
  X(weft_cuda_rank)                                                            \
  X(weft_cuda_reduce_scatter)

/// Every routine of attention through cuDNN once, of builds that have its
/// headers: X(symbol). `_or_own` falls back to the own routine, and `_prepare`
/// plans a command before the first run.
#define WEFT_CUDNN_ROUTINES(X)                                                 \
  X(weft_cuda_attention_cudnn)                                                 \
  X(weft_cuda_attention_cudnn_prepare)                                         \
  X(weft_cuda_attention_cudnn_or_own)                                          \
  X(weft_cuda_attention_cudnn_or_own_prepare)                                  \
  X(weft_cuda_attention_grad_cudnn)                                            \
  X(weft_cuda_attention_grad_cudnn_nondeterministic)                           \
  X(weft_cuda_attention_grad_cudnn_nondeterministic_prepare)                   \
  X(weft_cuda_attention_grad_cudnn_or_own)                                     \
  X(weft_cuda_attention_grad_cudnn_or_own_nondeterministic)                    \
  X(weft_cuda_attention_grad_cudnn_or_own_nondeterministic_prepare)

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_DECLARE_ROUTINE(symbol)                                           \
  void symbol(struct WeftContext *context, const struct WeftCommand *command,  \
              void *const *buffers);
WEFT_CUDA_ROUTINES(WEFT_DECLARE_ROUTINE)
WEFT_CUDNN_ROUTINES(WEFT_DECLARE_ROUTINE)
#undef WEFT_DECLARE_ROUTINE

#ifdef __cplusplus
} // extern "C"
#endif

#endif // WEFT_ABI_CUDAROUTINEABI_H
