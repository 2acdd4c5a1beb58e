//===- CrossEntropyRows.cpp - Loops over the classes of a row -------------===//
//
// Sums run in kLanes * kChains chains that depend on the class index alone, so
// alignment and threads change nothing.
//
//===----------------------------------------------------------------------===//

#include "CrossEntropyRows.h"
#include "Simd.h"

namespace weft {
namespace WEFT_ISA {
namespace {

constexpr int kChains = 4;

/// Calls body(chain, vector of row[c..]) over the row; lanes past the end hold
/// `rest`.
template <typename Body>
WEFT_INLINE void forEachVec(const float *row, int64_t count, float rest,
                            Body body) {
  int64_t c = 0;
  for (; c + kChains * kLanes <= count; c += kChains * kLanes)
    for (int chain = 0; chain < kChains; ++chain)
      body(chain, load(row + c + chain * kLanes));
  for (int chain = 0; c < count; ++chain, c += kLanes)
    body(chain, loadPart(row + c, count - c, rest));
}

WEFT_INLINE float largest(const Vec *chains) {
  float best = -__builtin_inff();
  for (int chain = 0; chain < kChains; ++chain)
    for (int i = 0; i < kLanes; ++i)
      best = chains[chain][i] > best ? chains[chain][i] : best;
  return best;
}

WEFT_INLINE double total(const Vec *chains) {
  double sum = 0.0;
  for (int chain = 0; chain < kChains; ++chain)
    for (int i = 0; i < kLanes; ++i)
      sum += static_cast<double>(chains[chain][i]);
  return sum;
}

} // namespace

float logSumExp(const float *logits, int64_t classes) {
  const float none = -__builtin_inff();
  Vec best[kChains];
  for (Vec &chain : best)
    chain = splat(none);
  forEachVec(logits, classes, none,
             [&](int chain, Vec x) { best[chain] = maxVec(x, best[chain]); });
  float max = largest(best);
  Vec sums[kChains] = {};
  forEachVec(logits, classes, none, [&](int chain, Vec x) {
    sums[chain] = sums[chain] + expVec(x - splat(max));
  });
  return static_cast<float>(static_cast<double>(max) +
                            __builtin_log(total(sums)));
}

double crossEntropyRow(const CrossEntropyRow &row, float lse) {
  double weight = row.weights ? row.weights[row.target] : 1.0;
  double loss = (1.0 - row.smoothing) * weight *
                (static_cast<double>(lse) - row.logits[row.target]);
  if (row.smoothing == 0.0)
    return loss;
  // sum_c w[c] (lse - x[c])
  double smooth = 0.0;
  for (int64_t c = 0; c < row.classes; ++c)
    smooth += (row.weights ? row.weights[c] : 1.0) *
              (static_cast<double>(lse) - row.logits[c]);
  return loss + row.smoothing / static_cast<double>(row.classes) * smooth;
}

void crossEntropyGradRow(const CrossEntropyRow &row, float lse, double scale,
                         float *dlogits) {
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
  int64_t c = 0;
  for (; c + kLanes <= row.classes; c += kLanes)
    store(dlogits + c,
          gradient(load(row.logits + c),
                   row.weights ? load(row.weights + c) : splat(1.0f)));
  if (int64_t rest = row.classes - c; rest > 0)
    storePart(dlogits + c, rest,
              gradient(loadPart(row.logits + c, rest, 0.0f),
                       row.weights ? loadPart(row.weights + c, rest, 0.0f)
                                   : splat(1.0f)));
  dlogits[row.target] -= static_cast<float>(hard);
}

} // namespace WEFT_ISA
} // namespace weft
