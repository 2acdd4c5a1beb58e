//===- Library.h - Library routines a CPU program may call ------*- C++ -*-===//
//
// The contract between the compiler (which selects routines and fills their
// records) and kernels/cpu (which implements them). A kind of command `x` of
// Records.h is the routine weft_cpu_x. Here is what each one computes from the
// fields of its record, and its buffers in order.
//
// Rules for all of them
//  - Buffers are dense and row-major unless said otherwise, and f32 unless a
//    field gives their type. Such a dtype is f32 or what is listed: "low" is
//    f16 or bf16. Arithmetic and sums are in f32 (f64 where written) whatever
//    the types; a low result is rounded once, to nearest even. Optional
//    buffers, in square brackets, come last and are left out entirely when
//    their flag says so.
//  - Strides and sizes are in elements, never bytes. A buffer's address already
//    includes the offset of a view. The innermost stride is 1 unless there is
//    a field for it. Any alignment of an element is accepted and changes no
//    bits.
//  - ids and targets are i32 or i64, as their dtype says.
//  - Outputs do not overlap inputs unless "in place" is written.
//  - accumulate is a WeftAccumulate; for WEFT_ADD_IF_FLAG the flag, an f32
//    scalar, is the last buffer: 0 overwrites, anything else adds.
//  - A routine of Workspaces.h, or of another dialect whose model asks for one,
//    has a workspace behind all other buffers, whose contents mean nothing
//    before and after; one that is too small is an error.
//  - rng is i64[2] = {seed, global number of the first row} (Philox.h).
//  - Same bits for every thread count (docs/kernels-cpu.md names exceptions).
//  - Wrong records and data (an index out of range) do not crash: the routine
//    reports through the context and the executor stops the program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_LIBRARY_H
#define WEFT_RUNTIME_EXECUTE_LIBRARY_H

#include "weft/Runtime/Execute/Abi.h"

/// Every routine once: X(symbol).
#define WEFT_LIBRARY_ROUTINES(X) WEFT_COMMAND_KINDS_FOR(WEFT_ROUTINE_OF_KIND, X)
#define WEFT_ROUTINE_OF_KIND(X, number, KIND, name, Record) X(weft_cpu_##name)

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
//   op(A) is m x k, op(B) is k x n, C is m x n, all row-major. With transA A is
//   stored k x m, with transB B is stored n x k; lda, ldb, ldc are the distances
//   between stored rows. A batch stride of 0, of A or of B, is the same matrix
//   for every b.
//   A, B and bias have one dtype (f32, low); C has it too or, for low ones, is
//   f32. Bias and old C are added to the f32 sum before the rounding.
//   Runs in the fastest way that needs no more than its workspace.
//   The CPU has no epilogue: that field, hasAux and hasColumnSum are 0.
//   buffers: A, B, C [, bias [n] if hasBias] [, aux] [, column sum]
//            [, the flag of accumulate]

/// Does ahead of a call what only its first run has to do: the plans are made.
/// Reports nothing about the record; the call does.
/// A program has it where it has weft_cpu_gemm.
void weft_cpu_gemm_prepare(struct WeftContext *context,
                           const struct WeftCommand *command);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//
//
// weft_cpu_attention: out = dropout(softmax(scale q k^T + mask)) v
//   With B = batch, T = queries, S = keys, H = heads, D = headSize.
//   Element (b, t, h, d) of a tensor lies at b * batch + t * row + h * head + d
//   with strides of its own, so q, k and v may be slices of one qkv tensor and
//   both [B,T,H,D] and [B,H,T,D] are served. keyHeads divides H: query head h
//   reads key head h / (H / keyHeads). causal: query i sees the keys
//   j <= i + (S - T). A row that sees no key gives out = 0 and lse = -inf.
//   q, k, v and out (and all gradients) have one dtype (f32, low).
//   lse: f32[B,H,T] dense, log of the sum of exponentials of the scaled scores.
//   dropout, in [0, 1], drops probability (b, h, i, j) by the Philox number with
//   key (rng[0], opId), row rng[1] + b and element (h * T + i) * S + j.
//   buffers: q, k, v, out, lse [, rng if dropout > 0]
//
// weft_cpu_attention_grad: gradients of q, k, v from dout
//   lse and out are those of the forward call. dq, dk, dv are overwritten.
//   Heads that share a key head are summed in head order.
//   buffers: dout, q, k, v, out, lse, dq, dk, dv [, rng if dropout > 0]

//===----------------------------------------------------------------------===//
// Cross-entropy over the last dimension (PyTorch's definition)
//===----------------------------------------------------------------------===//
//
// weft_cpu_cross_entropy
//   With V = classes, w = class weights (1 without), e = labelSmoothing, in
//   [0, 1], and, over rows n with targets[n] != ignoreIndex, logp = logits - lse:
//     mean: sum_n( -(1-e) w[y] logp[y] - (e/V) sum_c w[c] logp[c] ) / denom
//     sum:  the same without the division
//   denom = sum_n w[targets[n]] over the rows that count (mean), 1 (sum). No row
//   counts: mean is NaN as in PyTorch, sum is 0. A target outside [0, V) that is
//   not ignoreIndex is an error. Logits and their gradient are f32 or low.
//   buffers: logits [rows,V], targets [rows], loss f32, lse f32[rows], denom f32
//            [, class weights f32[V] if hasWeights]
//
// weft_cpu_cross_entropy_grad: dlogits = dloss * d loss / d logits
//   dlogits may be the same buffer as logits (in place). Rows of ignoreIndex
//   get 0.
//   buffers: dloss f32, logits, targets, lse, denom, dlogits [rows,V]
//            [, class weights if hasWeights]

