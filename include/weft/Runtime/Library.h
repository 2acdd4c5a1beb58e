//===- Library.h - Library routines a CPU program may call ------*- C++ -*-===//
//
// The contract between the compiler (which selects routines and emits their
// argument lists) and kernels/cpu (which implements them). For every routine:
// the buffers in order, the ints in order, the floats in order.
//
// Rules for all of them
//  - Buffers are dense and row-major unless said otherwise, and f32 unless an
//    argument gives their type. Such a dtype is f32 or what is listed: "low" is
//    f16 or bf16. Arithmetic and sums are in f32 (f64 where written) whatever
//    the types; a low result is rounded once, to nearest even. Optional
//    buffers, in square brackets, come last and are left out entirely when
//    their flag says so.
//  - Strides and sizes are in elements, never bytes. A buffer's address already
//    includes the offset of a view. The innermost stride is 1 unless there is
//    an argument for it. Any alignment of an element is accepted and changes no
//    bits.
//  - ids and targets are i32 or i64, as their dtype argument says (WeftDType).
//  - Outputs do not overlap inputs unless "in place" is written.
//  - accumulate: 0 overwrites the destination (old content is never read),
//    1 adds to it, 2 decides at run time: the last buffer is then an f32
//    scalar, 0 overwrites, anything else adds.
//  - rng is i64[2] = {seed, global number of the first row} (Philox.h).
//  - Same bits for every thread count (docs/kernels-cpu.md names exceptions).
//  - Wrong arguments and data (an index out of range) do not crash: the routine
//    reports through the context and the executor stops the program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_LIBRARY_H
#define WEFT_RUNTIME_LIBRARY_H

#include "weft/Runtime/Abi.h"

#include <stdbool.h>

/// Every routine once: X(symbol). Declares them below and registers them in
/// weftFindLibraryRoutine.
#define WEFT_LIBRARY_ROUTINES(X)                                               \
  X(weft_cpu_gemm)                                                             \
  X(weft_cpu_attention)                                                        \
  X(weft_cpu_attention_grad)                                                   \
  X(weft_cpu_cross_entropy)                                                    \
  X(weft_cpu_cross_entropy_grad)                                               \
  X(weft_cpu_embedding)                                                        \
  X(weft_cpu_embedding_grad)                                                   \
  X(weft_cpu_copy)                                                             \
  X(weft_cpu_fill)                                                             \
  X(weft_cpu_constant)                                                         \
  X(weft_cpu_accumulate)                                                       \
  X(weft_cpu_random_normal)                                                    \
  X(weft_cpu_random_uniform)                                                   \
  X(weft_cpu_dropout)                                                          \
  X(weft_cpu_dropout_grad)                                                     \
  X(weft_cpu_norm_and_check)                                                   \
  X(weft_cpu_total_norm)                                                       \
  X(weft_cpu_clip_coefficient)                                                 \
  X(weft_cpu_step_increment)                                                   \
  X(weft_cpu_scaler_update)                                                    \
  X(weft_cpu_adamw)                                                            \
  X(weft_cpu_adam)                                                             \
  X(weft_cpu_sgd)

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_DECLARE_ROUTINE(symbol)                                           \
  void symbol(struct WeftContext *context, const struct WeftCommand *command,  \
              void *const *buffers);
WEFT_LIBRARY_ROUTINES(WEFT_DECLARE_ROUTINE)
#undef WEFT_DECLARE_ROUTINE

/// The routine of that name, or null.
WeftLibraryFn weftFindLibraryRoutine(const char *name);

// clang-format off
//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//
//
// weft_cpu_gemm: C[b] = op(A[b]) op(B[b]) (+ bias over columns) (+ old C[b])
//   op(A) is M x K, op(B) is K x N, C is M x N, all row-major. With transA = 1
//   A is stored K x M, with transB = 1 B is stored N x K; lda, ldb, ldc are the
//   distances between stored rows.
//   A, B and bias have one dtype; C has it too or, for low ones, is f32. Bias and
//   old C are added to the f32 sum before the rounding.
//   buffers: A, B, C [, bias [N] if hasBias] [, flag f32 if accumulate = 2]
//   ints:    0 batch  1 M  2 N  3 K  4 transA  5 transB  6 lda  7 ldb  8 ldc
//            9 batchStrideA  10 batchStrideB (0 = the same matrix for every b)
//            11 batchStrideC  12 accumulate  13 hasBias
//            14 dtype of A, B and bias (f32, low)  15 dtype of C
//   floats:  none

