//===- Conversions.cpp - Runs of f16 and bf16 as f32 and back -------------===//

#include "ElementLoops.h"
#include "LowFloats.h"

namespace weft {
namespace WEFT_ISA {

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

} // namespace WEFT_ISA
} // namespace weft
