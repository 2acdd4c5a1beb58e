//===- TensorFile.h - Tensors of the interpreter in files -------*- C++ -*-===//

#ifndef WEFT_INTERP_TENSORFILE_H
#define WEFT_INTERP_TENSORFILE_H

#include "weft/Base/Error.h"
#include "weft/Interp/Interp.h"

namespace weft {

/// Every tensor of a safetensors file: F64, F32, F16, BF16, I64, I32, BOOL.
Expected<TensorMap> loadTensors(const std::string &path);

/// Writes them in the order of their names. In f64 mode f32, f16 and bf16
/// tensors hold doubles and are written as F64.
Status saveTensors(const std::string &path, const TensorMap &tensors,
                   ComputeMode mode);

} // namespace weft

#endif // WEFT_INTERP_TENSORFILE_H
