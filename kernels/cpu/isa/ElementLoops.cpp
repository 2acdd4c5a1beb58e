//===- ElementLoops.cpp - Loops in which elements are independent ---------===//
//
// Left to the compiler's vectoriser: every operation is an IEEE one and none is
// contracted, so all instruction sets give the same bits.
//
//===----------------------------------------------------------------------===//

#include "ElementLoops.h"

namespace weft {
namespace WEFT_ISA {

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
