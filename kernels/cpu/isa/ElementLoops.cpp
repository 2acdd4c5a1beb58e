//===- ElementLoops.cpp - Loops in which elements are independent ---------===//
//
// Left to the compiler's vectoriser: every operation is an IEEE one and none is
// contracted, so all instruction sets give the same bits.
//
//===----------------------------------------------------------------------===//

#include "ElementLoops.h"

namespace weft {
namespace WEFT_ISA {

// torch.optim.AdamW and Adam (documentation, "for t = 1 to ..."; single-tensor
// implementation for the order of roundings):
//   param *= 1 - lr wd (AdamW)            g += wd param (Adam)
//   m = lerp(m, g, 1 - beta1)             v = beta2 v + (1 - beta2) g g
// (lerp starts from the nearer end, so that weight 1 gives g itself)
//   param += -step_size m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
void adam(const AdamNumbers &numbers, int64_t count, float *__restrict param,
          float *__restrict m, float *__restrict v,
          const float *__restrict grad) {
  const AdamNumbers n = numbers;
  const bool fromM = n.lerp1 < 0.5f;
  const float weight = fromM ? n.lerp1 : n.lerp1 - 1.0f;
  for (int64_t i = 0; i < count; ++i) {
    float p = param[i] * n.keep;
    float g = grad[i] * n.coef + p * n.decay;
    float first = (fromM ? m[i] : g) + weight * (g - m[i]);
    float second = v[i] * n.beta2 + n.lerp2 * g * g;
    float denominator = __builtin_sqrtf(second) / n.rootScale + n.eps;
    m[i] = first;
    v[i] = second;
    param[i] = p - n.stepSize * first / denominator;
  }
}

// torch.optim.SGD with dampening 0:
//   g += wd param; b = first ? g : momentum b + g;
//   param -= lr (nesterov ? g + momentum b : b)
void sgd(const SgdNumbers &numbers, int64_t count, float *__restrict param,
         float *__restrict buffer, const float *__restrict grad) {
  const SgdNumbers n = numbers;
  for (int64_t i = 0; i < count; ++i) {
    float g = grad[i] * n.coef + param[i] * n.decay;
    float b = n.first ? g : buffer[i] * n.momentum + g;
    buffer[i] = b;
    float direction = n.nesterov ? g + n.momentum * b : b;
    param[i] = param[i] - n.lr * direction;
  }
}

void accumulate(int64_t count, const float *old, const float *value,
                float *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = old[i] + value[i];
}

void addRows(int64_t count, const float *__restrict from,
             float *__restrict to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

void addWide(int64_t count, const float *__restrict from,
             double *__restrict to) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

} // namespace WEFT_ISA
} // namespace weft
