//===- Weights.h - Initial weights beside a configuration -------*- C++ -*-===//

#ifndef WEFT_LIB_FRONTEND_WEIGHTS_H
#define WEFT_LIB_FRONTEND_WEIGHTS_H

#include "Configs.h"

namespace weft {

/// Checks model.safetensors (or a sharded index) in `folder` against the
/// parameters of `module` and records `source` on parameters and `weft.weights`
/// on the module. Without weights there, nothing changes.
mlir::LogicalResult recordWeights(mlir::ModuleOp module,
                                  const ModelFamily &family,
                                  const std::string &folder);

} // namespace weft

#endif // WEFT_LIB_FRONTEND_WEIGHTS_H