// Scratch: memory of the context's workers outside the arena, shared by all
// routines. The functions ..._scratch_bytes raise bytes[w], for every worker w
// of `threads`, to what a call with these ints reserves at most.

/// False: arguments are wrong. Takes some milliseconds.
bool weft_cpu_gemm_scratch_bytes(const int64_t *ints, int64_t *bytes,
                                 int32_t threads);

/// Does ahead of a call what only its first run has to do: the plans are made
/// and scratch is reserved. Reports nothing about the arguments; the call does.
/// A program has it where it has weft_cpu_gemm.
void weft_cpu_gemm_prepare(struct WeftContext *context,
                           const struct WeftCommand *command);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//
//
// weft_cpu_attention: out = dropout(softmax(scale q k^T + mask)) v
//   Element (b, t, h, d) of a tensor lies at b * batch + t * row + h * head + d
//   with strides of its own, so q, k and v may be slices of one qkv tensor and
//   both [B,T,H,D] and [B,H,T,D] are served. Hkv divides H: query head h reads
//   key head h / (H / Hkv). causal: query i sees keys j <= i + (S - T).
//   A row that sees no key gives out = 0 and lse = -inf.
//   q, k, v and out (and all gradients) have one dtype.
//   lse: f32[B,H,T] dense, log of the sum of exponentials of the scaled scores.
//   Dropout drops probability (b, h, i, j) by the Philox number with key
//   (rng[0], opId), row rng[1] + b and element (h * T + i) * S + j.
//   buffers: q, k, v, out, lse [, rng if dropout > 0]
//   ints:    0 B  1 T  2 S  3 H  4 Hkv  5 D  6 causal  7 opId
//            8..10 q batch, row, head strides   11..13 k   14..16 v   17..19 out
//            20 dtype of q, k, v and out (f32, low)
//   floats:  0 scale  1 dropout probability in [0, 1]
//
// weft_cpu_attention_grad: gradients of q, k, v from dout
//   lse and out are those of the forward call. dq, dk, dv are overwritten.
//   Heads that share a key head are summed in head order.
//   buffers: dout, q, k, v, out, lse, dq, dk, dv [, rng if dropout > 0]
//   ints:    0..19 as in the forward routine (not 20)
//            20..22 dout batch, row, head strides   23..25 dq  26..28 dk
//            29..31 dv  32 dtype of all buffers but lse (f32, low)
//   floats:  0 scale  1 dropout

void weft_cpu_attention_scratch_bytes(const int64_t *ints, bool gradient,
                                      int64_t *bytes, int32_t threads);

//===----------------------------------------------------------------------===//
// Cross-entropy over the last dimension (PyTorch's definition)
//===----------------------------------------------------------------------===//
//
// weft_cpu_cross_entropy
//   With w = class weights (1 without), e = label smoothing and, over rows n
//   with targets[n] != ignoreIndex, logp = logits - lse:
//     mean: sum_n( -(1-e) w[y] logp[y] - (e/V) sum_c w[c] logp[c] ) / denom
//     sum:  the same without the division
//   denom = sum_n w[targets[n]] over the rows that count (mean), 1 (sum). No row
//   counts: mean is NaN as in PyTorch, sum is 0. A target outside [0, V) that is
//   not ignoreIndex is an error.
//   buffers: logits [N,V], targets [N], loss f32, lse f32[N], denom f32
//            [, class weights f32[V] if hasWeights]
//   ints:    0 N  1 V  2 ignoreIndex  3 reduction (0 mean, 1 sum)  4 hasWeights
//            5 dtype of targets  6 dtype of logits and dlogits (f32, low)
//   floats:  0 label smoothing
//
// weft_cpu_cross_entropy_grad: dlogits = dloss * d loss / d logits
//   dlogits may be the same buffer as logits (in place). Rows of ignoreIndex
//   get 0.
//   buffers: dloss f32, logits, targets, lse, denom, dlogits [N,V]
//            [, class weights if hasWeights]
//   ints, floats: as the forward routine

