//===- RankSums.cu - Sums over ranks, in their order ----------------------===//
//
// The arithmetic of lib/Runtime/Collectives/Communicator.cpp, element by
// element: each element is divided by `pre` and rounded to its type, the ranks
// are added up in their order in f32 (f64 for f64), and the sum is divided by
// `post` and rounded once. Results equal the CPU's results bitwise.
//
//===----------------------------------------------------------------------===//

#include "DeviceLanguage.h"
#include "KernelArguments.h"

namespace weft::cuda {

struct F64 {
  using Bits = double;
  static WEFT_MEMBER double widen(double x) { return x; }
  static WEFT_MEMBER double narrow(double x) { return x; }
};

template <typename Type, typename Number>
WEFT_DEVICE void sumSlices(const RankSumArguments &a) {
  using Bits = typename Type::Bits;
  const Bits *slices = static_cast<const Bits *>(a.slices);
  Bits *out = static_cast<Bits *>(a.out);
  const Number pre = static_cast<Number>(a.pre);
  const Number post = static_cast<Number>(a.post);
  for (int64_t i = globalIndex(); i < a.elements; i += globalSize()) {
    Number sum = 0;
    for (int64_t rank = 0; rank < a.ranks; ++rank) {
      Number value = Type::widen(slices[rank * a.elements + i]);
      if (pre != 1)
        value = Type::widen(Type::narrow(value / pre));
      // A sum that begins with 0 would lose the sign of -0.
      sum = rank == 0 ? value : sum + value;
    }
    out[i] = Type::narrow(post == 1 ? sum : sum / post);
  }
}

} // namespace weft::cuda

using namespace weft::cuda;

#define WEFT_RANK_SUM_KERNEL(name, Type, Number)                               \
  WEFT_KERNEL(weft_rank_sum_##name, RankSumArguments, kMoveThreads, 1) {       \
    sumSlices<Type, Number>(a);                                                \
  }
WEFT_RANK_SUM_KERNEL(f32, F32, float)
WEFT_RANK_SUM_KERNEL(f64, F64, double)
WEFT_RANK_SUM_KERNEL(f16, F16, float)
WEFT_RANK_SUM_KERNEL(bf16, Bf16, float)

/// The numbers of this rank side by side as f64; a flag is 0 or 1.
WEFT_KERNEL(weft_rank_pack, RankNumbersArguments, kRankNumbers, 1) {
  const int64_t i = threadIndex();
  if (i >= a.count)
    return;
  const bool isFlag = a.kinds[i] == WEFT_RANK_OR;
  a.packed[i] = isFlag ? static_cast<double>(
                             *static_cast<const unsigned char *>(a.numbers[i]))
                       : *static_cast<const double *>(a.numbers[i]);
}

/// One number of all ranks, in their order, for each thread.
WEFT_KERNEL(weft_rank_numbers, RankNumbersArguments, kRankNumbers, 1) {
  const int64_t i = threadIndex();
  if (i >= a.count)
    return;
  double result = a.packed[i];
  for (int64_t rank = 1; rank < a.ranks; ++rank) {
    const double next = a.packed[rank * a.stride + i];
    if (a.kinds[i] == WEFT_RANK_SUM)
      result += next;
    else if (a.kinds[i] == WEFT_RANK_OR)
      result = result != 0 || next != 0;
    else if (result == result && !(result >= next)) // NaN stays
      result = next;
  }
  if (a.kinds[i] == WEFT_RANK_OR)
    *static_cast<unsigned char *>(a.numbers[i]) = result != 0;
  else
    *static_cast<double *>(a.numbers[i]) = result;
}
