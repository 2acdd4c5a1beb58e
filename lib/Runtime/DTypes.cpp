//===- DTypes.cpp - Element types of the ABI ------------------------------===//

#include "weft/Runtime/DTypes.h"

#include "weft/Formats/Half.h"

#include <algorithm>
#include <cmath>

using namespace weft;

TensorType weft::tensorTypeOf(int32_t dtype) {
  switch (dtype) {
  case WEFT_F64:
    return TensorType::F64;
  case WEFT_F16:
    return TensorType::F16;
  case WEFT_BF16:
    return TensorType::BF16;
  case WEFT_I1:
    return TensorType::Bool;
  case WEFT_I32:
    return TensorType::I32;
  case WEFT_I64:
    return TensorType::I64;
  default:
    return TensorType::F32;
  }
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
  return inputError(std::string("expects weights that ") +
                    tensorTypeName(type) + " can hold, but " +
                    std::to_string(count) + " of " + std::to_string(elements) +
                    " elements of " + inQuotes(weight) + " are too large");
}
