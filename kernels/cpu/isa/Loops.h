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
// Cross-entropy
//===----------------------------------------------------------------------===//

/// Loss of one row before the division; `weights` may be null.
struct CrossEntropyRow {
  int dtype; // of logits and their gradient
  const void *logits;
  const float *weights;
  int64_t classes, target;
  double smoothing;
  double weightSum; // sum of the weights; the number of classes without
};

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// Numbers of one Adam or AdamW update, rounded to f32 as PyTorch does.
struct AdamNumbers {
  float coef;
  float keep;  // AdamW: 1 - lr * decay; Adam: 1
  float decay; // Adam: weight decay; AdamW: 0
  float lerp1; // 1 - beta1
  float beta2, lerp2;
  float stepSize;  // lr / (1 - beta1^t)
  float rootScale; // sqrt(1 - beta2^t)
  float eps;
};

struct SgdNumbers {
  float coef, decay, lr, momentum;
  bool first; // step 1: the buffer becomes the gradient
  bool nesterov;
};

/// Sum (or maximum) and flag of one block of a gradient.
struct NormBlock {
  double partial;
  bool nonFinite;
};

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

  /// Log of the sum of exponentials; needs no target.
  float (*logSumExp)(int dtype, const void *logits, int64_t classes);
  double (*crossEntropyRow)(const CrossEntropyRow &, float lse);
  void (*crossEntropyGradRow)(const CrossEntropyRow &, float lse, double scale,
                              void *dlogits);

  void (*adam)(const AdamNumbers &, int64_t count, float *param, float *m,
               float *v, const float *grad);
  void (*sgd)(const SgdNumbers &, int64_t count, float *param, float *buffer,
              const float *grad);
  void (*accumulate)(int64_t count, const float *old, const float *value,
                     float *out);
  void (*addRows)(int64_t count, const float *from, float *to);
  void (*addWide)(int64_t count, const float *from, double *to);
  NormBlock (*normBlock)(const float *grad, int64_t count, double p);

  /// out[e - begin] for elements [begin, end) of row 0; begin a multiple of 4.
  void (*normals)(uint32_t keyLow, uint32_t keyHigh, int64_t begin, int64_t end,
                  float mean, float stddev, float *out);
  void (*uniforms)(uint32_t keyLow, uint32_t keyHigh, int64_t begin,
                   int64_t end, float low, float width, float *out);
  /// Elements [begin, end) of a row of x; x and out point at element begin.
  void (*dropout)(uint32_t keyLow, uint32_t keyHigh, uint64_t row,
                  int64_t begin, int64_t end, uint32_t threshold, float scale,
                  const float *x, float *out);
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

} // namespace weft

#endif // WEFT_KERNELS_CPU_ISA_LOOPS_H
