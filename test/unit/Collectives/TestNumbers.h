//===- TestNumbers.h - Tensors of ranks, and their plain sums ---*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_COLLECTIVES_TESTNUMBERS_H
#define WEFT_TEST_UNIT_COLLECTIVES_TESTNUMBERS_H

#include "weft/Base/Half.h"
#include "weft/Runtime/Collectives/Communicator.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace weft {

/// Divisors of values, before and after they are added up.
struct Divisors {
  double pre = 1, post = 1;

  /// Those that the compiler chooses for 1 to 8 ranks (weft/Dist/Dist.h).
  static Divisors ofMean(int ranks) {
    static constexpr double pre[] = {1, 2, 2, 2, 2, 4, 2, 4};
    return {pre[ranks - 1], ranks / pre[ranks - 1]};
  }
};

inline Status reduceScatter(Communicator &group, const void *full, void *slice,
                            int64_t elements, int32_t type,
                            const Divisors &by) {
  return group.reduceScatter(full, slice, elements, type, by.pre, by.post,
                             "a sum");
}
inline Status allReduce(Communicator &group, void *data, int64_t elements,
                        int32_t type, const Divisors &by) {
  return group.allReduce(data, elements, type, by.pre, by.post, "a sum");
}

inline constexpr int32_t kSumTypes[] = {WEFT_F32, WEFT_F64, WEFT_F16,
                                        WEFT_BF16};

inline int64_t sizeOf(int32_t type) { return dtypeBytes(type); }

inline double numberAt(int32_t type, const char *at) {
  uint16_t half;
  std::memcpy(&half, at, 2);
  if (type == WEFT_F16)
    return halfToFloat(half);
  if (type == WEFT_BF16)
    return bf16ToFloat(half);
  float single;
  std::memcpy(&single, at, 4);
  if (type == WEFT_F32)
    return single;
  double number;
  std::memcpy(&number, at, 8);
  return number;
}

inline void setNumber(int32_t type, char *at, double value) {
  const float single = float(value);
  const uint16_t half =
      type == WEFT_F16 ? floatToHalf(single) : floatToBf16(single);
  if (type == WEFT_F64)
    std::memcpy(at, &value, 8);
  else if (type == WEFT_F32)
    std::memcpy(at, &single, 4);
  else
    std::memcpy(at, &half, 2);
}

/// `elements` numbers that rank `rank` has, of many sizes and both signs.
inline std::vector<char> numbersOf(int32_t type, int rank, int64_t elements) {
  std::minstd_rand random(unsigned(rank) * 7919 + unsigned(elements) + 1);
  std::vector<char> bytes(size_t(elements * sizeOf(type)));
  for (int64_t i = 0; i < elements; ++i) {
    const double value = double(random()) / 2147483647.0 - 0.5;
    setNumber(type, bytes.data() + i * sizeOf(type),
              std::ldexp(value, int(random() % 17) - 8));
  }
  return bytes;
}

/// The sum over `ranks` ranks of element after element, in the order of ranks.
inline std::vector<char> plainSum(int32_t type, int ranks, int64_t elements,
                                  const Divisors &by) {
  std::vector<char> sum(size_t(elements * sizeOf(type)));
  std::vector<std::vector<char>> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(numbersOf(type, rank, elements));
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t at = i * sizeOf(type);
    double total = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      char rounded[8];
      const double value = numberAt(type, &all[size_t(rank)][size_t(at)]);
      setNumber(type, rounded,
                type == WEFT_F64 ? value / by.pre
                                 : float(value) / float(by.pre));
      const double one = numberAt(type, rounded);
      total = rank == 0          ? one
              : type == WEFT_F64 ? total + one
                                 : float(total) + float(one);
    }
    setNumber(type, &sum[size_t(at)],
              type == WEFT_F64 ? total / by.post
                               : float(total) / float(by.post));
  }
  return sum;
}

} // namespace weft

#endif // WEFT_TEST_UNIT_COLLECTIVES_TESTNUMBERS_H
