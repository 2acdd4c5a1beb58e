//===- Loops.h - Inner loops that exist once per instruction set *- C++ -*-===//
//
// A table of functions for each instruction set; the context's choice selects
// one (Arguments are plain: no standard library types cross this border).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_ISA_LOOPS_H
#define WEFT_KERNELS_CPU_ISA_LOOPS_H

#include <stddef.h>
#include <stdint.h>

// Never a symbol of its own: a copy compiled for a wide instruction set could
// be picked by the linker for code that runs everywhere.
#define WEFT_INLINE static inline __attribute__((always_inline))

namespace weft {

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Queries and keys of one tile. Tiles lie at multiples of these, so a row's
/// bits depend on its index alone.
constexpr int64_t kQueryTile = 64;
constexpr int64_t kKeyTile = 64;

/// One head of one batch row. Rows are `...Row` elements apart.
struct AttentionHead {
  int dtype; // of q, k, v, out and all gradients
  const void *q, *k, *v;
  int64_t qRow, kRow, vRow;
  int64_t queries, keys, width; // T, S, D
  float scale;
  bool causal;
  int64_t window;     // of at most `keys` keys, or 0
  float softcap;      // or 0
  const int32_t *ids; // of the documents of all positions, or null
  // Dropout: probability (i, j) is element elementBase + i * keys + j.
  bool dropout;
  float keepScale;
  uint32_t threshold;
  uint32_t keyLow, keyHigh;
  uint64_t row, elementBase;
};

struct AttentionOutput {
  void *out;
  int64_t outRow;
  float *lse; // of this head, one per query
};

struct AttentionGradients {
  const void *dout, *out;
  int64_t doutRow, outRow;
  const float *lse;
  void *dq;
  int64_t dqRow;
};

//===----------------------------------------------------------------------===//
// Products with one row
//===----------------------------------------------------------------------===//

/// A row of f32 and a matrix of `dtype`, whose rows are `bRow` elements apart.
struct RowProduct {
  int dtype;
  const float *a;
  const void *b;
  int64_t bRow, depth;
};

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// Floats in a vector of the widest instruction set.
constexpr int64_t kMostLanes = 16;

struct Loops {
  /// Elements of f32, f16 or bf16 (WeftDType) as f32, and f32 rounded to them.
  void (*widen)(int dtype, int64_t count, const void *from, float *to);
  void (*narrow)(int dtype, int64_t count, const float *from, void *to);

  void (*attentionForward)(const AttentionHead &, const AttentionOutput &,
                           int64_t queryBegin, float *scratch);
  /// All gradients of one query head; dk and dv sums stay in the scratch.
  void (*attentionBackward)(const AttentionHead &, const AttentionGradients &,
                            bool firstOfGroup, float *scratch);
  /// Writes the sums that attentionBackward left.
  void (*attentionWriteKeys)(int dtype, int64_t keys, int64_t width, void *dk,
                             int64_t dkRow, void *dv, int64_t dvRow,
                             const float *scratch);

  /// Adds the product of a and `count` columns of b from `column` on to `sums`.
  void (*addColumnProducts)(const RowProduct &, int64_t column, int64_t count,
                            float *sums);
  /// The same with the transposed b: of a and rows of b from `row` on.
  void (*addRowProducts)(const RowProduct &, int64_t row, int64_t count,
                         float *sums);

  void (*addRows)(int64_t count, const float *from, float *to);
  void (*addWide)(int64_t count, const float *from, double *to);
};

namespace baseline {
extern const Loops loops;
}
namespace avx2 {
extern const Loops loops;
}
namespace avx512 {
extern const Loops loops;
}
/// The same with products of bf16 in attention (AttentionWords.h): by dot
/// products, and in the tiles of AMX.
namespace avx512bf16 {
extern const Loops loops;
}
namespace amx {
extern const Loops loops;
}

} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_LOOPS_H
