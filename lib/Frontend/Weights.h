//===- Weights.h - Initial weights beside a configuration -------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_WEIGHTS_H
#define WEFT_LIB_FRONTEND_WEIGHTS_H

#include "Configs.h"

namespace weft {

/// Checks model.safetensors (or a sharded index) in `folder` against the
/// parameters of `module` and records `source` on parameters and `weft.weights`
/// on the module. Files that look like weights but are not read become
/// `weft.unread_weights`; a link to no file is an error.
mlir::LogicalResult recordWeights(mlir::ModuleOp module,
                                  const ModelFamily &family,
                                  const std::string &folder);

/// Records the files that an export takes along as `weft.companion_files`.
mlir::LogicalResult recordCompanions(mlir::ModuleOp module,
                                     const std::string &folder);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_WEIGHTS_H
