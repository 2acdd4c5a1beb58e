//===- CheckpointScaler.h - The loss scale of a checkpoint ------*- C++ -*-===//
//
// A checkpoint holds the states of the loss scale, and the name of its policy
// in its model.json.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSCALER_H
#define WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSCALER_H

#include "weft/Formats/Json.h"
#include "weft/Runtime/Execute/ScalerState.h"

namespace weft {

/// The checkpoint in `directory`, whose model.json is `model`, was saved under
/// the program's policy.
Status checkScalePolicy(const Json &model, const std::string &directory,
                        const LossScaler &program);

/// Brings a loaded loss scale in line with the program's numbers: a fixed scale
/// is the program's, a dynamic one is not below its minimum, and the hysteresis
/// left is one that the program counts down from. What became of the scale, if
/// that is not what was loaded.
Expected<std::optional<std::string>> adaptLossScale(const WeftContext &context,
                                                    const LossScaler &program);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTSCALER_H
