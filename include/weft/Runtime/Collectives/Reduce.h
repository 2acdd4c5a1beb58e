//===- Reduce.h - Sums of pieces in the order of ranks ----------*- C++ -*-===//
//
// The arithmetic of reductions, independent of the transport. The bits of an
// element depend only on its values by rank, its type and two divisors.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_REDUCE_H
#define WEFT_RUNTIME_COLLECTIVES_REDUCE_H

#include <cstdint>

namespace weft {

/// Whether sumPieces adds numbers of the WeftDType `dtype`: f32, f64, f16,
/// bf16.
bool canSum(int32_t dtype);

/// Divides each element by `pre` and rounds it to its type. Adds the `count`
/// pieces in their order, in f32 (f64 for f64). Divides the sum by `post` and
/// rounds it. `out` may be one of the pieces.
void sumPieces(int32_t dtype, const void *const *pieces, int count,
               int64_t elements, void *out, double pre, double post);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_REDUCE_H
