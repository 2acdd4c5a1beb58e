//===- RankDivisors.h - The divisors of a mean over ranks -------*- C++ -*-===//
//
// A mean over ranks divides before it adds and after it, so that neither what
// is added nor the sum leaves the range of a half type. Compiler, interpreter
// and runtime divide alike.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ABI_RANKDIVISORS_H
#define WEFT_ABI_RANKDIVISORS_H

#include <cstdint>

namespace weft {

/// The first divisor, a factor of the number of ranks near its root; what is
/// left of the number is the other one (FairScale's rule): 8 ranks are divided
/// by 4, then by 2.
constexpr double choosePreDivide(int64_t ranks) {
  int64_t factor = 1;
  while (ranks % factor == 0 && ranks / factor > factor)
    factor *= 2;
  return static_cast<double>(factor);
}

} // namespace weft

#endif // WEFT_ABI_RANKDIVISORS_H