void weft_cpu_cross_entropy_scratch_bytes(const int64_t *ints, int64_t *bytes,
                                          int32_t threads);

//===----------------------------------------------------------------------===//
// Tables, copies, fills
//===----------------------------------------------------------------------===//
//
// weft_cpu_embedding: out[n, :] = table[ids[n], :] (any gather of rows)
//   buffers: table [V,C], ids [N], out [N,C]
//   ints:    0 N  1 V  2 C  3 dtype of ids  4 dtype of table and out (f32, low)
//
// weft_cpu_embedding_grad: dtable[v, :] (+)= sum over ids[n] == v of dout[n, :]
//   Summed in the order of n, with accumulate from the old content on. An f32
//   dtable is summed in f64 and rounded once; a low one is rounded after every
//   addition, as PyTorch does.
//   buffers: dout [N,C], ids [N], dtable [V,C] [, flag f32 if accumulate = 2]
//   ints:    0 N  1 V  2 C  3 dtype of ids  4 accumulate
//            5 dtype of dout (f32, low)  6 dtype of dtable (f32 or that of dout)
//
// weft_cpu_copy: dst[i...] = src[i...]; a source stride of 0 broadcasts
//   Strides may be negative. For rank 0 one element is copied.
//   buffers: src, dst
//   ints:    0 bytes per element (1, 2, 4 or 8)  1 rank (at most 8)
//            then rank dims, rank source strides, rank destination strides
//
// weft_cpu_fill: dst[i] = value
//   buffers: dst
//   ints:    0 WeftDType  1 count
//   floats:  0 value (for f16 and bf16 rounded to f32 first)
//
// weft_cpu_constant: dst = the listed values
//   buffers: dst
//   ints:    0 WeftDType  1 count, then for i1, i32 and i64 the values
//   floats:  for the other types the values, as in weft_cpu_fill
//
// weft_cpu_accumulate: out = flag == 0 ? value : old + value
//   old is not read when flag is 0. out may be old or value (in place).
//   buffers: old, value, flag f32, out
//   ints:    0 count  1 dtype of old, value and out (f32, low)

void weft_cpu_embedding_grad_scratch_bytes(const int64_t *ints, int64_t *bytes,
                                           int32_t threads);

//===----------------------------------------------------------------------===//
// Random numbers (definitions in Philox.h)
//===----------------------------------------------------------------------===//
//
// weft_cpu_random_normal: out[e] = mean + stddev * normal(key, e)
// weft_cpu_random_uniform: out[e] = low + (high - low) * uniform(key, e)
//   key = (seed, nameHash); element e counts from firstElement.
//   buffers: seed i64, out f32[count]
//   ints:    0 count  1 nameHash (philoxNameHash of the parameter's name)
//            2 firstElement (0 unless only a piece is made)
//   floats:  normal: 0 mean  1 stddev; uniform: 0 low  1 high
//
// weft_cpu_dropout: out = keep ? x / (1 - p) : 0
// weft_cpu_dropout_grad: the same function applied to the gradient
//   x is seen as [rows, rowSize]; element e of row r is kept by the number of
//   key (rng[0], opId), row rng[1] + r, element e. May be in place.
//   buffers: x, rng, out
//   ints:    0 rows  1 rowSize  2 opId  3 dtype of x and out (f32, low)
//   floats:  0 p in [0, 1]

//===----------------------------------------------------------------------===//
// Training step
//===----------------------------------------------------------------------===//
//
// weft_cpu_norm_and_check: norm = (sum over all gradients of |g|^p)^(1/p) (p =
//   inf: the largest |g|); bad = 1 if any element is not finite, else 0
//   f64 sums over fixed blocks of each gradient, added in order.
//   buffers: n gradients, norm f64, bad i1
//   ints:    0 n, then n element counts, then n dtypes (f32, low)
//   floats:  0 p (1, 2, 3, any positive number, or infinity)

void weft_cpu_norm_and_check_scratch_bytes(const int64_t *ints, int64_t *bytes,
                                           int32_t threads);

