//===- CheckpointTools.h - weft ckpt ls, verify, diff, export ---*- C++ -*-===//
//
// The commands of `weft ckpt` as functions. A folder is a step directory, or a
// save directory that stands for its newest step. Texts end in a line end.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTTOOLS_H
#define WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTTOOLS_H

#include "weft/Formats/Manifest.h"

#include <string>

namespace weft {

/// A save directory: one line per step (damaged ones say why). A step
/// directory: one line per tensor.
Expected<std::string> listCheckpoint(const std::string &folder);

/// Checks every digest and every piece: of all steps of a save directory, or of
/// one step. Damage is a checkpoint error that names the file.
Expected<std::string> verifyCheckpoint(const std::string &folder);

struct CheckpointDiff {
  bool equal = false; // bit for bit, the position in training included
  std::string text;   // one line per difference
};

/// Compares two checkpoints tensor by tensor: how many elements differ, the
/// largest difference, and the relative one, |a - b| / |a| in the L2 norm.
Expected<CheckpointDiff> diffCheckpoints(const std::string &a,
                                         const std::string &b);

/// Writes `config.json` (if the model had one) and `model.safetensors` with the
/// weights as F32, F16 or BF16, under the names they were imported by. The
/// bytes depend on the weights, the names and the type alone. Files beside the
/// model's configuration (companionNames()) are copied; a warning names one
/// that is gone or was changed. A file that is there already and would change
/// is a usage error, unless the user `overwrites`; a finite weight that the
/// type rounds to infinity is an input error, and no weights are written.
Status exportCheckpoint(const std::string &folder, const std::string &out,
                        TensorType type, bool overwrites = false);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTTOOLS_H