//===----------------------------------------------------------------------===//
// Tables, copies, fills
//===----------------------------------------------------------------------===//
//
// weft_cpu_embedding: out[n, :] = table[ids[n], :] (any gather of rows)
//   Table and out have one dtype (f32, low).
//   buffers: table [rows,columns], ids [count], out [count,columns]
//
// weft_cpu_embedding_grad: dtable[v, :] (+)= sum over ids[n] == v of dout[n, :]
//   Summed in the order of n, with accumulate from the old content on. An f32
//   dtable is summed in f64 and rounded once; a low one, which has the dtype of
//   dout, is rounded after every addition, as PyTorch does.
//   buffers: dout [count,columns], ids [count], dtable [rows,columns]
//            [, the flag of accumulate]

// weft_cpu_copy: dst[i...] = src[i...]; a source stride of 0 broadcasts
//   Strides may be negative. Without dimensions one element is copied.
//   buffers: src, dst
//
// weft_cpu_fill: dst[i] = value
//   Any dtype.
//   buffers: dst
//
// weft_cpu_constant: dst = the listed values
//   Any dtype; numbers of floats become elements as in weft_cpu_fill.
//   buffers: dst
//
// weft_cpu_accumulate: out = flag == 0 ? value : old + value
//   old is not read when flag is 0. out may be old or value (in place). dtype:
//   f32 or low.
//   buffers: old, value, flag f32, out

//===----------------------------------------------------------------------===//
// Random numbers (definitions in Philox.h)
//===----------------------------------------------------------------------===//
//
// weft_cpu_random_normal: out[e] = mean + deviation * normal(key, e)
// weft_cpu_random_uniform: out[e] = low + (high - low) * uniform(key, e)
//   key = (seed, nameHash); element e counts from firstElement.
//   buffers: seed i64, out f32[elements]
//
// weft_cpu_dropout: out = keep ? x / (1 - probability) : 0, or its gradient
//   x is seen as [rows, rowSize]; element e of row r is kept by the number of
//   key (rng[0], opId), row rng[1] + r, element e. May be in place. dtype: f32
//   or low.
//   buffers: x, rng, out

//===----------------------------------------------------------------------===//
// Training step
//===----------------------------------------------------------------------===//
//
// weft_cpu_norm_and_check: norm = (sum over all gradients of |g|^p)^(1/p) (p =
//   inf: the largest |g|); bad = 1 if any element is not finite, else 0
//   f64 sums over fixed blocks of each gradient, added in order. p is 1, 2, 3,
//   any positive number, or infinity; gradients are f32 or low.
//   buffers: `count` gradients, norm f64, bad i1

// weft_cpu_total_norm: out = (sum of norm[i]^p)^(1/p) over the norms whose skip
//   is 0 (p = inf: the largest), over all of them if none is; / scale
//   At least one norm; one counted norm is taken as it is. May not be in place.
//   buffers: `norms` norms f64, as many skips i1, out f64
//            [, scale f32 if hasScale]
//
// weft_cpu_clip_coefficient
//   coef = min(1, max_norm / (norm + 1e-6)) as torch.nn.utils.clip_grad_norm_;
//   1 if max_norm is 0 (off). A norm that is not finite gives coef = 1: the
//   update is then skipped by `bad`, never clipped silently.
//   With a scale, coef is multiplied by f32(1 / f64(scale)). If that is not
//   finite and the norm is, the routine fails with code 6.
//   buffers: norm f64, max_norm f64, coef f32 [, scale f32 if hasScale]
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
//   WEFT_SCALER_TORCH: bad: shrink, tracker = 0; else ++tracker, and from
//              interval on: grow, tracker = 0
//   WEFT_SCALER_DEEPSPEED: bad: shrink, or --hysteresis left while it is above
//              1; last overflow = tracker. Else if (tracker - last overflow) is
//              a multiple of interval: hysteresis left = hysteresis, grow. Then
//              ++tracker
//              consecutive: a clean step sets hysteresis left = hysteresis
//   WEFT_SCALER_MMCV: as deepspeed with hysteresis 1
//   WEFT_SCALER_DEEPSPEED_FUSED: as mmcv, but grows if (tracker - last overflow
//              - 1) is a positive multiple of interval
//   WEFT_SCALER_COLOSSALAI: bad: --hysteresis left (not below 0), shrink if it
//              is 0 then, tracker = 0; else ++tracker, and at interval:
//              hysteresis left = hysteresis, grow, tracker = 0
//   buffers: scale f32, state i64[3], bad i1, new scale f32, new state i64[3],
//            exhausted i1
//
// weft_cpu_adamw, weft_cpu_adam: PyTorch's update, in place
//   The learning rate is lr * lrScale, the decay weight_decay * decayScale
//   (decayScale 0: none). The gradient is multiplied by coef first. step is the
//   number of this update (1 for the first). Nothing is written if bad is set,
//   but the working copy: that is always the parameter rounded to its dtype
//   (low), the new one or the old. Parameter and gradient are f32 or low.
//   buffers: param, exp_avg, exp_avg_sq, grad, coef f32, bad i1, step i64,
//            lr f64, weight_decay f64, beta1 f64, beta2 f64, eps f64
//            [, working copy if its dtype is not -1]
//
// weft_cpu_sgd: PyTorch's SGD (dampening 0), in place, skipped if bad is set
//   At step 1 the momentum buffer becomes the gradient; before, it is not read.
//   Scales, types and the working copy as above.
//   buffers: param, momentum_buffer, grad, coef f32, bad i1, step i64, lr f64,
//            weight_decay f64, momentum f64
//            [, working copy if its dtype is not -1]
//
// clang-format on

#ifdef __cplusplus
} // extern "C"
#endif

#endif // WEFT_RUNTIME_EXECUTE_LIBRARY_H
