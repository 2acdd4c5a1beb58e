//===- DTypes.cpp - Element types of the ABI ------------------------------===//

#include "weft/Runtime/DTypes.h"

#include "weft/Runtime/Elements.h"

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

Status weft::checkOverflow(const std::string &weight,
                           const std::vector<float> &values, TensorType type) {
  if (type != TensorType::F16 && type != TensorType::BF16)
    return Status::success();
  auto count = std::count_if(values.begin(), values.end(), [&](float value) {
    return overflows(value, type);
  });
  if (count == 0)
    return Status::success();
  return inputError(std::string("expects weights that ") +
                    tensorTypeName(type) + " can hold, but " +
                    std::to_string(count) + " of " +
                    std::to_string(values.size()) + " elements of " +
                    inQuotes(weight) + " are too large");
}
