//===- CrossEntropyRows.cpp - Loops over the classes of a row -------------===//
//
// Sums run in kLanes * kChains chains over blocks of classes, and over the
// blocks in f64. What is added to what depends on the class index alone, so
// alignment and threads change nothing.
//
//===----------------------------------------------------------------------===//

#include "CrossEntropyRows.h"
#include "LowFloats.h"

namespace weft {
namespace WEFT_ISA {
namespace {

constexpr int kChains = 4;
/// Classes of a block: eight additions in a row to each chain.
constexpr int64_t kBlock = 8 * kChains * kLanes;

typedef double WideVec __attribute__((vector_size(kLanes * 8)));

WEFT_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/// Calls body(chain, vector of row[c..]) for the classes [c, count) of the row;
/// lanes past the end hold `rest`.
template <typename E, typename Body>
WEFT_INLINE void forEachVec(E elements, const void *row, int64_t c,
                            int64_t count, float rest, Body body) {
  for (; c + kChains * kLanes <= count; c += kChains * kLanes)
    for (int chain = 0; chain < kChains; ++chain)
      body(chain, elements.get(row, c + chain * kLanes));
  for (int chain = 0; c < count; ++chain, c += kLanes)
    body(chain, elements.getPart(row, c, smaller(count - c, kLanes), rest));
}

WEFT_INLINE float largest(const Vec *chains) {
  float best = -__builtin_inff();
  for (int chain = 0; chain < kChains; ++chain)
    for (int i = 0; i < kLanes; ++i)
      best = chains[chain][i] > best ? chains[chain][i] : best;
  return best;
}

/// Sum of e^(x - max) over the row.
template <typename E>
WEFT_INLINE double sumExp(E elements, const void *logits, int64_t classes,
                          float max) {
  WideVec total = {};
  for (int64_t c = 0; c < classes; c += kBlock) {
    Vec sums[kChains] = {};
    forEachVec(elements, logits, c, smaller(c + kBlock, classes),
               -__builtin_inff(), [&](int chain, Vec x) {
                 sums[chain] = sums[chain] + expVec(x - splat(max));
               });
    Vec block = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    total = total + __builtin_convertvector(block, WideVec);
  }
  double sum = 0.0;
  for (int i = 0; i < kLanes; ++i)
    sum += total[i];
  return sum;
}

template <typename E>
WEFT_INLINE float sumRow(E elements, const void *logits, int64_t classes) {
  const float none = -__builtin_inff();
  Vec best[kChains];
  for (Vec &chain : best)
    chain = splat(none);
  forEachVec(elements, logits, 0, classes, none,
             [&](int chain, Vec x) { best[chain] = maxVec(x, best[chain]); });
  float max = largest(best);
  double sum = sumExp(elements, logits, classes, max);
  return static_cast<float>(static_cast<double>(max) + __builtin_log(sum));
}

template <typename E>
WEFT_INLINE double loseRow(E elements, const CrossEntropyRow &row, float lse) {
  auto logit = [&](int64_t c) {
    return elements.getPart(row.logits, c, 1, 0.0f)[0];
  };
  double weight = row.weights ? row.weights[row.target] : 1.0;
  double loss = (1.0 - row.smoothing) * weight *
                (static_cast<double>(lse) - logit(row.target));
  if (row.smoothing == 0.0)
    return loss;
  // sum_c w[c] (lse - x[c])
  double smooth = 0.0;
  for (int64_t c = 0; c < row.classes; ++c)
    smooth += (row.weights ? row.weights[c] : 1.0) *
              (static_cast<double>(lse) - logit(c));
  return loss + row.smoothing / static_cast<double>(row.classes) * smooth;
}

template <typename E>
WEFT_INLINE void differentiateRow(E elements, const CrossEntropyRow &row,
                                  float lse, double scale, void *dlogits) {
  double weight = row.weights ? row.weights[row.target] : 1.0;
  double hard = scale * (1.0 - row.smoothing) * weight;
  double soft = scale * row.smoothing / static_cast<double>(row.classes);
  const Vec all = splat(static_cast<float>(hard + soft * row.weightSum));
  const Vec shift = splat(lse);
  const float softFactor = static_cast<float>(soft);
  auto gradient = [&](Vec x, Vec w) {
    Vec g = all * expVec(x - shift);
    return softFactor == 0.0f ? g : g - splat(softFactor) * w;
  };
  // The target's own gradient first: dlogits may be logits.
  Vec target = gradient(elements.getPart(row.logits, row.target, 1, 0.0f),
                        splat(row.weights ? row.weights[row.target] : 1.0f));
  int64_t c = 0;
  for (; c + kLanes <= row.classes; c += kLanes)
    elements.put(dlogits, c,
                 gradient(elements.get(row.logits, c),
                          row.weights ? load(row.weights + c) : splat(1.0f)));
  if (int64_t rest = row.classes - c; rest > 0)
    elements.putPart(dlogits, c, rest,
                     gradient(elements.getPart(row.logits, c, rest, 0.0f),
                              row.weights
                                  ? loadPart(row.weights + c, rest, 0.0f)
                                  : splat(1.0f)));
  elements.putPart(dlogits, row.target, 1,
                   target - splat(static_cast<float>(hard)));
}

} // namespace

float logSumExp(int dtype, const void *logits, int64_t classes) {
  float result = 0.0f;
  withElements(dtype, [&](auto elements) {
    result = sumRow(elements, logits, classes);
  });
  return result;
}

double crossEntropyRow(const CrossEntropyRow &row, float lse) {
  double result = 0.0;
  withElements(row.dtype,
               [&](auto elements) { result = loseRow(elements, row, lse); });
  return result;
}

void crossEntropyGradRow(const CrossEntropyRow &row, float lse, double scale,
                         void *dlogits) {
  withElements(row.dtype, [&](auto elements) {
    differentiateRow(elements, row, lse, scale, dlogits);
  });
}

} // namespace WEFT_ISA
} // namespace weft
