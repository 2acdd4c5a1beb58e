//===- Records.h - Arguments of each kind of command ------------*- C++ -*-===//
//
// One struct per kind of command: sizes and strides in elements, types as
// WeftDType, flags as 0 or 1. The compiler fills them (the models of Lowering),
// writes their bytes into the tables, and the routine of the kind reads the
// same struct. CpuRoutineAbi.h documents the fields and the buffers
// of each. A target adds routines, not records.
//
// Every field has eight bytes, so a record has no padding and lies in the
// tables as it is. A record that describes a list ends with `count` and is
// followed by that many entries of the type named beside it. One more struct
// may follow the records of attention.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_RECORDS_H
#define WEFT_ABI_RECORDS_H

#include <stdint.h>

/// Every kind of command but a kernel once: Y(X, number, KIND, name, Record).
/// The numbers are part of the ABI.
#define WEFT_COMMAND_KINDS_FOR(Y, X)                                           \
  Y(X, 1, GEMM, gemm, WeftGemmRecord)                                          \
  Y(X, 2, ATTENTION, attention, WeftAttentionRecord)                           \
  Y(X, 3, ATTENTION_GRAD, attention_grad, WeftAttentionGradRecord)             \
  Y(X, 4, EMBEDDING, embedding, WeftEmbeddingRecord)                           \
  Y(X, 5, EMBEDDING_GRAD, embedding_grad, WeftEmbeddingGradRecord)             \
  Y(X, 6, COPY, copy, WeftCopyRecord)                                          \
  Y(X, 7, FILL, fill, WeftFillRecord)                                          \
  Y(X, 8, CONSTANT, constant, WeftConstantRecord)

/// The same as X(number, KIND, name, Record).
#define WEFT_COMMAND_KINDS(X) WEFT_COMMAND_KINDS_FOR(WEFT_KIND_ALONE, X)
#define WEFT_KIND_ALONE(X, number, KIND, name, Record)                         \
  X(number, KIND, name, Record)

/// The kind of a command. WEFT_KERNEL has no record. Only the routine of a
/// WEFT_EXTENSION knows its record.
enum WeftCommandKind {
  WEFT_EXTENSION = -1,
  WEFT_KERNEL = 0,
#define WEFT_NUMBER_KIND(number, KIND, name, Record) WEFT_##KIND = number,
  WEFT_COMMAND_KINDS(WEFT_NUMBER_KIND)
#undef WEFT_NUMBER_KIND
};

/// How a command combines its result with the old content of its destination.
enum WeftAccumulate {
  WEFT_OVERWRITE = 0,   // the old content is never read
  WEFT_ADD = 1,         // adds to it
  WEFT_ADD_IF_FLAG = 2, // the last buffer, an f32 scalar, is not 0: adds
};

/// The epilogue of a product, as in `plan.gemm`.
enum WeftEpilogue {
  WEFT_EPILOGUE_NONE = 0,
  WEFT_EPILOGUE_RELU = 1,
  WEFT_EPILOGUE_RELU_GRAD = 2,
  WEFT_EPILOGUE_GELU = 3,
  WEFT_EPILOGUE_GELU_GRAD = 4,
};

struct WeftGemmRecord {
  int64_t batch, m, n, k;
  int64_t transA, transB;
  int64_t lda, ldb, ldc;
  int64_t batchStrideA, batchStrideB, batchStrideC;
  int64_t accumulate; // WeftAccumulate
  int64_t hasBias;
  int64_t dtype; // of A, B and bias
  int64_t dtypeC;
  int64_t epilogue; // WeftEpilogue
  int64_t hasAux, hasColumnSum;
  int64_t hasSumA, hasSumB; // op(A), op(B) over k
  /// 1: collectives may be in flight. Changes no bit, so it is the last field
  /// and no part of the keys by which algorithms are chosen.
  int64_t besideCollectives;
};

/// Distances between batches, rows (positions) and heads.
struct WeftHeadStrides {
  int64_t batch, row, head;
};

struct WeftAttentionRecord {
  int64_t batch, queries, keys; // B, T, S
  int64_t heads, keyHeads, headSize;
  int64_t causal, opId;
  int64_t dtype; // of all buffers but lse and rng
  double scale, dropout;
  struct WeftHeadStrides q, k, v, out;
  int64_t hasBits; // the bits of dropout are a buffer (DropoutBits.h)
};

struct WeftAttentionGradRecord {
  struct WeftAttentionRecord forward;
  struct WeftHeadStrides dout, dq, dk, dv;
};

/// Follows either record of attention if one of its fields is not 0.
struct WeftAttentionVariant {
  int64_t window;      // 0: none
  int64_t hasSegments; // the ids, i32[B,T], are a buffer
  double softcap;      // 0: none
};

struct WeftEmbeddingRecord {
  int64_t count, rows, columns; // of ids; of the table
  int64_t dtypeIds;
  int64_t dtype; // of table and out
};

struct WeftEmbeddingGradRecord {
  int64_t count, rows, columns; // of ids; of the table
  int64_t dtypeIds;
  int64_t accumulate; // WeftAccumulate
  int64_t dtypeOut;   // of the gradient that is read
  int64_t dtypeTable; // of the gradient that is written
};

/// A dimension of a copy; a stride `from` of 0 repeats elements.
struct WeftCopyDim {
  int64_t size, from, to;
};

/// Followed by `count` WeftCopyDim, outermost first.
struct WeftCopyRecord {
  int64_t elementBytes; // 1, 2, 4 or 8
  int64_t count;        // at most 8
};

struct WeftFillRecord {
  int64_t dtype, elements;
  double value; // for f16 and bf16 rounded to f32 first
};

/// Followed by `count` bytes, the elements as they lie in memory.
struct WeftConstantRecord {
  int64_t dtype, count;
};

#endif // WEFT_ABI_RECORDS_H
