//===- DTypes.h - Element types of the ABI ----------------------*- C++ -*-===//
//
// Sizes and names of WeftDType, and the types of a safetensors file they match.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_DTYPES_H
#define WEFT_RUNTIME_EXECUTE_DTYPES_H

#include "weft/Abi/Executable.h"
#include "weft/Base/Half.h"
#include "weft/Formats/Safetensors.h"

namespace weft {

/// The safetensors type with the same bits.
TensorType tensorTypeOf(int32_t dtype);
/// Bytes of one element.
int64_t dtypeBytes(int32_t dtype);
/// "F32", as safetensors spells it.
inline const char *dtypeName(int32_t dtype) {
  return tensorTypeName(tensorTypeOf(dtype));
}
inline std::vector<int64_t> shapeOf(const int64_t *dims, int32_t rank) {
  return std::vector<int64_t>(dims, dims + rank);
}
inline std::vector<int64_t> shapeOf(const WeftTensor &tensor) {
  return shapeOf(tensor.dims, tensor.rank);
}
inline std::vector<int64_t> shapeOf(const WeftPort &port) {
  return shapeOf(port.dims, port.rank);
}
/// The product of the dimensions; tables of a compiled program cannot overflow.
inline int64_t elementsOf(const WeftTensor &tensor) {
  return tensor.bytes / dtypeBytes(tensor.dtype);
}

/// How many finite values become infinite in `type` (F16 or BF16; wider ones
/// hold every f32).
int64_t countOverflows(const float *values, int64_t count, TensorType type);
/// An input error about `count` such values of a weight.
Error overflowError(const std::string &weight, TensorType type, int64_t count,
                    int64_t elements);

//===- Element types as C++ types -----------------------------------------===//

// The one switch over WeftDType: what an element is in memory, which number it
// holds, and which type of a safetensors file has the same bits.

/// An element type. `Bits` is what lies in memory.
template <WeftDType dtype, TensorType type, typename T> struct Element {
  using Bits = T;
  static constexpr TensorType tensorType = type;
  static constexpr bool isFloat = dtype == WEFT_F32 || dtype == WEFT_F64 ||
                                  dtype == WEFT_F16 || dtype == WEFT_BF16;

  static double number(T bits) {
    if constexpr (dtype == WEFT_F16)
      return halfToFloat(bits);
    else if constexpr (dtype == WEFT_BF16)
      return bf16ToFloat(bits);
    else
      return static_cast<double>(bits);
  }
  /// The element that holds `value`, rounded if it is a float; any number but 0
  /// is true.
  template <typename Number> static T make(Number value) {
    if constexpr (dtype == WEFT_F16)
      return floatToHalf(static_cast<float>(value));
    else if constexpr (dtype == WEFT_BF16)
      return floatToBf16(static_cast<float>(value));
    else if constexpr (dtype == WEFT_I1)
      return value != 0;
    else
      return static_cast<T>(value);
  }
};

/// Calls body(Element<...>()) for the WeftDType `dtype`; false if there is none
/// of that number.
template <typename Body> bool withElement(int64_t dtype, Body body) {
  switch (dtype) {
  case WEFT_F32:
    return body(Element<WEFT_F32, TensorType::F32, float>()), true;
  case WEFT_F64:
    return body(Element<WEFT_F64, TensorType::F64, double>()), true;
  case WEFT_F16:
    return body(Element<WEFT_F16, TensorType::F16, uint16_t>()), true;
  case WEFT_BF16:
    return body(Element<WEFT_BF16, TensorType::BF16, uint16_t>()), true;
  case WEFT_I1:
    return body(Element<WEFT_I1, TensorType::Bool, uint8_t>()), true;
  case WEFT_I32:
    return body(Element<WEFT_I32, TensorType::I32, int32_t>()), true;
  case WEFT_I64:
    return body(Element<WEFT_I64, TensorType::I64, int64_t>()), true;
  default:
    return false;
  }
}

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_DTYPES_H
