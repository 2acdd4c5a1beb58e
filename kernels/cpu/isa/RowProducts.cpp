//===- RowProducts.cpp - Products of one row and a matrix -----------------===//
//
// These products are bound by the reading of b. Each element of a result has an
// order of additions that depends on the depth alone, not on the columns or
// rows that are computed together.
//
//===----------------------------------------------------------------------===//

#include "RowProducts.h"

#include "Simd.h"

namespace weft {
namespace WEFT_ISA {

/// Rows of b that are read together: the sums are loaded and stored once for
/// all of them.
constexpr int kRowsTogether = 4;

/// Adds `Rows` rows of b from row k on, each times its element of a.
template <int Rows, typename Elements>
WEFT_INLINE void addScaledRows(Elements elements, const RowProduct &p,
                               int64_t k, int64_t column, int64_t count,
                               float *sums) {
  Vec scale[Rows];
  int64_t at[Rows];
  for (int r = 0; r < Rows; ++r) {
    scale[r] = splat(p.a[k + r]);
    at[r] = (k + r) * p.bRow + column;
  }
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Vec sum = load(sums + i);
    for (int r = 0; r < Rows; ++r)
      sum = fma(scale[r], elements.get(p.b, at[r] + i), sum);
    store(sums + i, sum);
  }
  if (i == count)
    return;
  Vec sum = loadPart(sums + i, count - i, 0.0f);
  for (int r = 0; r < Rows; ++r)
    sum = fma(scale[r], elements.getPart(p.b, at[r] + i, count - i, 0.0f), sum);
  storePart(sums + i, count - i, sum);
}

void addColumnProducts(const RowProduct &p, int64_t column, int64_t count,
                       float *sums) {
  withElements(p.dtype, [&](auto elements) {
    int64_t k = 0;
    for (; k + kRowsTogether <= p.depth; k += kRowsTogether)
      addScaledRows<kRowsTogether>(elements, p, k, column, count, sums);
    for (; k < p.depth; ++k)
      addScaledRows<1>(elements, p, k, column, count, sums);
  });
}

/// The dot product of a and a row of b that begins at element `from`.
template <typename Elements>
WEFT_INLINE float dotRow(Elements elements, const RowProduct &p, int64_t from) {
  constexpr int kSums = 4; // independent chains of additions
  Vec sums[kSums] = {};
  int64_t k = 0;
  for (; k + kSums * kLanes <= p.depth; k += kSums * kLanes)
    for (int s = 0; s < kSums; ++s)
      sums[s] = fma(load(p.a + k + s * kLanes),
                    elements.get(p.b, from + k + s * kLanes), sums[s]);
  for (; k + kLanes <= p.depth; k += kLanes)
    sums[0] = fma(load(p.a + k), elements.get(p.b, from + k), sums[0]);
  if (k < p.depth)
    sums[1] = fma(loadPart(p.a + k, p.depth - k, 0.0f),
                  elements.getPart(p.b, from + k, p.depth - k, 0.0f), sums[1]);
  float lanes[kLanes], sum = 0.0f;
  store(lanes, (sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (float lane : lanes)
    sum += lane;
  return sum;
}

void addRowProducts(const RowProduct &p, int64_t row, int64_t count,
                    float *sums) {
  withElements(p.dtype, [&](auto elements) {
    for (int64_t i = 0; i < count; ++i)
      sums[i] += dotRow(elements, p, (row + i) * p.bRow);
  });
}

} // namespace WEFT_ISA
} // namespace weft
