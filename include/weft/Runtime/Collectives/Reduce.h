//===- Reduce.h - Sums of pieces in the order of ranks ----------*- C++ -*-===//
//
// What a reduction computes, whoever moved the bytes: an element's bits are a
// function of its values by rank, of its type and of two divisors, and of
// nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_REDUCE_H
#define WEFT_RUNTIME_COLLECTIVES_REDUCE_H

#include <cstdint>

namespace weft {

/// Whether sumPieces adds numbers of the WeftDType `dtype`: f32, f64, f16,
/// bf16.
bool canSum(int32_t dtype);

/// An element is divided by `pre` and rounded to its type; those of the `count`
/// pieces are added up in their order, in f32 (f64 for f64); the sum is divided
/// by `post` and rounded. `out` may be one of the pieces.
void sumPieces(int32_t dtype, const void *const *pieces, int count,
               int64_t elements, void *out, double pre, double post);

} // namespace weft

#endif // WEFT_RUNTIME_COLLECTIVES_REDUCE_H
