//===- ReadWeight.h - One weight of a file, into the arena ------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_CHECKPOINTS_READWEIGHT_H
#define WEFT_LIB_RUNTIME_CHECKPOINTS_READWEIGHT_H

#include "weft/Formats/Safetensors.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/StateSegments.h"

namespace weft {

/// Reads a rank's shard of a weight and stores it, converted if the types
/// differ. Without a context it is only checked. A value that the type of the
/// weight cannot represent is an input error.
Status readWeight(int64_t rank, const WeftContext *context,
                  const NamedTensor &tensor,
                  const SafetensorsModel::Entry &entry);

} // namespace weft

#endif // WEFT_LIB_RUNTIME_CHECKPOINTS_READWEIGHT_H
