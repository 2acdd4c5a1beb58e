//===- Reduce.cpp - Sums of pieces in the order of ranks ------------------===//

#include "weft/Runtime/Collectives/Reduce.h"

#include "weft/Abi/Executable.h"
#include "weft/Base/Half.h"

#include <algorithm>
#include <cmath>

using namespace weft;

namespace {

/// The storage type (Bits) and the arithmetic type (Number) of an element.
/// rounded() rounds a number to the element type. roundedPart() does so for an
/// element that was divided by a power of two.
struct F32 {
  using Bits = float;
  using Number = float;
  static float load(float value) { return value; }
  static float store(float value) { return value; }
  static float rounded(float value) { return value; }
  static float roundedPart(float value) { return value; }
};
struct F64 {
  using Bits = double;
  using Number = double;
  static double load(double value) { return value; }
  static double store(double value) { return value; }
  static double rounded(double value) { return value; }
  static double roundedPart(double value) { return value; }
};
struct F16 {
  using Bits = uint16_t;
  using Number = float;
  static float load(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t store(float value) { return floatToHalf(value); }
  static float rounded(float value) { return load(store(value)); }
  /// Only bits below the smallest normal half can be lost, four times as fast:
  /// where one unit in the last place is 2^-24, an addition rounds.
  static float roundedPart(float value) {
    const float size = std::fabs(value);
    const float low = std::copysign((size + 0.5f) - 0.5f, value);
    return size < 6.103515625e-05f ? low : value;
  }
};
struct BF16 {
  using Bits = uint16_t;
  using Number = float;
  static float load(uint16_t bits) { return bf16ToFloat(bits); }
  static uint16_t store(float value) { return floatToBf16(value); }
  static float rounded(float value) { return load(store(value)); }
  static float roundedPart(float value) { return rounded(value); }
};

/// Elements whose sums stay in the L1 cache while all pieces are added.
constexpr int kBlock = 1024;

/// Division by 1 keeps all bits, so that it is left out.
enum class Division { None, ByPowerOfTwo, Any };

template <typename Number> Division divisionBy(Number pre) {
  int exponent;
  if (pre == 1)
    return Division::None;
  return pre > 1 && std::frexp(pre, &exponent) == Number(0.5)
             ? Division::ByPowerOfTwo
             : Division::Any;
}

/// sum[i] = or += piece[i] / pre.
template <typename Type, bool isFirst, Division division>
void addPiece(const typename Type::Bits *piece, typename Type::Number *sum,
              int count, typename Type::Number pre) {
  for (int i = 0; i < count; ++i) {
    typename Type::Number value = Type::load(piece[i]);
    if constexpr (division == Division::ByPowerOfTwo)
      value = Type::roundedPart(value / pre);
    else if constexpr (division == Division::Any)
      value = Type::rounded(value / pre);
    sum[i] = isFirst ? value : sum[i] + value;
  }
}

template <typename Type, bool isFirst>
void addPiece(const typename Type::Bits *piece, typename Type::Number *sum,
              int count, typename Type::Number pre) {
  switch (divisionBy(pre)) {
  case Division::None:
    return addPiece<Type, isFirst, Division::None>(piece, sum, count, pre);
  case Division::ByPowerOfTwo:
    return addPiece<Type, isFirst, Division::ByPowerOfTwo>(piece, sum, count,
                                                           pre);
  case Division::Any:
    return addPiece<Type, isFirst, Division::Any>(piece, sum, count, pre);
  }
}

template <typename Type>
void sumAll(const void *const *pieces, int ranks, int64_t elements, void *out,
            double preNumber, double postNumber) {
  using Bits = typename Type::Bits;
  using Number = typename Type::Number;
  const Number pre = Number(preNumber), post = Number(postNumber);
  Number sum[kBlock];
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int count = int(std::min<int64_t>(kBlock, elements - begin));
    for (int rank = 0; rank < ranks; ++rank) {
      const Bits *piece = static_cast<const Bits *>(pieces[rank]) + begin;
      if (rank == 0)
        addPiece<Type, true>(piece, sum, count, pre);
      else
        addPiece<Type, false>(piece, sum, count, pre);
    }
    Bits *result = static_cast<Bits *>(out) + begin;
    if (post == 1)
      for (int i = 0; i < count; ++i)
        result[i] = Type::store(sum[i]);
    else
      for (int i = 0; i < count; ++i)
        result[i] = Type::store(sum[i] / post);
  }
}

using SumAll = void(const void *const *, int, int64_t, void *, double, double);

/// The sum over numbers of a WeftDType; null if there is none.
SumAll *findSum(int32_t dtype) {
  switch (dtype) {
  case WEFT_F32:
    return sumAll<F32>;
  case WEFT_F64:
    return sumAll<F64>;
  case WEFT_F16:
    return sumAll<F16>;
  case WEFT_BF16:
    return sumAll<BF16>;
  default:
    return nullptr;
  }
}

} // namespace

bool weft::canSum(int32_t dtype) { return findSum(dtype) != nullptr; }

void weft::sumPieces(int32_t dtype, const void *const *pieces, int count,
                     int64_t elements, void *out, double pre, double post) {
  findSum(dtype)(pieces, count, elements, out, pre, post);
}
