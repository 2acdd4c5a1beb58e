//===- DTypes.cpp - Element types of the ABI ------------------------------===//

#include "weft/Runtime/DTypes.h"

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
