//===- DTypes.cpp - Element types of the ABI ------------------------------===//

#include "weft/Runtime/Execute/DTypes.h"

#include "weft/Base/Results.h"

#include <algorithm>
#include <cmath>

using namespace weft;

TensorType weft::tensorTypeOf(int32_t dtype) {
  TensorType type = TensorType::F32;
  withElement(dtype, [&](auto element) { type = element.tensorType; });
  return type;
}

int64_t weft::dtypeBytes(int32_t dtype) {
  return tensorTypeBits(tensorTypeOf(dtype)) / 8;
}

static bool overflows(float value, TensorType type) {
  if (!std::isfinite(value))
    return false;
  return std::isinf(type == TensorType::F16 ? halfToFloat(floatToHalf(value))
                                            : bf16ToFloat(floatToBf16(value)));
}

int64_t weft::countOverflows(const float *values, int64_t count,
                             TensorType type) {
  if (type != TensorType::F16 && type != TensorType::BF16)
    return 0;
  return std::count_if(values, values + count,
                       [&](float value) { return overflows(value, type); });
}

Error weft::overflowError(const std::string &weight, TensorType type,
                          int64_t count, int64_t elements) {
  return inputError("expects weights that ", tensorTypeName(type),
                    " can hold, but ", count, " of ", elements, " elements of ",
                    inQuotes(weight), " are too large");
}
