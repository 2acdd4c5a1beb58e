//===- ElementLoops.cpp - Loops in which elements are independent ---------===//

#include "AttentionTiles.h"
#include "RowProducts.h"
#include "Simd.h"

namespace weft {
namespace WEFT_ISA {

// Left to the compiler's vectoriser: every operation is an IEEE one and none is
// contracted, so all instruction sets give the same bits.

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

//===- Runs of f16 and bf16 as f32 and back -------------------------------===//

void widen(int dtype, int64_t count, const void *from, float *to) {
  withElements(dtype, [&](auto elements) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      store(to + i, elements.get(from, i));
    if (i < count)
      storePart(to + i, count - i, elements.getPart(from, i, count - i, 0.0f));
  });
}

void narrow(int dtype, int64_t count, const float *from, void *to) {
  withElements(dtype, [&](auto elements) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      elements.put(to, i, load(from + i));
    if (i < count)
      elements.putPart(to, i, count - i, loadPart(from + i, count - i, 0.0f));
  });
}

/// The loops of one instruction set.
const Loops loops = {widen,
                     narrow,
                     attentionForward,
                     attentionBackward,
                     attentionWriteKeys,
                     addColumnProducts,
                     addRowProducts,
                     addRows,
                     addWide};

} // namespace WEFT_ISA
} // namespace weft
