//===- CpuRoutineAbi.h - Library routines of CPU programs -------*- C++ -*-===//
//
// The contract between the compiler (which selects routines and fills their
// records) and kernels/cpu (which implements them). Command kind `x` of
// Records.h runs the routine weft_cpu_x. Each entry gives the routine's result
// in terms of the fields of its record, and its buffers in order.
//
// Rules for all of them
// - Buffers are dense and row-major unless said otherwise. They are f32 unless
//   a field gives their type. Such a dtype is f32 or a listed type; "low" is
//   f16 or bf16. Arithmetic and sums are in f32 (f64 where written) for all
//   types; a low result is rounded once, to nearest even. Optional buffers, in
//   square brackets, come last. They are left out when their flag says so.
//  - Strides and sizes are in elements, never bytes. A buffer's address already
//    includes the offset of a view. The innermost stride is 1 unless there is
//    a field for it. Any alignment of an element is accepted and changes no
//    bits.
//  - ids are i32 or i64, as their dtype says.
//  - Outputs do not overlap inputs.
//  - accumulate is a WeftAccumulate; for WEFT_ADD_IF_FLAG the flag, an f32
//    scalar, is the last buffer: 0 overwrites, anything else adds.
// - The routines of CpuWorkspaces.h, and routines of other dialects whose model
//   asks for one, have a workspace as their last buffer. Its contents are
//   undefined before and after. A workspace that is too small is an error.
//  - rng is i64[2] = {seed, global number of the first row} (Philox.h).
//  - Same bits for every thread count (docs/explanation/kernels-cpu.md names
//  exceptions).
//  - Wrong records and data (an index out of range) do not crash: the routine
//    reports through the context and the executor stops the program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_CPUROUTINEABI_H
#define WEFT_ABI_CPUROUTINEABI_H

#include "weft/Abi/Executable.h"

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
//   The CPU has no epilogue and no sums: these fields and hasAux are 0.
//   buffers: A, B, C [, bias [n] if hasBias] [, aux] [, column sum]
//            [, sum of A [m]] [, sum of B [n]] [, the flag of accumulate]

/// Does the one-time work of a command before its first call: it makes the
/// plans. Does not diagnose the record; the call does. A program has this
/// function if it has weft_cpu_gemm.
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
//   A WeftAttentionVariant behind the record has more rules. With p = i + S - T:
//   window W > 0: keys p - W < j < p + W, and S = T unless causal.
//   hasSegments: keys with the id of the query, and S = T. Ids may be in any
//   order; tiles without a visible pair cost nothing.
//   softcap c > 0: a scaled score s becomes c tanh(s / c) before the mask.
//   lse: f32[B,H,T] dense, log of the sum of exponentials of the scaled scores.
//   dropout, in [0, 1], drops probability (b, h, i, j) by the Philox number with
//   key (rng[0], opId), row rng[1] + b and element (h * T + i) * S + j.
//   The CPU stores no bits of dropout: hasBits is 0.
//   buffers: q, k, v, out, lse [, rng if dropout > 0]
//            [, ids i32[B,T] if hasSegments] [, bits if hasBits (DropoutBits.h)]
//
// weft_cpu_attention_grad: gradients of q, k, v from dout
// lse and out are the results of the forward call. dq, dk, dv are overwritten.
//   Heads that share a key head are summed in head order.
//   buffers: dout, q, k, v, out, lse, dq, dk, dv
//            [, rng if dropout > 0 and not hasBits]
//            [, ids i32[B,T] if hasSegments] [, bits if hasBits]

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
// clang-format on

#ifdef __cplusplus
} // extern "C"
#endif

#endif // WEFT_ABI_CPUROUTINEABI_H
