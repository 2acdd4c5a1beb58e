//===- DTypes.h - Element types of the ABI ----------------------*- C++ -*-===//
//
// Sizes and names of WeftDType, and the types of a safetensors file they match.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_DTYPES_H
#define WEFT_RUNTIME_EXECUTE_DTYPES_H

#include "weft/Abi/Executable.h"
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

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_DTYPES_H
