//===- NormBlocks.cpp - Partial norms of blocks of a gradient -------------===//

#include "ElementLoops.h"
#include "Simd.h"

namespace weft {
namespace WEFT_ISA {
namespace {

/// Chains of an f64 sum: fixed, so all instruction sets give the same bits.
constexpr int kChains = 32;

template <typename Term>
WEFT_INLINE double sumTerms(const float *grad, int64_t count, Term term) {
  double sums[kChains] = {};
  int64_t i = 0;
  for (; i + kChains <= count; i += kChains)
    for (int chain = 0; chain < kChains; ++chain)
      sums[chain] += term(static_cast<double>(grad[i + chain]));
  for (int chain = 0; i < count; ++i, ++chain)
    sums[chain] += term(static_cast<double>(grad[i]));
  double total = 0.0;
  for (double sum : sums)
    total += sum;
  return total;
}

WEFT_INLINE double magnitude(double x) { return __builtin_fabs(x); }

/// The largest magnitude, NaN if there is one.
WEFT_INLINE double findLargest(const float *grad, int64_t count) {
  double best = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    double x = magnitude(grad[i]);
    best = x > best || x != x ? x : best;
    if (x != x)
      break;
  }
  return best;
}

WEFT_INLINE float findLargestFinite(const float *grad, int64_t count) {
  float chains[kChains] = {};
  int64_t i = 0;
  for (; i + kChains <= count; i += kChains)
    for (int chain = 0; chain < kChains; ++chain) {
      float x = __builtin_fabsf(grad[i + chain]);
      chains[chain] = x > chains[chain] ? x : chains[chain];
    }
  for (; i < count; ++i) {
    float x = __builtin_fabsf(grad[i]);
    chains[0] = x > chains[0] ? x : chains[0];
  }
  float best = 0.0f;
  for (float chain : chains)
    best = chain > best ? chain : best;
  return best;
}

WEFT_INLINE bool hasNonFinite(const float *grad, int64_t count) {
  uint32_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, grad + i, sizeof(bits));
    found |= (bits & 0x7F800000u) == 0x7F800000u;
  }
  return found != 0;
}

} // namespace

NormBlock normBlock(const float *grad, int64_t count, double p) {
  NormBlock block = {0.0, hasNonFinite(grad, count)};
  if (p == 2.0)
    block.partial = sumTerms(grad, count, [](double x) { return x * x; });
  else if (p == 1.0)
    block.partial =
        sumTerms(grad, count, [](double x) { return magnitude(x); });
  else if (p == 3.0)
    block.partial =
        sumTerms(grad, count, [](double x) { return magnitude(x) * x * x; });
  else if (p == __builtin_inf())
    block.partial = block.nonFinite ? findLargest(grad, count)
                                    : findLargestFinite(grad, count);
  else
    block.partial = sumTerms(
        grad, count, [p](double x) { return __builtin_pow(magnitude(x), p); });
  return block;
}

} // namespace WEFT_ISA
} // namespace weft