// weft_cpu_total_norm: out = (sum of norm[i]^p)^(1/p) over the norms whose skip
//   is 0 (p = inf: the largest), over all of them if none is; / scale
//   One counted norm is taken as it is. May not be in place.
//   buffers: n norms f64, n skips i1, out f64 [, scale f32 if hasScale]
//   ints:    0 n (at least 1)  1 hasScale
//   floats:  0 p
//
// weft_cpu_clip_coefficient
//   coef = min(1, max_norm / (norm + 1e-6)) as torch.nn.utils.clip_grad_norm_;
//   1 if max_norm is 0 (off). A norm that is not finite gives coef = 1: the
//   update is then skipped by `bad`, never clipped silently.
//   With a fourth buffer, coef is multiplied by f32(1 / f64(scale)). If that is
//   not finite and the norm is, the routine fails with code 6.
//   buffers: norm f64, max_norm f64, coef f32 [, scale f32]
//
// weft_cpu_step_increment: out = bad ? step : step + 1 (may be in place)
//   buffers: step i64, bad i1, out i64
//
// weft_cpu_scaler_update: the loss scale after a step (may be in place)
//   state = {tracker, last overflow, hysteresis left}; a product is taken in
//   f64 and rounded to f32 once.
//   grow:   scale = scale * growth, unless that is not finite
//   shrink: scale = max(scale * backoff, minimum); exhausted = scale is 0. A
//           scale at a positive minimum stays and exhausted = 1.
//   torch:     bad: shrink, tracker = 0; else ++tracker, and from interval on:
//              grow, tracker = 0
//   deepspeed: bad: shrink, or --hysteresis left while it is above 1; last
//              overflow = tracker. Else if (tracker - last overflow) is a
//              multiple of interval: hysteresis left = hysteresis, grow. Then
//              ++tracker
//              Consecutive: a clean step sets hysteresis left = hysteresis
//   mmcv:      as deepspeed with hysteresis 1
//   deepspeed_fused: as mmcv, but grows if (tracker - last overflow - 1) is a
//              positive multiple of interval
//   colossalai: bad: --hysteresis left (not below 0), shrink if it is 0 then,
//              tracker = 0; else ++tracker, and at interval: hysteresis left =
//              hysteresis, grow, tracker = 0
//   buffers: scale f32, state i64[3], bad i1, new scale f32, new state i64[3],
//            exhausted i1
//   ints:    0 policy (0 torch, 1 deepspeed, 2 mmcv, 3 deepspeed_fused,
//            4 colossalai)  1 interval  2 hysteresis  3 consecutive (0 or 1)
//   floats:  0 growth  1 backoff  2 minimum
//
// weft_cpu_adamw, weft_cpu_adam: PyTorch's update, in place
//   The gradient is multiplied by coef first. step is the number of this update
//   (1 for the first). Nothing is written if bad is set, but the working copy:
//   that is always the parameter rounded to its dtype, the new one or the old.
//   buffers: param, exp_avg, exp_avg_sq, grad, coef f32, bad i1, step i64,
//            lr f64, weight_decay f64, beta1 f64, beta2 f64, eps f64
//            [, working copy if its dtype is not -1]
//   ints:    0 count  1 dtype of param (f32, low)  2 dtype of grad (f32, low)
//            3 dtype of the working copy (low), -1 without
//   floats:  0 lr scale  1 decay scale (0 = no decay, 1 = weight_decay)
//
// weft_cpu_sgd: PyTorch's SGD (dampening 0), in place, skipped if bad is set
//   At step 1 the momentum buffer becomes the gradient; before, it is not read.
//   The working copy as above.
//   buffers: param, momentum_buffer, grad, coef f32, bad i1, step i64, lr f64,
//            weight_decay f64, momentum f64
//            [, working copy if its dtype is not -1]
//   ints:    0 count  1 nesterov  2 dtype of param  3 dtype of grad
//            4 dtype of the working copy, -1 without
//   floats:  0 lr scale  1 decay scale
//
// clang-format on

#ifdef __cplusplus
} // extern "C"
#endif

#endif // WEFT_RUNTIME_LIBRARY_H
